#include "machine/costs.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/strutil.h"

/* A second a unit is more than anything here costs. */
#define COST_MAX_PS 1000000000000ULL

void costs_default(u64 *cost_ps)
{
	for (unsigned int i = 0; i < COST_NR; i++)
		cost_ps[i] = cost_info(i)->ps;
}

static int cost_by_name(const char *name)
{
	for (unsigned int i = 0; i < COST_NR; i++)
		if (!strcmp(cost_info(i)->name, name))
			return i;
	return -ENOENT;
}

static int unknown_cost(const char *file, unsigned int line, const char *word, struct fl_error *err)
{
	const char *names[COST_NR], *near;

	for (unsigned int i = 0; i < COST_NR; i++)
		names[i] = cost_info(i)->name;
	near = nearest(word, names, COST_NR);
	return fl_error_set(err, -EINVAL, file, line,
			    "unknown cost '%.40s', expected one of "
			    "assets/costs/default.def%s%s%s",
			    word, near ? " (did you mean '" : "", near ? near : "",
			    near ? "'?)" : "");
}

static int parse_line(u64 *cost_ps, const char *file, unsigned int line, char *s,
		      struct fl_error *err)
{
	char *name, *number, *end;
	u64 ps;
	int id;

	s[strcspn(s, "#")] = 0;
	name = strtok_r(s, " \t\r", &end);
	if (!name)
		return 0;
	number = strtok_r(NULL, " \t\r", &end);
	id = cost_by_name(name);
	if (id < 0)
		return unknown_cost(file, line, name, err);
	errno = 0;
	ps = number ? strtoull(number, &end, 10) : 0;
	if (!number || !isdigit((unsigned char)*number) || *end || errno || ps > COST_MAX_PS)
		return fl_error_set(err, -EINVAL, file, line,
				    "'%.40s' for %s, expected picoseconds up to %" PRIu64,
				    number ? number : "", name, (u64)COST_MAX_PS);
	cost_ps[id] = ps;
	return 0;
}

int costs_parse(u64 *cost_ps, const char *name, const char *text, size_t len, struct fl_error *err)
{
	const char *end = text + len;
	unsigned int line = 0;
	char buf[256];

	while (text < end) {
		const char *nl = memchr(text, '\n', end - text);
		size_t n = (nl ? nl : end) - text;
		int ret;

		line++;
		if (n >= sizeof(buf))
			return fl_error_set(err, -EINVAL, name, line,
					    "a line of %zu bytes, expected at most %zu", n,
					    sizeof(buf) - 1);
		memcpy(buf, text, n);
		buf[n] = 0;
		ret = parse_line(cost_ps, name, line, buf, err);
		if (ret)
			return ret;
		text += n + 1;
	}
	return 0;
}

void costs_write(FILE *f, const u64 *cost_ps)
{
	for (unsigned int i = 0; i < COST_NR; i++)
		fprintf(f, "%-18s %10" PRIu64 "  # %s, a %s\n", cost_info(i)->name, cost_ps[i],
			cost_info(i)->function, cost_info(i)->per);
}
