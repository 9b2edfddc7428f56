/*
 * lab/grade.h - judging submissions of strangers.
 *
 * Each submission is judged in a child of its own (lab/lab_remote.h), behind jail_enter(): no
 * files but those the lab opens, no programs, no sockets. The child says what is right; which
 * questions there are and what they are worth the parent knows from lab.lua alone. A question that
 * hits a limit gets nothing; the ones after it are judged by a fresh child.
 *
 * Invariant  the same lab and submission give the same result, alone or among others; results
 *            are in the order of grade_add(); every submission has a verdict for every question.
 * Owner      grade_open() to grade_close(); strings and results belong to the struct.
 * Errors     -EINVAL: the lab is broken, with file and line; -EPERM: no seccomp here; -ENOMEM,
 *            -EAGAIN (fork). What is wrong with a submission is a result, never an error.
 * Differs    time is processor time of the child, looked at ten times a second; the other
 *            limits count and hit at the same place every time.
 */
#ifndef FL_LAB_GRADE_H
#define FL_LAB_GRADE_H

#include "lab/lab_remote.h"

#define GRADE_WHY	   512	/* bytes of a reason */
#define GRADE_CPU_SECONDS  10	/* to prepare, to run, to judge one question */
#define GRADE_WALL_SECONDS 120	/* and how long a child may be silent */
#define GRADE_RSS_MIB	   1024 /* resident memory of a child */
#define GRADE_JOBS_MAX	   64

/* A question in the order of judging: predictions of a step first. */
struct grade_item {
	const struct lab_step *step;
	const struct lab_question *q;
	unsigned int step_nr, nr; /* "2.1", from 1 */
};

struct grade_verdict {
	bool right;
	enum lab_limit limit;
	char why[GRADE_WHY]; /* one line of printable UTF-8 */
};

struct grade_result {
	char *path; /* as it was given */
	char student[128];
	u32 seed;
	bool broken;	     /* nothing could be judged, all verdicts have the reason */
	char why[GRADE_WHY]; /* of broken */
	enum lab_limit limit;
	double score;
	struct grade_verdict *verdicts; /* one an item */

	/* ---- until it is judged ---- */
	char *text; /* of answers.lua, NULL when it could not be read */
	size_t len;
};

struct grade {
	struct lab_remote *nobody; /* has the lab as nobody in particular sees it */
	const struct lab *lab;
	char *source; /* lab.lua */
	struct lab_images images;
	size_t source_len;
	struct grade_item *items;
	unsigned int nr_items;
	double max;
	struct grade_result *results;
	unsigned int nr;
	void (*progress)(void *ctx, unsigned int done, unsigned int total); /* or NULL */
	void *ctx;
};

int grade_open(const char *dir, struct grade **ret, struct fl_error *err);
/* NULL is fine. */
void grade_close(struct grade *g);

/*
 * Add the submission at @path, a file or a folder with an answers.lua. @student: whose it is if
 * it does not say so, NULL: called like the file or folder. -ENOENT where nothing is.
 */
int grade_add(struct grade *g, const char *path, const char *student, struct fl_error *err);

/* Judge all that was added, @jobs at a time. */
int grade_run(struct grade *g, unsigned int jobs, struct fl_error *err);

#endif
