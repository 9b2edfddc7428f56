#include "cli/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/sweep_table.h"

#define PATH_MAX_BYTES 4096

enum {
	OPT_COMMANDS,
	OPT_POINT,
	OPT_RESULTS,
	OPT_MERGE,
	OPT_FORMAT,
	OPT_OUTPUT,
	OPT_SVG,
	OPT_X,
	OPT_Y,
};

static const struct cli_option sweep_options[] = {
	{"commands", NULL, NULL, "play nothing: print a command a point, one a line", OPT_COMMANDS},
	{"point", NULL, "A[-B]", "play only these points, print each as a line for --merge",
	 OPT_POINT},
	{"results", NULL, "DIR",
	 "keep the line of each point there as a file; points that have one are not played again",
	 OPT_RESULTS},
	{"merge", NULL, NULL, "play nothing: the lines are in the files behind GRID", OPT_MERGE},
	{"format", NULL, "F", "csv or json (default csv)", OPT_FORMAT},
	{"output", "o", "OUT", "write there instead of standard output", OPT_OUTPUT},
	{"svg", NULL, "OUT", "draw curves, too", OPT_SVG},
	{"x", NULL, "OPTION", "of the curves (default: the first with several numbers)", OPT_X},
	{"y", NULL, "MEASURE", "of the curves (default: the first)", OPT_Y},
	{0},
};

struct sweep_args {
	const char *grid;
	const char **files; /* to merge */
	unsigned int nr_files;
	const char *results, *output, *svg, *x, *y;
	unsigned int first, last; /* points, from 1; 0: all */
	bool commands, merge, json;
	bool help;
};

/* ---- the command line ---- */

static int take_points(struct sweep_args *a, const char *value, struct fl_error *err)
{
	int end = 0, n = sscanf(value, "%9u%n-%9u%n", &a->first, &end, &a->last, &end);

	if (n == 1)
		a->last = a->first;
	if (n < 1 || *value < '0' || *value > '9' || value[end] || !a->first || a->last < a->first)
		return fl_error_set(err, -EINVAL, "--point", 0,
				    "'%.40s', expected a number from 1 on, or two with '-'", value);
	return 0;
}

static int take_format(struct sweep_args *a, const char *value, struct fl_error *err)
{
	a->json = !strcmp(value, "json");
	if (a->json || !strcmp(value, "csv"))
		return 0;
	return fl_error_set(err, -EINVAL, "--format", 0, "'%.40s', expected csv or json", value);
}

static int take(struct sweep_args *a, int id, const char *value, struct fl_error *err)
{
	switch (id) {
	case CLI_POSITIONAL:
		if (!a->grid)
			a->grid = value;
		else
			a->files[a->nr_files++] = value;
		return 0;
	case OPT_COMMANDS:
		a->commands = true;
		return 0;
	case OPT_POINT:
		return take_points(a, value, err);
	case OPT_RESULTS:
		a->results = value;
		return 0;
	case OPT_MERGE:
		a->merge = true;
		return 0;
	case OPT_FORMAT:
		return take_format(a, value, err);
	case OPT_SVG:
		a->svg = value;
		return 0;
	case OPT_X:
		a->x = value;
		return 0;
	case OPT_Y:
		a->y = value;
		return 0;
	default:
		a->output = value;
		return 0;
	}
}

static int check(const struct sweep_args *a, const struct cli_args *args, struct fl_error *err)
{
	if (!a->grid)
		return fl_error_set(err, -EINVAL, NULL, 0,
				    "no grid, expected 'foliolab sweep GRID'");
	if (a->nr_files && !a->merge)
		return cli_unexpected(args, a->files[0], err);
	if (a->merge && !a->nr_files)
		return fl_error_set(err, -EINVAL, "--merge", 0,
				    "no files, expected them behind the grid");
	if (a->merge + a->commands + !!a->first > 1)
		return fl_error_set(
			err, -EINVAL, NULL, 0,
			"more than one of --merge, --commands and --point, expected one");
	if (a->svg && (a->commands || a->first))
		return fl_error_set(err, -EINVAL, "--svg", 0,
				    "curves need all points, expected no --commands or --point");
	return 0;
}

static int parse(struct sweep_args *a, struct cli_args *args, struct fl_error *err)
{
	const char *value;
	int id, ret;

	while ((ret = cli_next(args, &id, &value, err)) > 0) {
		if (id == CLI_HELP) {
			a->help = true;
			return 0;
		}
		ret = take(a, id, value, err);
		if (ret)
			return ret;
	}
	return ret ? ret : check(a, args, err);
}

