#include "cli/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/grade_formats.h"
#include "cli/grade_out.h"
#include "lab/lab_find.h"
#include "lib/strutil.h"

enum { OPT_SUBMISSION, OPT_STUDENT, OPT_JOBS, OPT_FORMAT, OPT_OUTPUT };

static const struct cli_option grade_options[] = {
	{"submission", NULL, "PATH",
	 "an answers.lua or a folder with one; what follows LAB counts too", OPT_SUBMISSION},
	{"student", NULL, "ID", "whose it is if it has no field 'student'", OPT_STUDENT},
	{"jobs", NULL, "N", "submissions graded at once, 1 to 64 (default: processors)", OPT_JOBS},
	{"format", NULL, "F", "text, json, csv, junit, gradescope or prairielearn (default text)",
	 OPT_FORMAT},
	{"output", "o", "FILE", "write there instead of standard output", OPT_OUTPUT},
	{0},
};

static const char *const format_names[GRADE_NR_FORMATS] = {
	"text", "json", "csv", "junit", "gradescope", "prairielearn",
};

struct grade_args {
	const char *lab, *student, *output;
	const char **paths;
	unsigned int nr_paths, jobs;
	enum grade_format format;
	bool help;
};

/* ---- the command line ---- */

static int take_format(struct grade_args *a, const char *value, struct fl_error *err)
{
	const struct name_list list = {"format", format_names, GRADE_NR_FORMATS};
	char text[sizeof(err->text)];

	for (int i = 0; i < GRADE_NR_FORMATS; i++)
		if (!strcmp(value, format_names[i])) {
			a->format = i;
			return 0;
		}
	return fl_error_set(err, -EINVAL, "--format", 0, "%s",
			    describe_unknown(text, sizeof(text), value, &list));
}

static int take_jobs(struct grade_args *a, const char *value, struct fl_error *err)
{
	char *end;
	unsigned long n = strtoul(value, &end, 10);

	if (value[strspn(value, "0123456789")] || *end || n < 1 || n > GRADE_JOBS_MAX)
		return fl_error_set(err, -EINVAL, "--jobs", 0, "'%.40s', expected 1 to %d", value,
				    GRADE_JOBS_MAX);
	a->jobs = n;
	return 0;
}

static int take_student(struct grade_args *a, const char *value, struct fl_error *err)
{
	if (!*value || strlen(value) >= sizeof(((struct grade_result *)NULL)->student))
		return fl_error_set(err, -EINVAL, "--student", 0,
				    "'%.60s', expected a name of 1 to 127 bytes", value);
	a->student = value;
	return 0;
}

static int take(struct grade_args *a, int id, const char *value, struct fl_error *err)
{
	switch (id) {
	case CLI_POSITIONAL:
		if (!a->lab)
			a->lab = value;
		else /* a shell's submissions/... */
			a->paths[a->nr_paths++] = value;
		return 0;
	case OPT_SUBMISSION:
		a->paths[a->nr_paths++] = value;
		return 0;
	case OPT_STUDENT:
		return take_student(a, value, err);
	case OPT_JOBS:
		return take_jobs(a, value, err);
	case OPT_FORMAT:
		return take_format(a, value, err);
	default:
		a->output = value;
		return 0;
	}
}

static int check_args(const struct grade_args *a, struct fl_error *err)
{
	if (!a->lab)
		return fl_error_set(err, -EINVAL, NULL, 0,
				    "no lab, expected 'foliolab grade LAB --submission PATH'");
	if (!a->nr_paths)
		return fl_error_set(err, -EINVAL, "--submission", 0,
				    "is missing, expected an answers.lua or a folder with one");
	if (a->nr_paths > 1 && (a->format == GRADE_GRADESCOPE || a->format == GRADE_PRAIRIELEARN))
		return fl_error_set(err, -EINVAL, "--format", 0,
				    "'%s' with %u submissions, expected one",
				    format_names[a->format], a->nr_paths);
	return 0;
}

