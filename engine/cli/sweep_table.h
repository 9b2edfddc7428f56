/*
 * cli/sweep_table.h - what a sweep measured: a row a point, as CSV, JSON or curves.
 *
 * A row travels as one line of JSON, {"grid": "0123456789abcdef", "point": 3, "measures":
 * {"virtual_ns": 123}}: it can be made on another machine and be merged here.
 *
 * Invariant  a row that is there is complete; the same grid gives the same rows everywhere.
 * Owner      sweep_table_init() to sweep_table_fini(); the grid is the caller's and stays.
 * Errors     -errno with a struct fl_error.
 */
#ifndef FL_CLI_SWEEP_TABLE_H
#define FL_CLI_SWEEP_TABLE_H

#include "cli/common.h"
#include "cli/sweep_grid.h"

struct sweep_table {
	const struct sweep_grid *grid;
	double *values;	 /* points x measures; whole numbers are exact up to 2^53 */
	bool *there;	 /* a point */
	unsigned int nr; /* points that are there */
};

int sweep_table_init(struct sweep_table *t, const struct sweep_grid *g, struct fl_error *err);
void sweep_table_fini(struct sweep_table *t);

/* Play @point and take its row. */
int sweep_play(struct sweep_table *t, unsigned int point, struct fl_error *err);

/* Print the row of @point, which is there, as its line. */
void sweep_print_row(FILE *f, const struct sweep_table *t, unsigned int point);

/*
 * Take the rows of the file @path. -EINVAL for a line that is no row or of another grid or
 * contradicts a row that is there.
 */
int sweep_merge(struct sweep_table *t, const char *path, struct fl_error *err);

/* For cli_show(): the rows as CSV and as JSON. */
void sweep_csv(struct out *o, const void *table);
cJSON *sweep_json(const void *table);

/*
 * Curves of measure @y over the axis @x (NULL: the first measure, the first axis of several numbers
 * but seed) on @path as SVG: one for each combination of the other axes, the mean over seeds.
 * -EINVAL for names that are none, -E2BIG for more than PLOT_SERIES curves.
 */
int sweep_svg(const struct sweep_table *t, const char *x, const char *y, const char *path,
	      struct fl_error *err);

#endif
