/*
 * foliolab host diff and host record: the same operations on the running kernel.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/golden_text.h"
#include "cli/host_commands.h"
#include "cli/play.h"
#include "host/record.h"
#include "host/tracefs.h"

enum { OPT_FILE, OPT_KERNEL, OPT_OPS, OPT_DROP, OPT_TRACEPOINTS, OPT_FORMAT, OPT_OUTPUT, OPT_NAME };

static const struct cli_option diff_options[] = {
	{NULL, "e", "OPS", "operations, separated by newlines or ;", OPT_OPS},
	{"file", NULL, "PATH", "the host file to read", OPT_FILE},
	{"kernel", NULL, "P", "profile of the miniature (default: the one of uname -r)",
	 OPT_KERNEL},
	{"drop-caches", NULL, NULL, "drop all of the host's caches first (needs root)", OPT_DROP},
	{"tracepoints", NULL, NULL, "the readahead tracepoints must match too", OPT_TRACEPOINTS},
	{"format", NULL, "FORMAT", "text (default) or json", OPT_FORMAT},
	{"output", "o", "FILE", "write there instead of standard output", OPT_OUTPUT},
	{0},
};

static const struct cli_option record_options[] = {
	{NULL, "e", "OPS", "operations, separated by newlines or ;", OPT_OPS},
	{"file", NULL, "PATH", "the host file to read", OPT_FILE},
	{"name", NULL, "NAME", "of the run (default: run)", OPT_NAME},
	{"drop-caches", NULL, NULL, "drop all of the host's caches first (needs root)", OPT_DROP},
	{"output", "o", "FILE", "write there instead of standard output", OPT_OUTPUT},
	{0},
};

struct diff_args {
	struct workload_arg workload;
	const char *file, *kernel, *output, *name;
	bool drop_caches, tracepoints, help;
	enum cli_format format;
};

static int set_option(struct diff_args *a, int id, const char *value, struct fl_error *err)
{
	switch (id) {
	case CLI_HELP:
		a->help = true;
		break;
	case CLI_POSITIONAL:
		return workload_arg_set_path(&a->workload, value, err);
	case OPT_OPS:
		return workload_arg_set_ops(&a->workload, value, err);
	case OPT_FILE:
		a->file = value;
		break;
	case OPT_KERNEL:
		a->kernel = value;
		break;
	case OPT_DROP:
		a->drop_caches = true;
		break;
	case OPT_TRACEPOINTS:
		a->tracepoints = true;
		break;
	case OPT_FORMAT:
		return cli_parse_format(value, &a->format, err);
	case OPT_OUTPUT:
		a->output = value;
		break;
	case OPT_NAME:
		a->name = value;
		break;
	}
	return 0;
}

static int parse(struct cli_args *args, struct diff_args *a, struct fl_error *err)
{
	const char *value;
	int id, ret;

	*a = (struct diff_args){.name = "run"};
	while (!a->help && (ret = cli_next(args, &id, &value, err)) > 0) {
		ret = set_option(a, id, value, err);
		if (ret)
			return ret;
	}
	if (a->help)
		return 0;
	if (!ret && !a->file)
		return fl_error_set(err, -EINVAL, "--file", 0, "missing, expected --file PATH");
	return ret;
}

/* ---- the answer ---- */

struct diff_view {
	const struct diff_args *args;
	struct golden_run run;
	struct golden_result result;
	const struct workload *w;
	const u64 *counts; /* without rights: host's cached pages after each operation */
	u64 *mini;	   /* ... and the miniature's */
	bool same;
	char missing[256]; /* the right that is missing */
};

static void show_text(struct out *o, const void *data)
{
	const struct diff_view *v = data;

	if (!v->counts) {
		if (v->same)
			fprintf(o->f,
				"identical: %zu operations on %s, %s, ra_pages %" PRIu64
				", io_pages %" PRIu64 "\n",
				v->run.nr_ops, v->run.fs, v->run.kernel, v->run.ra_pages,
				v->run.io_pages);
		else
			golden_difference_print(o->f, v->args->file, &v->run, &v->result);
		return;
	}
	fprintf(o->f, "Only counts of cached pages can be compared (%s).\n", v->missing);
	for (size_t i = 0; i < v->w->nr; i++) {
		char op[96];

		workload_format_op(&v->w->ops[i], op, sizeof(op));
		fprintf(o->f, "%c %-32s host %8" PRIu64 "  miniature %8" PRIu64 "\n",
			v->counts[i] == v->mini[i] ? ' ' : '!', op, v->counts[i], v->mini[i]);
	}
	fprintf(o->f, "%s\n", v->same ? "identical counts" : "the counts differ");
}

