/*
 * foliolab golden: the miniature against recorded real kernels.
 */
#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/golden_text.h"
#include "cli/out.h"
#include "lab/golden.h"
#include "lab/textfile.h"

/* The six public files unpack to 17 MB. */
#define GOLDEN_TEXT_LIMIT (1UL << 30)
#define MAX_GROUPS	  32
#define MAX_REASONS	  16

enum { OPT_FORMAT, OPT_TRACEPOINTS, OPT_KNOBS, OPT_ALL, OPT_OUTPUT };

static const struct cli_option options[] = {
	{"format", NULL, "FORMAT", "text (default) or json", OPT_FORMAT},
	{"tracepoints", NULL, NULL,
	 "the readahead tracepoints must match too, where the recorded kernel has them",
	 OPT_TRACEPOINTS},
	{"knobs", NULL, "KNOBS",
	 "put +KNOB or -KNOB behind every profile, to see what a change decides", OPT_KNOBS},
	{"all", NULL, NULL, "show every difference, not only the first of each file", OPT_ALL},
	{"output", "o", "FILE", "write there instead of standard output", OPT_OUTPUT},
	{0},
};

static const char details[] =
	"A run is identical when every operation adds the same folios in the same order and removes\n"
	"the same ones, and the same folios with the same flags are there at the end. Runs that\n"
	"cannot be played yet are counted as skipped, by reason.\n"
	"\n"
	"JSON: {\"runs\", \"identical\", \"skipped\", \"different\", \"skipped_by_reason\": {REASON: n},\n"
	"  \"by_kernel\": {KERNEL: {\"runs\",\"identical\",\"skipped\"}}, \"by_fs\": {the same},\n"
	"  \"first_difference\": [{\"file\",\"run\",\"kernel\",\"fs\",\"line\",\"op\",\"expected\",\"got\",\"window\"}]}\n"
	"\n"
	"Example:\n"
	"  foliolab golden tests/golden/*.public.txt.xz\n";

/* Counts of one kernel or file system. */
struct group {
	char name[64];
	u64 runs, identical, skipped;
};

struct tally {
	struct out out;
	bool json, tracepoints, all;
	const char *knobs;
	struct group total, kernels[MAX_GROUPS], fs[MAX_GROUPS];
	struct {
		const char *reason;
		u64 n;
	} reasons[MAX_REASONS];
	cJSON *differences;
};

static struct group *group_of(struct group *groups, const char *name)
{
	unsigned int i;

	for (i = 0; i < MAX_GROUPS - 1 && groups[i].name[0]; i++)
		if (!strcmp(groups[i].name, name))
			return &groups[i];
	if (!groups[i].name[0])
		snprintf(groups[i].name, sizeof(groups[i].name), "%s", name);
	return &groups[i];
}

static void count(struct group *g, enum golden_verdict verdict)
{
	g->runs++;
	g->identical += verdict == GOLDEN_IDENTICAL;
	g->skipped += verdict == GOLDEN_SKIPPED;
}

static void count_reason(struct tally *t, const char *reason)
{
	unsigned int i;

	for (i = 0; i < MAX_REASONS - 1 && t->reasons[i].reason; i++)
		if (!strcmp(t->reasons[i].reason, reason))
			break;
	t->reasons[i].reason = reason;
	t->reasons[i].n++;
}

static void json_difference(struct tally *t, const char *file, const struct golden_run *run,
			    const struct golden_result *result)
{
	cJSON *d = cJSON_CreateObject();

	cJSON_AddStringToObject(d, "file", file);
	cJSON_AddStringToObject(d, "run", run->name);
	cJSON_AddStringToObject(d, "kernel", run->kernel);
	cJSON_AddStringToObject(d, "fs", run->fs);
	cJSON_AddNumberToObject(d, "line", result->line);
	cJSON_AddStringToObject(d, "op", result->op);
	cJSON_AddStringToObject(d, "expected", result->expected ? result->expected : "");
	cJSON_AddStringToObject(d, "got", result->got ? result->got : "");
	cJSON_AddStringToObject(d, "window", result->window);
	cJSON_AddItemToArray(t->differences, d);
}

