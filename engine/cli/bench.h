/*
 * cli/bench.h - published tables beside ours.
 *
 * A bench plays what a publication measured and fills rows and checks; one shape of text and
 * JSON shows them all.
 *
 * Invariant  a check holds exactly when its value is the one wanted.
 * Owner      struct bench_result belongs to the command; kernel and measure are constant strings
 *            or live in the result.
 * Errors     negative errno with a struct fl_error.
 */
#ifndef FL_CLI_BENCH_H
#define FL_CLI_BENCH_H

#include "lib/error.h"
#include "lib/types.h"

#define BENCH_ROWS_MAX 128
#define BENCH_NAME_MAX 32

/* One published number, ours, and what ours must be. */
struct bench_row {
	const char *kernel;
	const char *title;	      /* of the block of rows of this kernel */
	char measure[BENCH_NAME_MAX]; /* "order 5" */
	u64 published;		      /* as it is printed there */
	u64 others;		      /* the part of it that other files of that machine made */
	u64 ours;
};

struct bench_result {
	struct bench_row rows[BENCH_ROWS_MAX];
	unsigned int nr;
};

struct bench {
	const char *name;
	const char *what;    /* what was measured, one sentence */
	const char *measure; /* what the numbers count */
	const char *source;  /* where it was published; lines end in '\n' */
	const char *agree;   /* the last line if all checks hold */
	int (*run)(struct bench_result *result, struct fl_error *err);
};

extern const struct bench bench_dd;

/* What ours must be. */
static inline u64 bench_want(const struct bench_row *row)
{
	return row->published - row->others;
}

#endif