static cJSON *show_json(const void *data)
{
	const struct diff_view *v = data;
	cJSON *obj = cJSON_CreateObject(), *d;

	cJSON_AddStringToObject(obj, "file", v->args->file);
	cJSON_AddBoolToObject(obj, "identical", v->same);
	cJSON_AddBoolToObject(obj, "exact", !v->counts);
	json_add_u64(obj, "operations", v->w->nr);
	d = cJSON_AddObjectToObject(obj, "first_difference");
	if (v->same || v->counts)
		return obj;
	cJSON_AddStringToObject(d, "op", v->result.op);
	cJSON_AddStringToObject(d, "expected", v->result.expected ? v->result.expected : "");
	cJSON_AddStringToObject(d, "got", v->result.got ? v->result.got : "");
	cJSON_AddStringToObject(d, "window", v->result.window);
	return obj;
}

static int show(const struct diff_view *v, struct fl_error *err)
{
	static const struct cli_result result = {show_text, show_json};

	return cli_show(&result, v, v->args->format, v->args->output, err);
}

/* ---- with rights: folio by folio ---- */

static int choose_profile(struct diff_view *v, struct fl_error *err)
{
	struct knobs knobs;
	const char *fit = profile_of_release(v->run.kernel);

	if (!strcmp(v->run.fs, "unknown"))
		return fl_error_set(err, -EINVAL, v->args->file, 0,
				    "its file system has no miniature, expected ext4 or xfs");
	if (v->args->kernel)
		snprintf(v->run.profile, sizeof(v->run.profile), "%s", v->args->kernel);
	else if (!fit)
		return fl_error_set(err, -EINVAL, "--kernel", 0,
				    "no profile fits %s, expected --kernel P", v->run.kernel);
	return v->args->kernel ? knobs_parse(&knobs, v->args->kernel, err) : 0;
}

static int compare_text(struct diff_view *v, const char *text, size_t len, struct fl_error *err)
{
	struct golden_files files = {0};
	struct golden_reader reader;
	int ret;

	golden_reader_init(&reader, v->args->file, text, len);
	ret = golden_read(&reader, &v->run, err);
	ret = ret > 0 ? choose_profile(v, err) : ret ? ret : -EINVAL;
	if (!ret)
		ret = golden_play(&v->run, &files, "", v->args->tracepoints, &v->result, err);
	if (!ret) {
		v->same = v->result.verdict == GOLDEN_IDENTICAL;
		ret = show(v, err);
	}
	golden_files_fini(&files);
	golden_result_fini(&v->result);
	golden_run_fini(&v->run);
	return ret;
}

static int diff_exact(struct diff_view *v, struct fl_error *err)
{
	const struct host_record_options options = {.name = "host",
						    .drop_caches = v->args->drop_caches};
	char *text;
	size_t len;
	int ret = host_record(v->args->file, v->w, &options, &text, &len, err);

	if (!ret)
		ret = compare_text(v, text, len, err);
	free(text);
	return ret;
}

/* ---- without rights: counts ---- */

static int miniature_counts(struct diff_view *v, struct fl_error *err)
{
	struct host_device dev;
	struct run_config config;
	struct run *run;
	int fd = open(v->args->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), ret;

	if (fd < 0)
		return fl_error_set(err, -errno, v->args->file, 0, "%s", strerror(errno));
	host_device_read(fd, &dev);
	close(fd);
	run_config_init(&config);
	config.fs = dev.fs[0] ? dev.fs : "hostfs";
	config.file = v->args->file;
	config.machine.kernel = v->args->kernel ? v->args->kernel
				: dev.profile	? dev.profile
						: config.machine.kernel;
	config.ra_bytes = dev.read_ahead_kb << 10;
	config.io_bytes = dev.max_sectors_kb << 10;
	ret = run_open(&config, &run, err);
	for (size_t i = 0; i < v->w->nr && !ret; i++) {
		ret = run_op(run, &v->w->ops[i], err);
		v->mini[i] = run->inode->i_mapping->nrpages;
	}
	if (run)
		run_close(run);
	return ret;
}

