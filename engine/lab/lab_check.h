/*
 * lab/lab_check.h - proving that a lab is sound: `foliolab lab check`.
 *
 * Errors     -EINVAL, -ENOENT: the lab is broken (file and line), nothing was proven. What is
 *            merely wrong is counted and told on the stream.
 */
#ifndef FL_LAB_LAB_CHECK_H
#define FL_LAB_LAB_CHECK_H

#include "lab/lab.h"
#include "lab/lab_find.h"

struct lab_check {
	FILE *out;		/* a line for each thing that does not hold */
	unsigned int students;	/* whose numbers are looked at */
	unsigned int questions; /* seen; out */
	unsigned int failures;	/* out */
	void (*progress)(void *ctx, unsigned int done, unsigned int total); /* or NULL */
	void *ctx;
};

/* The lab's Lua, and that of its solution, runs in a child (lab/lab_remote.h). */
int lab_check(const char *dir, struct lab_check *check, struct fl_error *err);

/* ---- for the child ---- */

/* What is checked, read before. */
struct lab_check_files {
	const char *dir;
	const char *source, *solution, *answers; /* texts of lab.lua, the solution, answers.lua */
	size_t source_len, solution_len, answers_len;
	char solution_path[LAB_PATH];
	const struct lab_images *images;
	struct backing_source *backing; /* of files of the folder */
};

int lab_check_run(const struct lab_check_files *files, struct lab_check *check,
		  struct fl_error *err);

#endif