/* ---- --commands ---- */

/* @word for a shell. */
static void print_word(FILE *f, const char *word)
{
	fputc('\'', f);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", f);
		else
			fputc(*word, f);
	fputc('\'', f);
}

static int print_commands(const struct sweep_args *a, const struct sweep_grid *g,
			  struct fl_error *err)
{
	struct out o;
	int ret = out_open(&o, a->output, err);

	if (ret)
		return ret;
	for (unsigned int p = 1; p <= g->points; p++) {
		fprintf(o.f, "foliolab sweep ");
		print_word(o.f, a->grid);
		fprintf(o.f, " --point %u", p);
		if (a->results) {
			fprintf(o.f, " --results ");
			print_word(o.f, a->results);
		}
		fputc('\n', o.f);
	}
	return out_commit(&o, err);
}

/* ---- playing ---- */

/* Of the points that are played here; silent in the first second and where nobody looks. */
static void progress(const struct timespec *start, unsigned int done, unsigned int all)
{
	struct timespec now;
	double seconds;

	if (!isatty(STDERR_FILENO) || clock_gettime(CLOCK_MONOTONIC, &now))
		return;
	seconds = (double)(now.tv_sec - start->tv_sec) + (now.tv_nsec - start->tv_nsec) / 1e9;
	if (seconds < 1)
		return;
	if (done == all)
		fprintf(stderr, "\r\033[K");
	else
		fprintf(stderr, "\r%u of %u points, %.1f a second, %.0f s left \033[K", done, all,
			done / seconds, (all - done) * seconds / done);
}

static int result_path(const struct sweep_args *a, unsigned int point, char *path,
		       struct fl_error *err)
{
	if (snprintf(path, PATH_MAX_BYTES, "%s/point-%06u.json", a->results, point + 1) <
	    PATH_MAX_BYTES)
		return 0;
	return fl_error_set(err, -ENAMETOOLONG, "--results", 0, "path too long");
}

static int write_row(const struct sweep_table *t, unsigned int point, const char *path,
		     struct fl_error *err)
{
	struct out o;
	int ret = out_open(&o, path, err);

	if (ret)
		return ret;
	sweep_print_row(o.f, t, point);
	return out_commit(&o, err);
}

/* Play @point, or take what an earlier run left in the results. */
static int play_point(const struct sweep_args *a, struct sweep_table *t, unsigned int point,
		      struct fl_error *err)
{
	char path[PATH_MAX_BYTES];
	int ret;

	if (!a->results)
		return sweep_play(t, point, err);
	ret = result_path(a, point, path, err);
	if (ret)
		return ret;
	if (!access(path, F_OK))
		return sweep_merge(t, path, err);
	ret = sweep_play(t, point, err);
	return ret ? ret : write_row(t, point, path, err);
}

static int play_points(const struct sweep_args *a, struct sweep_table *t, struct fl_error *err)
{
	unsigned int first = a->first ? a->first - 1 : 0;
	unsigned int end = a->first ? a->last : t->grid->points;
	struct timespec start = {0};
	int ret = 0;

	if (end > t->grid->points)
		return fl_error_set(err, -EINVAL, "--point", 0, "%u, expected 1 to %u", end,
				    t->grid->points);
	if (a->results && mkdir(a->results, 0777) && errno != EEXIST)
		return fl_error_set(err, -errno, a->results, 0, "%s, expected a folder for results",
				    strerror(errno));
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (unsigned int p = first; p < end && !ret; p++) {
		ret = play_point(a, t, p, err);
		progress(&start, p + 1 - first, end - first);
	}
	return ret;
}

/* ---- showing ---- */

/* What --point prints where it keeps no results. */
static int print_rows(const struct sweep_args *a, const struct sweep_table *t, struct fl_error *err)
{
	struct out o;
	int ret = a->results ? 0 : out_open(&o, a->output, err);

	if (ret || a->results)
		return ret;
	for (unsigned int p = 0; p < t->grid->points; p++)
		if (t->there[p])
			sweep_print_row(o.f, t, p);
	return out_commit(&o, err);
}

