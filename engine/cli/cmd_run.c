#include "cli/commands.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/explore.h"
#include "cli/power_cut_show.h"
#include "cli/run_args.h"
#include "cli/run_script.h"
#include "cli/watch.h"

/* What is shown. */
struct run_show {
	const struct run_args *args;
	struct report report;
	struct perf perf;
};

static void show_text(struct out *o, const void *data)
{
	const struct run_show *s = data;

	if (s->args->folded)
		perf_folded(o, &s->perf);
	else if (s->args->perf)
		perf_report(o, &s->perf);
	else
		report_text(o, &s->report);
}

static cJSON *show_json(const void *data)
{
	const struct run_show *s = data;
	cJSON *obj = report_json(&s->report), *perf;

	if (!obj || !s->args->perf)
		return obj;
	perf = perf_json(&s->perf);
	if (perf && cJSON_AddItemToObject(obj, "perf", perf))
		return obj;
	cJSON_Delete(perf);
	cJSON_Delete(obj);
	return NULL;
}

static int play_show(const struct run_args *a, const struct workload *w, struct run_show *show,
		     struct fl_error *err)
{
	const struct play_extras extras = {
		.trace = a->trace, .pack = a->pack, .code = a->trace_code, .perf = &show->perf};

	return play(&a->machine.config, w, &extras, &show->report, err);
}

/* Many schedules instead of one. *@broken: something broke in one of them. */
static int run_explore(const struct run_args *a, const struct workload *w, bool *broken,
		       struct fl_error *err)
{
	static const struct cli_result result = {explore_text, explore_json};
	struct exploration e;
	int ret;

	if (a->trace || a->perf || a->folded || a->measure)
		return fl_error_set(err, -EINVAL, "--explore", 0,
				    "many schedules, expected no --trace, --perf, --folded or "
				    "--measure (play one with --schedule)");
	if (a->machine.config.machine.cpus == 1 && !workload_tasks(w))
		return fl_error_set(
			err, -EINVAL, "--explore", 0,
			"one processor has one schedule, expected --cpus or task lines");
	ret = explore(&a->machine.config, w, a->explore, a->jobs, &e, err);
	if (ret)
		return ret;
	*broken = explore_broken(&e) != 0;
	ret = cli_show(&result, &e, a->format, a->output, err);
	explore_fini(&e);
	return ret;
}

static int run_command(const struct run_args *a, bool *broken, struct fl_error *err)
{
	static const struct cli_result result = {show_text, show_json};
	struct run_show *show;
	struct workload w;
	int ret;

	if (workload_arg_is_lua(&a->workload))
		return run_script(a, err);
	if (a->machine.config.power_cut) {
		ret = workload_arg_load(&a->workload, &w, err);
		if (ret)
			return ret;
		ret = power_cut_run(a, &w, err);
		workload_fini(&w);
		return ret;
	}
	if (a->view || a->serve)
		return watch_run(a, err);
	ret = workload_arg_load(&a->workload, &w, err);
	if (ret)
		return ret;
	if (a->explore) {
		ret = run_explore(a, &w, broken, err);
		workload_fini(&w);
		return ret;
	}
	show = calloc(1, sizeof(*show));
	ret = show ? play_show(a, &w, show, err)
		   : fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	workload_fini(&w);
	if (!ret) {
		show->args = a;
		show->report.measured = a->measure;
		ret = cli_show(&result, show, a->format, a->output, err);
	}
	free(show);
	return ret;
}

static int check_kernels(const struct run_args *a, struct fl_error *err)
{
	if (a->folded && (a->perf || a->format != FORMAT_TEXT))
		return fl_error_set(
			err, -EINVAL, "--folded", 0,
			"folded stacks are text of their own, expected no --perf and no "
			"--format json");
	if (a->machine.nr_kernels <= 1)
		return 0;
	return fl_error_set(err, -EINVAL, "--kernel", 0,
			    "%u kernels, expected one (or 'foliolab compare')",
			    a->machine.nr_kernels);
}

static int cmd_run_main(struct cli_args *args)
{
	struct fl_error err = {0};
	struct run_args a;
	bool broken = false;

	if (run_args_parse(&a, args, &err))
		return cli_fail(&err);
	if (a.help)
		return cli_help(args);
	if (check_kernels(&a, &err) || run_command(&a, &broken, &err))
		return cli_fail(&err);
	return broken ? CLI_NO : CLI_DONE;
}

const struct cli_command cmd_run = {
	.name = "run",
	.synopsis = "FILE.wl | FILE.lua | -e OPS [options]",
	.summary = "Play a workload on one miniature kernel and say what came of it.",
	.options = run_arg_options,
	.print_words = run_args_print_words,
	.details =
		"Examples:\n"
		"  foliolab run -e 'read 4k 4096'\n"
		"  foliolab run -e 'read 64k 64; pread 1m 4k' --file PATH --data\n"
		"  foliolab run --perf --fs ext4 -e 'pread 0 16m; mmap; touch 0 4k 4096; munmap'\n"
		"  foliolab run FILE.lua --figures .       a Lua workload, see labs/README.md\n"
		"  foliolab run --cpus 2 --tasks same --explore 100 -e 'read 4k 64; punch 64k 64k'\n"
		"\n" REPORT_JSON_HELP PERF_JSON_HELP POWER_CUT_JSON_HELP EXPLORE_JSON_HELP,
	.run = cmd_run_main,
};
