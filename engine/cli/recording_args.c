#include "cli/recording_args.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/strutil.h"

#define WORD_SHOWN 60

void recording_args_init(struct recording_args *a)
{
	*a = (struct recording_args){.to = ~0ull};
}

int recording_args_path(struct recording_args *a, const char *value, struct fl_error *err)
{
	if (a->path)
		return fl_error_set(err, -EINVAL, NULL, 0,
				    "a second recording '%.*s', expected one",
				    shown_len(value, WORD_SHOWN), value);
	a->path = value;
	return 0;
}

int recording_args_number(const char *option, const char *value, u64 *ret, struct fl_error *err)
{
	char *end;

	errno = 0;
	*ret = strtoull(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno)
		return fl_error_set(err, -EINVAL, option, 0,
				    "'%.*s', expected the number of an event",
				    shown_len(value, WORD_SHOWN), value);
	return 0;
}

int recorded_open(struct recorded *r, const struct recording_args *a, struct trace_sink *before,
		  struct fl_error *err)
{
	const struct recording_range range = {.from = a->from, .to = a->to, .before = before};
	int ret;

	if (!a->path)
		return fl_error_set(err, -EINVAL, NULL, 0,
				    "no recording, expected the file of 'foliolab run --trace'");
	ret = recording_load(a->path, &range, &r->info, &r->tape, &r->result, err);
	if (ret)
		return ret;
	r->first = a->from;
	if (r->result.damage[0])
		fprintf(stderr, "foliolab: %s: %s; opened up to there\n", a->path,
			r->result.damage);
	if (r->result.unknown)
		fprintf(stderr, "foliolab: %s: %" PRIu64 " events this version does not know\n",
			a->path, r->result.unknown);
	if (r->tape.refused)
		fprintf(stderr,
			"foliolab: %s: more than %u events, opened the first; --from goes on\n",
			a->path, RECORDING_EVENTS_MAX);
	return 0;
}

void recorded_close(struct recorded *r)
{
	tape_fini(&r->tape);
	recording_info_fini(&r->info);
}