static void tally_run(struct tally *t, const char *file, const struct golden_run *run,
		      const struct golden_result *result, u64 *differences)
{
	count(&t->total, result->verdict);
	count(group_of(t->kernels, run->kernel), result->verdict);
	count(group_of(t->fs, run->fs), result->verdict);
	if (result->verdict == GOLDEN_SKIPPED)
		count_reason(t, result->reason);
	if (result->verdict != GOLDEN_DIFFERENT)
		return;
	if (!(*differences)++ || t->all) {
		if (t->json)
			json_difference(t, file, run, result);
		else
			golden_difference_print(t->out.f, file, run, result);
	}
}

static int play_text(struct tally *t, const char *file, const char *text, size_t len,
		     struct fl_error *err)
{
	struct golden_run run = {0};
	struct golden_files files = {0};
	struct golden_reader reader;
	u64 differences = 0, runs = t->total.runs;
	int ret;

	golden_reader_init(&reader, file, text, len);
	while ((ret = golden_read(&reader, &run, err)) > 0) {
		struct golden_result result;

		ret = golden_play(&run, &files, t->knobs, t->tracepoints, &result, err);
		if (ret) {
			if (!err->file[0])
				snprintf(err->file, sizeof(err->file), "%s", file);
			break;
		}
		tally_run(t, file, &run, &result, &differences);
		golden_result_fini(&result);
	}
	golden_run_fini(&run);
	golden_files_fini(&files);
	if (!ret && t->total.runs == runs)
		return fl_error_set(err, -EINVAL, file, 0, "no run in it, expected a recording");
	if (differences > 1 && !t->all && !t->json)
		fprintf(t->out.f,
			"  %" PRIu64 " more runs of this file differ (--all shows them)\n",
			differences - 1);
	return ret;
}

static int play_file(struct tally *t, const char *file, struct fl_error *err)
{
	char *text;
	size_t len;
	int ret = textfile_read(file, GOLDEN_TEXT_LIMIT, &text, &len, err);

	if (ret)
		return ret;
	ret = play_text(t, file, text, len, err);
	free(text);
	return ret;
}

static void print_groups(FILE *f, const char *title, const struct group *groups)
{
	for (unsigned int i = 0; i < MAX_GROUPS && groups[i].name[0]; i++) {
		const struct group *g = &groups[i];

		fprintf(f,
			"%-8s %-24s %4" PRIu64 " runs  %4" PRIu64 " identical  %4" PRIu64
			" skipped  %4" PRIu64 " different\n",
			i ? "" : title, g->name, g->runs, g->identical, g->skipped,
			g->runs - g->identical - g->skipped);
	}
}

static void print_summary(struct tally *t)
{
	FILE *f = t->out.f;

	print_groups(f, "kernel", t->kernels);
	print_groups(f, "fs", t->fs);
	for (unsigned int i = 0; i < MAX_REASONS && t->reasons[i].reason; i++)
		fprintf(f, "%-8s %-24s %4" PRIu64 " runs\n", i ? "" : "skipped",
			t->reasons[i].reason, t->reasons[i].n);
	fprintf(f, "golden: %" PRIu64 " of %" PRIu64 " runs identical, %" PRIu64 " skipped\n",
		t->total.identical, t->total.runs, t->total.skipped);
}

static cJSON *json_groups(const struct group *groups)
{
	cJSON *all = cJSON_CreateObject();

	for (unsigned int i = 0; i < MAX_GROUPS && groups[i].name[0]; i++) {
		cJSON *g = cJSON_AddObjectToObject(all, groups[i].name);

		json_add_u64(g, "runs", groups[i].runs);
		json_add_u64(g, "identical", groups[i].identical);
		json_add_u64(g, "skipped", groups[i].skipped);
	}
	return all;
}

