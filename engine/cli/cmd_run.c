#include "cli/commands.h"

#include <errno.h>

#include "cli/run_args.h"

static void show_text(struct out *o, const void *data)
{
	report_text(o, data);
}

static cJSON *show_json(const void *data)
{
	return report_json(data);
}

static int run_command(const struct run_args *a, struct fl_error *err)
{
	static const struct cli_result result = {show_text, show_json};
	struct report report;
	struct workload w;
	int ret = workload_arg_load(&a->workload, &w, err);

	if (ret)
		return ret;
	ret = play(&a->machine.config, &w, &report, err);
	workload_fini(&w);
	if (ret)
		return ret;
	report.measured = a->measure;
	return cli_show(&result, &report, a->format, a->output, err);
}

static int check_kernels(const struct run_args *a, struct fl_error *err)
{
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

	if (run_args_parse(&a, args, &err))
		return cli_fail(&err);
	if (a.help)
		return cli_help(args);
	if (check_kernels(&a, &err) || run_command(&a, &err))
		return cli_fail(&err);
	return CLI_DONE;
}

const struct cli_command cmd_run = {
	.name = "run",
	.synopsis = "FILE.wl | -e OPS [options]",
	.summary = "Play a workload on one miniature kernel and say what came of it.",
	.options = run_arg_options,
	.details = "Examples:\n"
		   "  foliolab run -e 'read 4k 4096'\n"
		   "  foliolab run -e 'read 64k 64; pread 1m 4k' --file PATH --data\n"
		   "\n" REPORT_JSON_HELP,
	.run = cmd_run_main,
};
