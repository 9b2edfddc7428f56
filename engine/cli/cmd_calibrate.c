/*
 * foliolab calibrate: what primitives cost on this host.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/costs_file.h"
#include "host/calibrate.h"

enum { OPT_DIR, OPT_FORMAT, OPT_OUTPUT, OPT_DRY };

static const struct cli_option options[] = {
	{ "dir", NULL, "DIR", "measure the file system of this folder (default: .)", OPT_DIR },
	{ "output", "o", "FILE",
	  "write the table there instead of $XDG_CONFIG_HOME/foliolab/costs", OPT_OUTPUT },
	{ "dry-run", NULL, NULL, "write no table", OPT_DRY },
	{ "format", NULL, "FORMAT", "text (default) or json", OPT_FORMAT },
	{ 0 },
};

struct calibrate_args {
	const char *dir, *output;
	enum cli_format format;
	bool dry, help;
};

static int set_option(struct cli_args *args, struct calibrate_args *a, int id, const char *value,
		      struct fl_error *err)
{
	switch (id) {
	case CLI_HELP:
		a->help = true;
		break;
	case CLI_POSITIONAL:
		return cli_unexpected(args, value, err);
	case OPT_DIR:
		a->dir = value;
		break;
	case OPT_OUTPUT:
		a->output = value;
		break;
	case OPT_DRY:
		a->dry = true;
		break;
	case OPT_FORMAT:
		return cli_parse_format(value, &a->format, err);
	}
	return 0;
}

static int parse(struct cli_args *args, struct calibrate_args *a, struct fl_error *err)
{
	const char *value;
	int id, ret = 1;

	*a = (struct calibrate_args){ .dir = "." };
	while (!a->help && (ret = cli_next(args, &id, &value, err)) > 0) {
		ret = set_option(args, a, id, value, err);
		if (ret)
			return ret;
	}
	return a->help ? 0 : ret;
}

static double error_percent(const struct calibrate_row *row)
{
	return row->measured_ns ? 100.0 * ((double)row->predicted_ns / row->measured_ns - 1) : 0;
}

static void show_text(struct out *o, const void *data)
{
	const struct calibration *cal = data;

	fprintf(o->f, "Linux %s, %s, profile %s: nanoseconds an operation\n", cal->dev.release,
		cal->dev.fs[0] ? cal->dev.fs : "another file system",
		cal->dev.profile ? cal->dev.profile : "none, v6.18 used");
	fprintf(o->f, "%-28s %12s %12s %9s\n", "", "predicted", "measured", "error");
	for (unsigned int i = 0; i < cal->nr_rows; i++)
		fprintf(o->f, "%-28s %12" PRIu64 " %12" PRIu64 " %+8.0f%%\n", cal->rows[i].name,
			cal->rows[i].predicted_ns, cal->rows[i].measured_ns,
			error_percent(&cal->rows[i]));
}

static cJSON *show_json(const void *data)
{
	const struct calibration *cal = data;
	cJSON *obj = cJSON_CreateObject(), *rows, *costs;

	cJSON_AddStringToObject(obj, "kernel", cal->dev.release);
	cJSON_AddStringToObject(obj, "profile", cal->dev.profile ? cal->dev.profile : "");
	rows = cJSON_AddArrayToObject(obj, "rows");
	for (unsigned int i = 0; i < cal->nr_rows; i++) {
		cJSON *row = cJSON_CreateObject();

		cJSON_AddStringToObject(row, "workload", cal->rows[i].name);
		json_add_u64(row, "predicted_ns", cal->rows[i].predicted_ns);
		json_add_u64(row, "measured_ns", cal->rows[i].measured_ns);
		cJSON_AddItemToArray(rows, row);
	}
	costs = cJSON_AddObjectToObject(obj, "cost_ps");
	for (unsigned int i = 0; i < COST_NR; i++)
		json_add_u64(costs, cost_info(i)->name, cal->cost_ps[i]);
	return obj;
}

static int write_table(const struct calibration *cal, const char *path, struct fl_error *err)
{
	struct out out;
	int ret = costs_make_folder(path);

	if (ret)
		return fl_error_set(err, ret, path, 0, "%s", strerror(-ret));
	ret = out_open(&out, path, err);
	if (ret)
		return ret;
	fprintf(out.f, "# picoseconds a unit, measured on Linux %s by foliolab calibrate\n",
		cal->dev.release);
	costs_write(out.f, cal->cost_ps);
	return out_commit(&out, err);
}

static void progress(const char *what)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[Kmeasuring: %s", what);
}

static int calibrate(const struct calibrate_args *a, struct fl_error *err)
{
	static const struct cli_result result = { show_text, show_json };
	struct calibration cal;
	char path[512];
	int ret = host_calibrate(a->dir, &cal, progress, err);

	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
	if (!ret && !a->dry && !a->output)
		ret = costs_path(path, sizeof(path), err);
	if (!ret && !a->dry)
		ret = write_table(&cal, a->output ? a->output : path, err);
	if (!ret)
		ret = cli_show(&result, &cal, a->format, NULL, err);
	if (!ret && !a->dry && a->format == FORMAT_TEXT)
		fprintf(stderr, "The table is in %s; use it with --costs %s.\n",
			a->output ? a->output : path, a->output ? a->output : "host");
	return ret;
}

static int cmd_calibrate_main(struct cli_args *args)
{
	struct fl_error err = { 0 };
	struct calibrate_args a;

	if (parse(args, &a, &err))
		return cli_fail(&err);
	if (a.help)
		return cli_help(args);
	return calibrate(&a, &err) ? cli_fail(&err) : CLI_DONE;
}

const struct cli_command cmd_calibrate = {
	.name = "calibrate",
	.synopsis = "[options]",
	.summary = "Measure what page-cache primitives cost on this host and write a cost table.",
	.options = options,
	.details =
		"Workloads on a sparse file of 64 MiB are timed and the weights fitted to them group by\n"
		"group; then a dozen workloads are predicted and measured. Wall-clock time: expect\n"
		"other figures on a busy machine. Runs use the table only with --costs host.\n"
		"\n"
		"JSON: {\"kernel\",\"profile\",\"rows\": [{\"workload\",\"predicted_ns\",\"measured_ns\"}],\n"
		"  \"cost_ps\": {NAME: picoseconds}}\n",
	.run = cmd_calibrate_main,
};
