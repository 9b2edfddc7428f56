#include "cli/run_args.h"

#include <errno.h>

#include "cli/explore.h"

enum {
	OPT_EVAL,
	OPT_MEASURE,
	OPT_FORMAT,
	OPT_OUTPUT,
	OPT_FIGURES,
	OPT_PERF,
	OPT_FOLDED,
	OPT_VIEW,
	OPT_TRACE,
	OPT_TRACE_CODE,
	OPT_PACK,
	OPT_NO_SETTINGS,
	OPT_SERVE,
	OPT_EXPLORE,
	OPT_JOBS,
};

const struct cli_option run_arg_options[] = {
	{"eval", "e", "OPS", "operations, separated by newlines or ';'", OPT_EVAL},
	{"measure", NULL, NULL, "also time the miniature's real work on the host", OPT_MEASURE},
	{"perf", NULL, NULL, "where the virtual time went, as perf report or perf diff print it",
	 OPT_PERF},
	{"folded", NULL, NULL, "the same as folded stacks, for flame graphs (one kernel)",
	 OPT_FOLDED},
	{"format", NULL, "F", "text or json (default text)", OPT_FORMAT},
	{"output", "o", "OUT", "write there instead of standard output", OPT_OUTPUT},
	{"figures", NULL, "DIR", "with FILE.lua: save its figures there as SVG", OPT_FIGURES},
	{"view", NULL, "V",
	 "none (default), tui: watch it in the terminal while it plays (several processors: "
	 "afterwards), gui: in a window; up to 10 million events in at most 1 GB a kernel",
	 OPT_VIEW},
	{"trace", NULL, "OUT",
	 "record every event to a file for 'foliolab replay'; of a Lua workload each machine",
	 OPT_TRACE},
	{"trace-code", NULL, NULL,
	 "with --trace: record too where in the program each event was raised, for 'foliolab where'",
	 OPT_TRACE_CODE},
	{"no-settings", NULL, NULL, "the view remembers nothing and looks as it did at first",
	 OPT_NO_SETTINGS},
	{"serve", NULL, "SOCKET",
	 "other views may look on through 'foliolab attach SOCKET'; without --view until Ctrl-C",
	 OPT_SERVE},
	{"pack", NULL, NULL, "compress the recording", OPT_PACK},
	{"explore", NULL, "N",
	 "with several processors: try schedules 1 to N; the slowest, and all that break something",
	 OPT_EXPLORE},
	{"jobs", NULL, "J", "with --explore: processes that try them, 1 to 256 (default 1)",
	 OPT_JOBS},
	MACHINE_OPTION_ROWS_AND_END,
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
	case OPT_PERF:
		a->perf = true;
		return 0;
	case OPT_FOLDED:
		a->folded = true;
		return 0;
	case OPT_FORMAT:
		return cli_parse_format(value, &a->format, err);
	case OPT_FIGURES:
		a->figures = value;
		return 0;
	case OPT_TRACE:
		a->trace = value;
		return 0;
	case OPT_EXPLORE:
		return cli_parse_number("--explore", value, EXPLORE_MAX, &a->explore, err);
	case OPT_JOBS:
		return cli_parse_number("--jobs", value, EXPLORE_JOBS_MAX, &a->jobs, err);
	case OPT_PACK:
		a->pack = true;
		return 0;
	case OPT_TRACE_CODE:
		a->trace_code = true;
		return 0;
	case OPT_NO_SETTINGS:
		a->no_settings = true;
		return 0;
	case OPT_SERVE:
		a->serve = value;
		return 0;
	case OPT_VIEW:
		return cli_parse_view(value, &a->view, err);
	default:
		a->output = value;
		return 0;
	}
}

/* Options that mean nothing without another one. */
static int check_companions(const struct run_args *a, struct fl_error *err)
{
	const struct {
		const char *option;
		bool alone;
		const char *why;
	} rows[] = {
		{"--trace-code", a->trace_code && !a->trace,
		 "there is no recording, expected --trace too"},
		{"--pack", a->pack && !a->trace, "there is no recording, expected --trace too"},
		{"--jobs", a->jobs && !a->explore,
		 "one schedule is played by one process, expected --explore too"},
		{"--figures", a->figures && !workload_arg_is_lua(&a->workload),
		 "only a Lua workload has figures, expected FILE.lua"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].alone)
			return fl_error_set(err, -EINVAL, rows[i].option, 0, "%s", rows[i].why);
	return 0;
}

int run_args_parse(struct run_args *a, struct cli_args *args, struct fl_error *err)
{
	const char *value;
	int id, ret;

	*a = (struct run_args){.format = FORMAT_TEXT};
	machine_options_init(&a->machine);
	while ((ret = cli_next(args, &id, &value, err)) > 0) {
		ret = take(a, id, value, err);
		if (ret || a->help)
			return ret;
	}
	if (!ret)
		ret = check_companions(a, err);
	a->jobs = max(a->jobs, 1ULL);
	return ret ? ret : machine_options_check(&a->machine, err);
}

void run_args_print_words(FILE *f)
{
	fprintf(f, "\nOperations (k, m, g or t may follow a number; '#' starts a comment):\n");
	for (unsigned int i = 0; i < WL_NR_OPS; i++) {
		int width;

		if (run_unsupported(NULL, i) && i != WL_TASK)
			continue;
		width = fprintf(f, "  %s %s", workload_op_name(i), workload_op_args(i));
		fprintf(f, "%*s%s\n", max(1, 26 - width), "", workload_op_help(i));
	}
	fprintf(f, "\nADVICE:");
	for (unsigned int i = 0; i < WL_NR_ADVICES; i++)
		fprintf(f, "%s%s", i == WL_ADV_HUGEPAGE ? "\n  of madvise only: " : " ",
			workload_advice_name(i));
	fputc('\n', f);
}
