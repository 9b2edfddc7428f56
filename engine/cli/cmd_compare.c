#include "cli/commands.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/common.h"
#include "cli/compare_text.h"
#include "cli/machine_options.h"
#include "cli/play.h"

enum { OPT_EVAL, OPT_MEASURE, OPT_FORMAT, OPT_OUTPUT };

static const struct cli_option compare_options[] = {
	{"eval", "e", "OPS", "operations, separated by newlines or ';'", OPT_EVAL},
	{"measure", NULL, NULL, "also time the miniature's real work on the host", OPT_MEASURE},
	{"format", NULL, "F", "text or json (default text)", OPT_FORMAT},
	{"output", "o", "OUT", "write there instead of standard output", OPT_OUTPUT},
	MACHINE_OPTION_ROWS_AND_END,
};

struct compare_args {
	struct machine_options machine;
	struct workload_arg workload;
	bool measure;
	enum cli_format format;
	const char *output;
	bool help;
};

/* What is shown. */
struct comparison {
	struct report *reports;
	unsigned int nr;
};

static int take(struct compare_args *a, int id, const char *value, struct fl_error *err)
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

static int parse(struct compare_args *a, struct cli_args *args, struct fl_error *err)
{
	const char *value;
	int id, ret;

	machine_options_init(&a->machine);
	while ((ret = cli_next(args, &id, &value, err)) > 0) {
		ret = take(a, id, value, err);
		if (ret || a->help)
			return ret;
	}
	if (!ret && a->machine.nr_kernels < 2)
		return fl_error_set(err, -EINVAL, "--kernel", 0,
				    "%u kernels to compare, expected at least two",
				    a->machine.nr_kernels);
	return ret ? ret : machine_options_check(&a->machine, err);
}

static void show_text(struct out *o, const void *data)
{
	const struct comparison *c = data;

	compare_text(o, c->reports, c->nr);
}

static cJSON *show_json(const void *data)
{
	const struct comparison *c = data;
	cJSON *obj = cJSON_CreateObject();
	cJSON *runs = cJSON_AddArrayToObject(obj, "runs");
	bool failed = !runs;

	for (unsigned int i = 0; i < c->nr; i++)
		failed |= !cJSON_AddItemToArray(runs, report_json(&c->reports[i]));
	if (failed) {
		cJSON_Delete(obj);
		return NULL;
	}
	return obj;
}

static int play_kernels(const struct compare_args *a, const struct workload *w,
			struct report *reports, struct fl_error *err)
{
	struct run_config config = a->machine.config;
	int ret = 0;

	for (unsigned int i = 0; i < a->machine.nr_kernels && !ret; i++) {
		config.machine.kernel = a->machine.kernels[i];
		ret = play(&config, w, &reports[i], err);
		reports[i].measured = a->measure;
	}
	return ret;
}

static int compare(const struct compare_args *a, struct fl_error *err)
{
	static const struct cli_result result = {show_text, show_json};
	struct comparison c = {.nr = a->machine.nr_kernels};
	struct workload w;
	int ret = workload_arg_load(&a->workload, &w, err);

	if (ret)
		return ret;
	c.reports = calloc(c.nr, sizeof(*c.reports));
	ret = c.reports ? play_kernels(a, &w, c.reports, err)
			: fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	if (!ret)
		ret = cli_show(&result, &c, a->format, a->output, err);
	free(c.reports);
	workload_fini(&w);
	return ret;
}

static int cmd_compare_main(struct cli_args *args)
{
	struct compare_args a = {.format = FORMAT_TEXT};
	struct fl_error err = {0};

	if (parse(&a, args, &err))
		return cli_fail(&err);
	if (a.help)
		return cli_help(args);
	return compare(&a, &err) ? cli_fail(&err) : CLI_DONE;
}

const struct cli_command cmd_compare = {
	.name = "compare",
	.synopsis = "--kernel A --kernel B [--kernel C...] FILE.wl | -e OPS [options]",
	.summary = "Play a workload on several kernels and lay the outcomes side by side.",
	.options = compare_options,
	.details = "Example:\n"
		   "  foliolab compare -e 'read 4k 4096' --kernel v6.7 --kernel ab4443fe3ca6\n"
		   "\n"
		   "JSON: {\"runs\": [...]}, an object of 'foliolab run' for each kernel.\n",
	.run = cmd_compare_main,
};