/* CLI_NO where points are missing. */
static int show(const struct sweep_args *a, const struct sweep_table *t, struct fl_error *err)
{
	static const struct cli_result result = {sweep_csv, sweep_json};
	unsigned int first = 0;
	int ret = cli_show(&result, t, a->json ? FORMAT_JSON : FORMAT_TEXT, a->output, err);

	if (!ret && a->svg)
		ret = sweep_svg(t, a->x, a->y, a->svg, err);
	if (ret || t->nr == t->grid->points)
		return ret;
	while (t->there[first])
		first++;
	fprintf(stderr, "foliolab: %s: %u of %u points are missing, the first is %u\n", a->grid,
		t->grid->points - t->nr, t->grid->points, first + 1);
	return CLI_NO;
}

static int merge_files(const struct sweep_args *a, struct sweep_table *t, struct fl_error *err)
{
	int ret = 0;

	for (unsigned int i = 0; i < a->nr_files && !ret; i++)
		ret = sweep_merge(t, a->files[i], err);
	return ret;
}

static int sweep_table(const struct sweep_args *a, const struct sweep_grid *g, struct fl_error *err)
{
	struct sweep_table t;
	int ret = sweep_table_init(&t, g, err);

	if (ret)
		return ret;
	ret = a->merge ? merge_files(a, &t, err) : play_points(a, &t, err);
	if (!ret)
		ret = a->first ? print_rows(a, &t, err) : show(a, &t, err);
	sweep_table_fini(&t);
	return ret;
}

static int sweep(const struct sweep_args *a, struct fl_error *err)
{
	struct sweep_grid *g = calloc(1, sizeof(*g));
	int ret = g ? sweep_grid_load(g, a->grid, err)
		    : fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");

	if (!ret) {
		ret = a->commands ? print_commands(a, g, err) : sweep_table(a, g, err);
		sweep_grid_fini(g);
	}
	free(g);
	return ret;
}

static int cmd_sweep_main(struct cli_args *args)
{
	struct sweep_args a = {0};
	struct fl_error err = {0};
	int ret;

	a.files = calloc(args->argc + 1, sizeof(*a.files));
	ret = a.files ? parse(&a, args, &err)
		      : fl_error_set(&err, -ENOMEM, NULL, 0, "out of memory");
	if (!ret)
		ret = a.help ? cli_help(args) : sweep(&a, &err);
	free(a.files);
	return ret < 0 ? cli_fail(&err) : ret;
}

const struct cli_command cmd_sweep = {
	.name = "sweep",
	.synopsis = "GRID [--results DIR] [--format csv|json] [-o OUT] [--svg OUT]\n"
		    "GRID --commands | --point A[-B] [--results DIR]\n"
		    "GRID --merge FILE...",
	.summary = "Play a workload for every combination of parameters, kernels and seeds.",
	.options = sweep_options,
	.details =
		"GRID is a text file; '#' starts a comment. A line is one of\n"
		"  workload NAME OPERATIONS   as behind 'foliolab run -e'; any number of them\n"
		"  OPTION VALUE...            an option of 'foliolab run' that is about the "
		"machine,\n"
		"                             without dashes; 1..5 is 1 2 3 4 5; options without\n"
		"                             value take on and off\n"
		"  measure KEY...             of the JSON of 'foliolab run', dots between "
		"(default\n"
		"                             virtual_ns pages.read pages.wasted ios)\n"
		"At most 64 KiB, 100000 combinations.\n"
		"\n"
		"Curves are means over the seeds, one for each combination of the other options.\n"
		"\n"
		"Example:\n"
		"  printf '%s\\n' 'workload w read 4k 512; pread 8m 64k' 'kernel v6.7 v6.12' \\\n"
		"          'ra-kb 64 128 256' 'measure pages.wasted' >waste.grid\n"
		"  foliolab sweep waste.grid --svg waste.svg\n"
		"On many machines, resumable (scripts/sweep-parallel, scripts/sweep-slurm):\n"
		"  foliolab sweep waste.grid --commands --results r | parallel\n"
		"  foliolab sweep waste.grid --merge r/*.json\n"
		"\n"
		"JSON keys:\n"
		"  grid     identifies the text of GRID\n"
		"  points   how many combinations there are\n"
		"  rows     [{point, parameters: {OPTION: VALUE}, measures: {KEY: number}}]\n"
		"A line of --point: {\"grid\", \"point\", \"measures\"}.\n",
	.run = cmd_sweep_main,
};
