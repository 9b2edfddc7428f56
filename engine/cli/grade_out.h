/*
 * cli/grade_out.h - grades as people and autograders want them.
 *
 * Invariant  no format holds a time or an address: the same grades are the same bytes.
 * Errors     -ENOMEM; write errors wait in struct out.
 */
#ifndef FL_CLI_GRADE_OUT_H
#define FL_CLI_GRADE_OUT_H

#include "cli/out.h"
#include "lab/grade.h"

enum grade_format {
	GRADE_TEXT,
	GRADE_JSON,
	GRADE_CSV,
	GRADE_JUNIT,
	GRADE_GRADESCOPE,
	GRADE_PRAIRIELEARN,
	GRADE_NR_FORMATS,
};

int grade_write(struct out *o, const struct grade *g, enum grade_format format);

#endif