static int print_json(struct tally *t)
{
	cJSON *obj = cJSON_CreateObject(), *reasons;
	int ret;

	json_add_u64(obj, "runs", t->total.runs);
	json_add_u64(obj, "identical", t->total.identical);
	json_add_u64(obj, "skipped", t->total.skipped);
	json_add_u64(obj, "different", t->total.runs - t->total.identical - t->total.skipped);
	reasons = cJSON_AddObjectToObject(obj, "skipped_by_reason");
	for (unsigned int i = 0; i < MAX_REASONS && t->reasons[i].reason; i++)
		json_add_u64(reasons, t->reasons[i].reason, t->reasons[i].n);
	cJSON_AddItemToObject(obj, "by_kernel", json_groups(t->kernels));
	cJSON_AddItemToObject(obj, "by_fs", json_groups(t->fs));
	cJSON_AddItemToObject(obj, "first_difference", t->differences);
	t->differences = NULL;
	ret = out_json(&t->out, obj);
	cJSON_Delete(obj);
	return ret;
}

static int check_knobs(const char *knobs, struct fl_error *err)
{
	if (*knobs != '+' && *knobs != '-')
		return fl_error_set(err, -EINVAL, "--knobs", 0, "'%s', expected +KNOB or -KNOB",
				    knobs);
	if (strlen(knobs) > 100)
		return fl_error_set(err, -EINVAL, "--knobs", 0,
				    "too long, expected at most 100 bytes");
	return 0;
}

/* Options into @t; positional words to the front of argv. 1: help was printed. */
static int parse(struct cli_args *args, struct tally *t, const char **path, int *nr_files,
		 struct fl_error *err)
{
	const char *value;
	int id, ret;

	while ((ret = cli_next(args, &id, &value, err)) > 0) {
		switch (id) {
		case CLI_HELP:
			cli_usage(stdout, args->cmd);
			return 1;
		case CLI_POSITIONAL:
			args->argv[(*nr_files)++] = (char *)value;
			break;
		case OPT_FORMAT:
			t->json = !strcmp(value, "json");
			if (!t->json && strcmp(value, "text"))
				return fl_error_set(err, -EINVAL, "--format", 0,
						    "'%s', expected text or json", value);
			break;
		case OPT_TRACEPOINTS:
			t->tracepoints = true;
			break;
		case OPT_ALL:
			t->all = true;
			break;
		case OPT_KNOBS:
			t->knobs = value;
			ret = check_knobs(value, err);
			break;
		case OPT_OUTPUT:
			*path = value;
			break;
		}
		if (ret < 0)
			return ret;
	}
	if (!ret && !*nr_files)
		return fl_error_set(err, -EINVAL, "golden", 0,
				    "no recording named, expected FILE... (see --help)");
	return ret;
}

static int play_files(struct tally *t, char **files, int nr, struct fl_error *err)
{
	int ret = 0;

	t->differences = cJSON_CreateArray();
	for (int i = 0; i < nr && !ret; i++)
		ret = play_file(t, files[i], err);
	if (!ret && t->json)
		ret = print_json(t);
	else if (!ret)
		print_summary(t);
	cJSON_Delete(t->differences);
	return ret;
}

static int golden_main(struct cli_args *args)
{
	struct tally t = {.knobs = ""};
	struct fl_error err = {0};
	const char *path = NULL;
	int nr = 0, ret = parse(args, &t, &path, &nr, &err);

	if (ret > 0)
		return 0;
	if (!ret)
		ret = out_open(&t.out, path, &err);
	if (ret) {
		out_error(&err);
		return 2;
	}
	ret = play_files(&t, args->argv, nr, &err);
	if (ret)
		out_abort(&t.out);
	else
		ret = out_commit(&t.out, &err);
	if (ret) {
		out_error(&err);
		return 2;
	}
	return t.total.identical + t.total.skipped == t.total.runs ? 0 : 1;
}

const struct cli_command cmd_golden = {
	.name = "golden",
	.synopsis = "FILE... [options]",
	.summary = "Play runs recorded on real kernels and compare the page cache folio by folio.",
	.options = options,
	.details = details,
	.run = golden_main,
};
