/*
 * cli/bench.h - published tables beside ours.
 *
 * A bench plays what a publication measured and fills rows and checks; one shape of text and
 * JSON shows them all.
 *
 * Invariant  a check holds exactly when its value stands to the one wanted as its relation says;
 *            a bench without checks of its own wants every row to be published - others.
 * Owner      struct bench_result belongs to the command; kernel and measure are constant strings
 *            or live in the result.
 * Errors     negative errno with a struct fl_error.
 */
#ifndef FL_CLI_BENCH_H
#define FL_CLI_BENCH_H

#include "lib/error.h"
#include "lib/types.h"

#define BENCH_ROWS_MAX	 128
#define BENCH_NAME_MAX	 32
#define BENCH_CHECKS_MAX 160
#define BENCH_CHECK_MAX	 96

/* One published number, ours, and what ours must be. */
struct bench_row {
	const char *kernel;
	const char *title;	      /* of the block of rows of this kernel */
	char measure[BENCH_NAME_MAX]; /* "order 5" */
	u64 published;		      /* as it is printed there */
	u64 others;		      /* the part of it that other files of that machine made */
	u64 ours;
};

enum bench_relation { BENCH_EQUAL, BENCH_BELOW, BENCH_AT_MOST, BENCH_ABOVE };

/* Something the rows must show beside their own numbers. */
struct bench_check {
	char name[BENCH_CHECK_MAX];
	u64 value, want;
	enum bench_relation relation; /* of value to want */
};

struct bench_result {
	struct bench_check checks[BENCH_CHECKS_MAX]; /* none: rows are checked */
	unsigned int nr_checks;
	char account[12288]; /* text between source and checks; "" if there is none */
	struct bench_row rows[BENCH_ROWS_MAX];
	unsigned int nr;
};

struct out;

struct bench {
	const char *name;
	const char *what;    /* what was measured, one sentence */
	const char *measure; /* what the numbers count */
	const char *source;  /* where it was published; lines end in '\n' */
	const char *agree;   /* the last line if all checks hold */
	int (*run)(struct bench_result *result, struct fl_error *err);
	bool table; /* the account shows the rows */
	/* --measure: time the real thing on the host and print it; NULL if there is none. */
	int (*measure_host)(struct out *o, struct fl_error *err);
};

extern const struct bench bench_dd, bench_mmap, bench_tmpfs, bench_vm, bench_fio_ext4;

/* Add a check. */
void bench_check(struct bench_result *result, const char *name, u64 value, u64 want,
		 enum bench_relation relation);

/* What ours must be. */
static inline u64 bench_want(const struct bench_row *row)
{
	return row->published - row->others;
}

#endif
