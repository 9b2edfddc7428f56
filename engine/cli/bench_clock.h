/*
 * cli/bench_clock.h - the host's clock, and the middle of what it said.
 *
 * Errors     none.
 */
#ifndef FL_CLI_BENCH_CLOCK_H
#define FL_CLI_BENCH_CLOCK_H

/* Runs of which the middle one is taken. */
#define BENCH_RUNS 7

/* Processor seconds of this thread: what else the host runs meanwhile is not in them. */
double bench_seconds(void);
/* The middle one of BENCH_RUNS values. */
double bench_median(const double *values);
/* The middle one of what @a took by what @b took in the same run. */
double bench_median_ratio(const double *a, const double *b);

#endif
