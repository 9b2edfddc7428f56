/*
 * lab/lab_progress.h - how far a student is in one lab, kept in a file.
 *
 * Invariant  the file on disk is always a whole one: it is replaced, never rewritten.
 * Owner      lab_progress_load() fills the struct, lab_progress_fini() frees its items.
 * Errors     -EINVAL for a file that is not ours, errno; with struct fl_error.
 */
#ifndef FL_LAB_LAB_PROGRESS_H
#define FL_LAB_LAB_PROGRESS_H

#include "lab/lab.h"
#include "lab/lab_find.h"

enum lab_status { LAB_OPEN, LAB_RIGHT, LAB_REVEALED };

struct lab_item {
	char id[LAB_ID_MAX];
	enum lab_status status;
	double points; /* earned */
	double lost;   /* by hints and wrong choices so far */
	unsigned int hints, wrong;
	char *given; /* last answer as typed, or NULL */
};

struct lab_progress {
	char path[LAB_PATH];
	char student[128];	 /* "" while nobody began */
	unsigned int steps_done; /* in the order of the lab */
	struct lab_item *items;
	unsigned int nr;
};

/* The progress in lab @name; all empty if there is no file. */
int lab_progress_load(const char *name, struct lab_progress *ret, struct fl_error *err);
/* Write it beside and rename. Makes the folder. */
int lab_progress_save(const struct lab_progress *p, const char *name, struct fl_error *err);
void lab_progress_fini(struct lab_progress *p);

/* The item of a question, made if need be; NULL without memory. */
struct lab_item *lab_progress_item(struct lab_progress *p, const char *id);
double lab_progress_points(const struct lab_progress *p);

#endif