static int parse(struct grade_args *a, struct cli_args *args, struct fl_error *err)
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
	return ret ? ret : check_args(a, err);
}

/* ---- grading ---- */

static void show_progress(void *ctx, unsigned int done, unsigned int total)
{
	(void)ctx;
	if (done == total)
		fprintf(stderr, "\r\033[K");
	else
		fprintf(stderr, "\r%u of %u submissions ", done, total);
}

static int write_grades(const struct grade_args *a, const struct grade *g, struct fl_error *err)
{
	struct out o;
	int ret = out_open(&o, a->output, err);

	if (ret)
		return ret;
	ret = grade_write(&o, g, a->format);
	if (ret) {
		out_abort(&o);
		return fl_error_set(err, ret, NULL, 0, "out of memory");
	}
	return out_commit(&o, err);
}

static int exit_status(const struct grade *g)
{
	for (unsigned int i = 0; i < g->nr; i++)
		if (!grade_is_full(g, &g->results[i]))
			return CLI_NO;
	return CLI_DONE;
}

/* CLI_* or -errno. */
static int grade_all(const struct grade_args *a, struct fl_error *err)
{
	char dir[LAB_PATH];
	struct grade *g = NULL;
	int ret = lab_find(a->lab, dir, err);

	if (!ret)
		ret = grade_open(dir, &g, err);
	for (unsigned int i = 0; i < a->nr_paths && !ret; i++)
		ret = grade_add(g, a->paths[i], a->student, err);
	if (!ret) {
		g->progress = a->nr_paths > 1 && isatty(STDERR_FILENO) ? show_progress : NULL;
		ret = grade_run(g, a->jobs, err);
	}
	if (!ret)
		ret = write_grades(a, g, err);
	if (!ret)
		ret = exit_status(g);
	grade_close(g);
	return ret;
}

static int cmd_grade_main(struct cli_args *args)
{
	struct grade_args a = {.jobs = max(1L, min(sysconf(_SC_NPROCESSORS_ONLN), 64L))};
	struct fl_error err = {0};
	int ret;

	a.paths = calloc(args->argc + 1, sizeof(*a.paths));
	ret = a.paths ? parse(&a, args, &err)
		      : fl_error_set(&err, -ENOMEM, NULL, 0, "out of memory");
	if (!ret)
		ret = a.help ? cli_help(args) : grade_all(&a, &err);
	free(a.paths);
	return ret < 0 ? cli_fail(&err) : ret;
}

const struct cli_command cmd_grade = {
	.name = "grade",
	.synopsis = "LAB --submission PATH... [--student ID] [--jobs N]\n"
		    "     [--format F] [-o FILE]",
	.summary = "Grade answers of strangers, each locked in by itself.",
	.options = grade_options,
	.details =
		"Exit status: 0 full marks for all, 1 less, 2 the lab is broken or cannot be\n"
		"graded here. The student, and so the numbers, is the field 'student' of the\n"
		"answers, else --student, else the name of the file or folder. Every question\n"
		"has 10 s of processor time, 64 MiB and its budget of instructions; a limit that\n"
		"was hit is named, with the question and the last event. gradescope and\n"
		"prairielearn write results.json of one submission.\n"
		"\n"
		"JSON keys:\n"
		"  lab, title    of the lab\n"
		"  submissions   [{path, student, seed, score, max, error (why nothing could be\n"
		"                graded, or \"\"), questions}]\n"
		"  questions     [{id, step, kind, points, max, right, why (\"\" if right), limit\n"
		"                (\"\", time, memory, instructions, system call, crash)}]\n"
		"CSV: submission,student,score,max, the points of each question by id, error.\n"
		"\n"
		"Examples:\n"
		"  foliolab grade 3 --submission submissions/* --jobs 2 --format csv -o "
		"grades.csv\n"
		"  foliolab grade 3 --submission /autograder/submission --format gradescope \\\n"
		"          -o /autograder/results/results.json\n",
	.run = cmd_grade_main,
};
