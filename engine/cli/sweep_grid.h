/*
 * cli/sweep_grid.h - what a sweep plays: every combination of what its grid file lists.
 *
 *     # readahead window against waste
 *     workload seq   read 4k 2048
 *     workload jumps pread 1m 64k; pread 8m 64k
 *     kernel   v6.7 ab4443fe3ca6
 *     ra-kb    64 128 256
 *     seed     1..5
 *     measure  virtual_ns pages.wasted
 *
 * A line is a machine option without its dashes and the values it takes (A..B: whole numbers; an
 * option without value takes on and off), a named workload, or measures: keys of the JSON of
 * `foliolab run`, dots between. '#' starts a comment. A point is one combination, numbered from 0;
 * the last line turns fastest, workloads slowest.
 *
 * Invariant  every value was accepted by its option alone; there is a workload and a measure.
 * Owner      sweep_grid_load() to sweep_grid_fini(), which also takes an empty one.
 * Errors     -errno with a struct fl_error that names file and line: -EINVAL, -ERANGE, -E2BIG past
 *            a limit below, -ENOMEM, errno of the file.
 */
#ifndef FL_CLI_SWEEP_GRID_H
#define FL_CLI_SWEEP_GRID_H

#include "cli/machine_options.h"

#define SWEEP_TEXT_MAX	   65536 /* bytes of a grid */
#define SWEEP_AXES_MAX	   24
#define SWEEP_VALUES_MAX   1000 /* of an axis */
#define SWEEP_MEASURES_MAX 16
#define SWEEP_POINTS_MAX   100000

/* A line of the grid. The values of the axis of workloads are the names. */
struct sweep_axis {
	const char *name;
	int option; /* of machine_option_set(); -1: workloads */
	bool flag;  /* takes on and off */
	unsigned int line;
	const char **values;
	unsigned int nr;
};

struct sweep_grid {
	const char *path;
	char *text; /* names and values point into it */
	u64 id;	    /* of the text: results of another grid are told apart */
	struct sweep_axis axes[SWEEP_AXES_MAX]; /* axes[0]: workloads */
	unsigned int nr_axes;
	const char *workloads[SWEEP_VALUES_MAX]; /* operations of axes[0].values */
	const char *measures[SWEEP_MEASURES_MAX];
	unsigned int nr_measures;
	unsigned int points;
	char **made; /* values that the text does not hold */
	size_t nr_made;
};

/* Read the file @path; the string must stay. */
int sweep_grid_load(struct sweep_grid *g, const char *path, struct fl_error *err);
void sweep_grid_fini(struct sweep_grid *g);

/* Which value of axis @axis point @point has. */
unsigned int sweep_value(const struct sweep_grid *g, unsigned int point, unsigned int axis);

/* The machine of @point, checked as far as the command line would be. */
int sweep_machine(const struct sweep_grid *g, unsigned int point, struct machine_options *ret,
		  struct fl_error *err);

/* The operations of @point. */
static inline const char *sweep_workload(const struct sweep_grid *g, unsigned int point)
{
	return g->workloads[sweep_value(g, point, 0)];
}

#endif
