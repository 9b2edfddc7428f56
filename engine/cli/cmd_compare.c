#include "cli/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/compare_text.h"
#include "cli/run_args.h"
#include "cli/watch.h"

/* What is shown. */
struct comparison {
	struct report *reports;
	struct perf *perfs;
	bool perf; /* show the profiles' difference */
	unsigned int nr;
};

static void show_text(struct out *o, const void *data)
{
	const struct comparison *c = data;

	if (c->perf)
		perf_diff(o, c->perfs, c->nr);
	else
		compare_text(o, c->reports, c->nr);
}

static cJSON *show_json(const void *data)
{
	const struct comparison *c = data;
	cJSON *obj = cJSON_CreateObject();
	cJSON *runs = cJSON_AddArrayToObject(obj, "runs");
	bool failed = !runs;

	for (unsigned int i = 0; i < c->nr; i++) {
		cJSON *run = report_json(&c->reports[i]);

		failed |= !cJSON_AddItemToArray(runs, run);
		if (c->perf)
			failed |= !cJSON_AddItemToObject(run, "perf", perf_json(&c->perfs[i]));
	}
	if (failed) {
		cJSON_Delete(obj);
		return NULL;
	}
	return obj;
}

static int play_kernels(const struct run_args *a, const struct workload *w,
			const struct comparison *c, struct fl_error *err)
{
	struct run_config config = a->machine.config;
	int ret = 0;

	for (unsigned int i = 0; i < a->machine.nr_kernels && !ret; i++) {
		struct play_extras extras = {.perf = &c->perfs[i], .pack = a->pack};
		char *trace = a->trace ? trace_name(a->trace, a->machine.kernels[i]) : NULL;

		if (a->trace && !trace)
			return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
		extras.trace = trace;
		config.machine.kernel = a->machine.kernels[i];
		ret = play(&config, w, &extras, &c->reports[i], err);
		free(trace);
		c->reports[i].measured = a->measure;
	}
	return ret;
}

static int compare(const struct run_args *a, struct fl_error *err)
{
	static const struct cli_result result = {show_text, show_json};
	struct comparison c = {.nr = a->machine.nr_kernels, .perf = a->perf};
	struct workload w;
	int ret;

	if (a->view || a->serve)
		return watch_run(a, err);
	ret = workload_arg_load(&a->workload, &w, err);
	if (ret)
		return ret;
	c.reports = calloc(c.nr, sizeof(*c.reports));
	c.perfs = calloc(c.nr, sizeof(*c.perfs));
	ret = c.reports && c.perfs ? play_kernels(a, &w, &c, err)
				   : fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	if (!ret)
		ret = cli_show(&result, &c, a->format, a->output, err);
	free(c.perfs);
	free(c.reports);
	workload_fini(&w);
	return ret;
}

static int check_kernels(const struct run_args *a, struct fl_error *err)
{
	if (a->folded)
		return fl_error_set(err, -EINVAL, "--folded", 0,
				    "folded stacks are of one kernel, expected 'foliolab run'");
	if (a->explore)
		return fl_error_set(err, -EINVAL, "--explore", 0,
				    "schedules are those of one kernel, expected 'foliolab run'");
	if (a->machine.nr_kernels >= 2)
		return 0;
	return fl_error_set(err, -EINVAL, "--kernel", 0,
			    "%u kernel%s to compare, expected at least two", a->machine.nr_kernels,
			    a->machine.nr_kernels == 1 ? "" : "s");
}

static int cmd_compare_main(struct cli_args *args)
{
	struct fl_error err = {0};
	struct run_args a;

	if (run_args_parse(&a, args, &err))
		return cli_fail(&err);
	if (a.help)
		return cli_help(args);
	if (check_kernels(&a, &err) || compare(&a, &err))
		return cli_fail(&err);
	return CLI_DONE;
}

const struct cli_command cmd_compare = {
	.name = "compare",
	.synopsis = "--kernel A --kernel B [--kernel C...] FILE.wl | -e OPS [options]",
	.summary = "Play a workload on several kernels and lay the outcomes side by side.",
	.options = run_arg_options,
	.print_words = run_args_print_words,
	.details =
		"Example:\n"
		"  foliolab compare -e 'read 4k 4096' --kernel v6.7 --kernel ab4443fe3ca6\n"
		"  foliolab compare --perf --fs ext4 -e 'pread 0 16m; mmap; touch 0 4k 4096' \\\n"
		"      --kernel v6.16 --kernel v6.18\n"
		"\n"
		"--trace t.flt records each kernel, in t-KERNEL.flt.\n"
		"\n"
		"JSON: {\"runs\": [...]}, an object of 'foliolab run' for each kernel.\n",
	.run = cmd_compare_main,
};
