#include "cli/commands.h"

#include <errno.h>

#include "cli/common.h"
#include "cli/machine_options.h"
#include "cli/play.h"

enum { OPT_EVAL, OPT_MEASURE, OPT_FORMAT, OPT_OUTPUT };

static const struct cli_option run_options[] = {
	{"eval", "e", "OPS", "operations, separated by newlines or ';'", OPT_EVAL},
	{"measure", NULL, NULL, "also time the miniature's real work on the host", OPT_MEASURE},
	{"format", NULL, "F", "text or json (default text)", OPT_FORMAT},
	{"output", "o", "OUT", "write there instead of standard output", OPT_OUTPUT},
	MACHINE_OPTION_ROWS_AND_END,
};

struct run_args {
	struct machine_options machine;
	struct workload_arg workload;
	bool measure;
	enum cli_format format;
	const char *output;
	bool help;
};

static int take(struct run_args *a, int id, const char *value, struct fl_error *err)
{
	if (machine_option_is(id))
		return machine_option_set(&a->machine, id, value, err);
	switch (id) {
	case CLI_HELP:
		a->help = true;
		return 0;
	case CLI_POSITIONAL:
		return workload_arg_set_path(&a->workload, value, err);
	case OPT_EVAL:
		return workload_arg_set_ops(&a->workload, value, err);
	case OPT_MEASURE:
		a->measure = true;
		return 0;
	case OPT_FORMAT:
		return cli_parse_format(value, &a->format, err);
	default:
		a->output = value;
		return 0;
	}
}

static int parse(struct run_args *a, struct cli_args *args, struct fl_error *err)
{
	const char *value;
	int id, ret;

	machine_options_init(&a->machine);
	while ((ret = cli_next(args, &id, &value, err)) > 0) {
		ret = take(a, id, value, err);
		if (ret || a->help)
			return ret;
	}
	if (!ret && a->machine.nr_kernels > 1)
		return fl_error_set(err, -EINVAL, "--kernel", 0,
				    "%u kernels, expected one (or 'foliolab compare')",
				    a->machine.nr_kernels);
	return ret ? ret : machine_options_check(&a->machine, err);
}

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

static int cmd_run_main(struct cli_args *args)
{
	struct run_args a = {.format = FORMAT_TEXT};
	struct fl_error err = {0};

	if (parse(&a, args, &err))
		return cli_fail(&err);
	if (a.help)
		return cli_help(args);
	return run_command(&a, &err) ? cli_fail(&err) : CLI_DONE;
}

const struct cli_command cmd_run = {
	.name = "run",
	.synopsis = "FILE.wl | -e OPS [options]",
	.summary = "Play a workload on one miniature kernel and say what came of it.",
	.options = run_options,
	.details = "Examples:\n"
		   "  foliolab run -e 'read 4k 4096'\n"
		   "  foliolab run -e 'read 64k 64; pread 1m 4k' --file PATH --data\n"
		   "\n" REPORT_JSON_HELP,
	.run = cmd_run_main,
};
