/*
 * foliolab calibrate: what primitives cost on this host.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/costs_file.h"
#include "cli/user_files.h"
#include "host/calibrate.h"

enum { OPT_DIR, OPT_FORMAT, OPT_OUTPUT, OPT_DRY, OPT_ROUNDS };

static const struct cli_option options[] = {
	{"dir", NULL, "DIR", "measure the file system of this folder (default: .)", OPT_DIR},
	{"output", "o", "FILE", "write the table there instead of $XDG_CONFIG_HOME/foliolab/costs",
	 OPT_OUTPUT},
	{"rounds", NULL, "N", "how often everything is timed, 2 to 200 (default: 24)", OPT_ROUNDS},
	{"dry-run", NULL, NULL, "write no table", OPT_DRY},
	{"format", NULL, "FORMAT", "text (default) or json", OPT_FORMAT},
	{0},
};

struct calibrate_args {
	const char *dir, *output;
	enum cli_format format;
	unsigned int rounds;
	bool dry, help;
};

static int parse_rounds(const char *value, unsigned int *rounds, struct fl_error *err)
{
	char *end;
	unsigned long n = strtoul(value, &end, 10);

	if (*value < '0' || *value > '9' || *end || n < 2 || n > CALIBRATE_ROUNDS_MAX)
		return fl_error_set(err, -EINVAL, "--rounds", 0, "'%.40s', expected 2 to %d", value,
				    CALIBRATE_ROUNDS_MAX);
	*rounds = n;
	return 0;
}

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
	case OPT_ROUNDS:
		return parse_rounds(value, &a->rounds, err);
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

	*a = (struct calibrate_args){.dir = ".", .rounds = CALIBRATE_ROUNDS};
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

static double worst_error(const struct calibration *cal)
{
	double worst = 0;

	for (unsigned int i = 0; i < cal->nr_rows; i++) {
		double e = error_percent(&cal->rows[i]);

		worst = max(worst, e < 0 ? -e : e);
	}
	return worst;
}

static void show_bare(FILE *f, const struct calibrate_bare *b)
{
	fprintf(f,
		"memcpy %.1f GB/s from memory, %.1f from the cache; a locked addition %.1f ns; a "
		"cache miss %.0f ns\n",
		b->memcpy_ps ? 1e3 / b->memcpy_ps : 0,
		b->memcpy_cached_ps ? 1e3 / b->memcpy_cached_ps : 0, b->atomic_ps / 1e3,
		b->miss_ps / 1e3);
	if (b->disk_read_ns)
		fprintf(f, "disk: 4 KiB from a random place %.0f us, sequentially %.2f GB/s\n",
			b->disk_read_ns / 1e3, b->disk_ps ? 1e3 / b->disk_ps : 0);
}

static void show_text(struct out *o, const void *data)
{
	const struct calibration *cal = data;

	fprintf(o->f, "Linux %s, %s, profile %s\n", cal->dev.release,
		cal->dev.fs[0] ? cal->dev.fs : "another file system",
		cal->dev.profile ? cal->dev.profile : "none, v6.18 used");
	show_bare(o->f, &cal->bare);
	fprintf(o->f, "\n%-28s %12s %12s %8s %8s\n", "ns of processor an operation", "predicted",
		"measured", "error", "spread");
	for (unsigned int i = 0; i < cal->nr_rows; i++)
		fprintf(o->f, "%-26s %c %12" PRIu64 " %12" PRIu64 " %+7.0f%% %7.0f%%\n",
			cal->rows[i].name, cal->rows[i].fitted ? '*' : ' ',
			cal->rows[i].predicted_ns, cal->rows[i].measured_ns,
			error_percent(&cal->rows[i]), 100 * cal->rows[i].spread);
	fprintf(o->f,
		"\n* the weights were fitted to it, on other rounds. Largest error %.0f %%.\n",
		worst_error(cal));
	if (cal->spread > CALIBRATE_BUSY)
		fprintf(o->f,
			"This machine is busy: the same work took %.0f %% longer at the median "
			"than at best.\nThe figures are worth little; repeat it when the machine is "
			"quiet.\n",
			100 * cal->spread);
}

static void add_bare(cJSON *obj, const struct calibrate_bare *b)
{
	json_add_u64(obj, "memcpy_ps", b->memcpy_ps);
	json_add_u64(obj, "memcpy_cached_ps", b->memcpy_cached_ps);
	json_add_u64(obj, "atomic_ps", b->atomic_ps);
	json_add_u64(obj, "miss_ps", b->miss_ps);
	json_add_u64(obj, "disk_read_ns", b->disk_read_ns);
	json_add_u64(obj, "disk_ps", b->disk_ps);
}

static cJSON *show_json(const void *data)
{
	const struct calibration *cal = data;
	cJSON *obj = cJSON_CreateObject(), *rows, *costs;

	cJSON_AddStringToObject(obj, "kernel", cal->dev.release);
	cJSON_AddStringToObject(obj, "profile", cal->dev.profile ? cal->dev.profile : "");
	cJSON_AddBoolToObject(obj, "busy", cal->spread > CALIBRATE_BUSY);
	add_bare(cJSON_AddObjectToObject(obj, "bare"), &cal->bare);
	rows = cJSON_AddArrayToObject(obj, "rows");
	for (unsigned int i = 0; i < cal->nr_rows; i++) {
		cJSON *row = cJSON_CreateObject();

		cJSON_AddStringToObject(row, "workload", cal->rows[i].name);
		json_add_u64(row, "predicted_ns", cal->rows[i].predicted_ns);
		json_add_u64(row, "measured_ns", cal->rows[i].measured_ns);
		cJSON_AddNumberToObject(row, "spread", cal->rows[i].spread);
		cJSON_AddBoolToObject(row, "fitted", cal->rows[i].fitted);
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
	int ret = user_make_folders(path);

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
	static const struct cli_result result = {show_text, show_json};
	struct calibration cal;
	char path[512];
	int ret = host_calibrate(a->dir, a->rounds, &cal, progress, err);

	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
	if (!ret && !a->dry && !a->output)
		ret = costs_path(path, err);
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
	struct fl_error err = {0};
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
		"Workloads on a sparse file of 64 MiB are timed in interleaved rounds, by this thread's\n"
		"processor time; the fastest round counts. Weights are fitted to the even rounds of the\n"
		"workloads marked *, all are compared with the odd rounds. A spread says by how much the\n"
		"median is slower than the fastest: on a busy machine it is large and the figures are\n"
		"worth little. Known to be off by up to a half: dropping large folios, whose size costs\n"
		"nothing in the miniature. Runs use the table only with --costs host.\n"
		"\n"
		"JSON: {\"kernel\",\"profile\",\"busy\",\n"
		"  \"bare\": {\"memcpy_ps\",\"memcpy_cached_ps\",\"atomic_ps\",\"miss_ps\",\"disk_read_ns\",\n"
		"    \"disk_ps\"}, \"rows\": [{\"workload\",\"predicted_ns\",\"measured_ns\",\"spread\",\n"
		"    \"fitted\"}], \"cost_ps\": {NAME: picoseconds}}\n",
	.run = cmd_calibrate_main,
};