static int diff_counts(struct diff_view *v, struct fl_error *err)
{
	u64 *counts;
	int ret = host_record_counts(v->args->file, v->w, &counts, err);

	if (ret)
		return ret;
	v->counts = counts;
	v->mini = calloc(v->w->nr + 1, sizeof(u64));
	ret = v->mini ? miniature_counts(v, err) : -ENOMEM;
	v->same = !ret && !memcmp(counts, v->mini, v->w->nr * sizeof(u64));
	if (!ret)
		ret = show(v, err);
	free(v->mini);
	free(counts);
	return ret;
}

static int diff(struct diff_view *v, struct fl_error *err)
{
	struct fl_error right = {0};

	if (!host_tracefs_check(&right))
		return diff_exact(v, err);
	snprintf(v->missing, sizeof(v->missing), "%.32s: %.180s", right.file, right.text);
	return diff_counts(v, err);
}

static int host_diff_main(struct cli_args *args)
{
	struct fl_error err = {0};
	struct diff_args a;
	struct workload w;
	struct diff_view v = {.args = &a, .w = &w};
	int ret;

	if (parse(args, &a, &err))
		return cli_fail(&err);
	if (a.help)
		return cli_help(args);
	if (workload_arg_load(&a.workload, &w, &err))
		return cli_fail(&err);
	ret = diff(&v, &err);
	workload_fini(&w);
	if (ret)
		return cli_fail(&err);
	return v.same ? CLI_DONE : CLI_NO;
}

static int record(const struct diff_args *a, struct fl_error *err)
{
	const struct host_record_options options = {.name = a->name, .drop_caches = a->drop_caches};
	struct workload w;
	struct out out;
	char *text;
	size_t len;
	int ret = workload_arg_load(&a->workload, &w, err);

	if (ret)
		return ret;
	ret = host_record(a->file, &w, &options, &text, &len, err);
	workload_fini(&w);
	if (ret)
		return ret;
	ret = out_open(&out, a->output, err);
	if (!ret) {
		fwrite(text, 1, len, out.f);
		ret = out_commit(&out, err);
	}
	free(text);
	return ret;
}

static int host_record_main(struct cli_args *args)
{
	struct fl_error err = {0};
	struct diff_args a;

	if (parse(args, &a, &err))
		return cli_fail(&err);
	if (a.help)
		return cli_help(args);
	return record(&a, &err) ? cli_fail(&err) : CLI_DONE;
}

const struct cli_command cmd_host_diff = {
	.name = "diff",
	.group = "host",
	.synopsis = "WORKLOAD.wl | -e OPS --file PATH [options]",
	.summary = "Play a workload on the running kernel and on the miniature, and show the first "
		   "difference.",
	.options = diff_options,
	.details =
		"The file's cache is dropped first (no other file's, without --drop-caches); the file\n"
		"is only read. The miniature gets the kernel of uname -r, the disk's read_ahead_kb and\n"
		"max_sectors_kb, the file system and its block size. Folio by folio needs root and\n"
		"tracefs; without, the counts of cached pages after each operation are compared.\n"
		"\n"
		"JSON: {\"file\",\"identical\",\"exact\",\"operations\",\n"
		"  \"first_difference\": {\"op\",\"expected\",\"got\",\"window\"}}\n"
		"\n"
		"Example:\n"
		"  foliolab host diff -e 'read 64k 64; pread 1m 4k' --file /var/tmp/data\n",
	.run = host_diff_main,
};

const struct cli_command cmd_host_record = {
	.name = "record",
	.group = "host",
	.synopsis = "WORKLOAD.wl | -e OPS --file PATH [options]",
	.summary = "Write down what the running kernel's page cache does, as `foliolab golden` "
		   "reads it. Needs root.",
	.options = record_options,
	.run = host_record_main,
};
