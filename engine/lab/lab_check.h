/*
 * lab/lab_check.h - proving that a lab is sound: `foliolab lab check`.
 *
 * Errors     -EINVAL, -ENOENT: the lab is broken (file and line), nothing was proven. What is
 *            merely wrong is counted and told on the stream.
 */
#ifndef FL_LAB_LAB_CHECK_H
#define FL_LAB_LAB_CHECK_H

#include "lab/lab.h"

struct lab_check {
	FILE *out;		/* a line for each thing that does not hold */
	unsigned int students;	/* whose numbers are looked at */
	unsigned int questions; /* seen; out */
	unsigned int failures;	/* out */
	void (*progress)(void *ctx, unsigned int done, unsigned int total); /* or NULL */
	void *ctx;
};

int lab_check(const char *dir, struct lab_check *check, struct fl_error *err);

#endif
