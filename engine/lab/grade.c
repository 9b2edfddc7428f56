/* What is judged: the lab's questions, the submissions, texts made fit to print. */
#include "lab/grade.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lab/lab_find.h"
#include "lab/textfile.h"
#include "lib/printable.h"

#define LAB_MAX	       (4UL << 20)
#define SUBMISSION_MAX (1UL << 20)

/* ---- the lab ---- */

static int add_items(struct grade *g, struct fl_error *err)
{
	const struct lab *lab = g->lab;
	unsigned int n = 0;

	for (unsigned int s = 0; s < lab->nr_steps; s++)
		n += lab->steps[s].nr_questions;
	if (!n)
		return fl_error_set(err, -EINVAL, lab->path, 0,
				    "no questions, expected at least one to grade");
	g->items = calloc(n, sizeof(*g->items));
	if (!g->items)
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	for (unsigned int s = 0; s < lab->nr_steps; s++) {
		const struct lab_step *step = &lab->steps[s];
		unsigned int nr = 0;

		for (int predict = 1; predict >= 0; predict--)
			for (unsigned int i = 0; i < step->nr_questions; i++)
				if (step->questions[i].predict == predict) {
					g->max += step->questions[i].points;
					g->items[g->nr_items++] = (struct grade_item){
						step, &step->questions[i], s + 1, ++nr};
				}
	}
	return 0;
}

/* The questions: the lab's Lua runs in a child, like everybody's. */
static int open_lab(struct grade *g, const char *dir, struct fl_error *err)
{
	static const struct lab_ask ask = {.type = LAB_ASK_LAB};
	struct lab_remote_config config = {
		.dir = dir,
		.source = g->source,
		.source_len = g->source_len,
		.images = &g->images,
		.student = "nobody",
	};
	struct lab_reply reply;
	int ret = lab_remote_open(&config, &g->nobody, err);

	if (!ret)
		ret = lab_remote_do(g->nobody, &ask, &reply, err);
	if (!ret)
		g->lab = lab_remote_lab(g->nobody);
	return ret;
}

int grade_open(const char *dir, struct grade **ret, struct fl_error *err)
{
	struct grade *g = calloc(1, sizeof(*g));
	char path[LAB_PATH];
	int error;

	*ret = NULL;
	if (!g)
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	if (!lab_join(path, dir, "lab.lua"))
		error = fl_error_set(err, -ENAMETOOLONG, dir, 0, "path too long");
	else
		error = textfile_read(path, LAB_MAX, &g->source, &g->source_len, err);
	if (!error)
		error = lab_images_open(dir, &g->images, err);
	if (!error)
		error = open_lab(g, dir, err);
	if (!error)
		error = add_items(g, err);
	if (error) {
		grade_close(g);
		return error;
	}
	*ret = g;
	return 0;
}

void grade_close(struct grade *g)
{
	if (!g)
		return;
	for (unsigned int i = 0; i < g->nr; i++) {
		free(g->results[i].path);
		free(g->results[i].text);
		free(g->results[i].verdicts);
	}
	free(g->results);
	free(g->items);
	free(g->source);
	lab_remote_close(g->nobody);
	lab_images_fini(&g->images);
	free(g);
}

/* ---- submissions ---- */

/* The last part of @path without ".lua"; of .../ada/answers.lua that is ada. */
static void name_student(const char *path, bool is_file, char *ret, size_t n)
{
	char *full = realpath(path, NULL), *slash, *dot;

	slash = full ? strrchr(full, '/') : NULL;
	if (slash && is_file && !strcmp(slash, "/answers.lua") && slash != full) {
		*slash = 0;
		slash = strrchr(full, '/');
		is_file = false;
	}
	snprintf(ret, n, "%s", slash && slash[1] ? slash + 1 : "guest");
	dot = strrchr(ret, '.');
	if (is_file && dot && dot != ret && !strcmp(dot, ".lua"))
		*dot = 0;
	free(full);
}

/* A link in a stranger's folder may lead to a file of the grader's owner. */
static int check_no_link(const char *path, struct fl_error *err)
{
	struct stat st;

	if (lstat(path, &st))
		return fl_error_set(err, -errno, NULL, 0, "no answers.lua in this folder");
	if (S_ISLNK(st.st_mode))
		return fl_error_set(err, -ELOOP, NULL, 0,
				    "answers.lua is a symbolic link, expected a file");
	return 0;
}

static void read_text(struct grade_result *r, const char *path, bool is_file)
{
	struct fl_error err = {0};
	char inside[4200];
	int error = 0;

	if (!is_file) {
		snprintf(inside, sizeof(inside), "%.4000s/answers.lua", path);
		path = inside;
		error = check_no_link(path, &err);
	}
	if (!error)
		error = textfile_read(path, SUBMISSION_MAX, &r->text, &r->len, &err);
	if (error) {
		r->broken = true;
		snprintf(r->why, sizeof(r->why), "%s", err.text);
		make_printable(r->why);
	}
}

static struct grade_result *new_result(struct grade *g)
{
	struct grade_result *all = g->results, *r;

	if (!(g->nr & (g->nr - 1))) {
		all = reallocarray(all, g->nr ? g->nr * 2 : 1, sizeof(*all));
		if (!all)
			return NULL;
		g->results = all;
	}
	r = &all[g->nr];
	memset(r, 0, sizeof(*r));
	r->verdicts = calloc(g->nr_items, sizeof(*r->verdicts));
	if (!r->verdicts)
		return NULL;
	g->nr++;
	return r;
}

int grade_add(struct grade *g, const char *path, const char *student, struct fl_error *err)
{
	struct grade_result *r;
	struct stat st;

	if (stat(path, &st))
		return fl_error_set(err, -errno, path, 0, "%s, expected a submission",
				    strerror(errno));
	r = new_result(g);
	if (r)
		r->path = strdup(path);
	if (!r || !r->path)
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	make_printable(r->path);
	if (student)
		snprintf(r->student, sizeof(r->student), "%s", student);
	else
		name_student(path, !S_ISDIR(st.st_mode), r->student, sizeof(r->student));
	make_printable(r->student);
	r->seed = lab_seed(r->student);
	read_text(r, path, !S_ISDIR(st.st_mode));
	return 0;
}
