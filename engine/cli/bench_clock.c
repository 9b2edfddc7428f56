#include "cli/bench_clock.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

double bench_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double bench_median(const double *values)
{
	double sorted[BENCH_RUNS];

	memcpy(sorted, values, sizeof(sorted));
	qsort(sorted, BENCH_RUNS, sizeof(sorted[0]), compare_double);
	return sorted[BENCH_RUNS / 2];
}

double bench_median_ratio(const double *a, const double *b)
{
	double ratios[BENCH_RUNS];

	for (unsigned int i = 0; i < BENCH_RUNS; i++)
		ratios[i] = a[i] / b[i];
	return bench_median(ratios);
}
