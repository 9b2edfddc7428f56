/*
 * lab/plot.h - bars, histograms and lines as text and as SVG.
 *
 * A plot is data only; whoever shows it draws it. The same plot gives the same bytes.
 *
 * Owner      plot_init() / plot_fini(); strings are copied and cut.
 * Errors     -ENOMEM, -E2BIG (more than PLOT_MAX values or PLOT_SERIES lines).
 */
#ifndef FL_LAB_PLOT_H
#define FL_LAB_PLOT_H

#include <stdio.h>

#include "lib/types.h"

#define PLOT_MAX    4096
#define PLOT_SERIES 8

enum plot_kind { PLOT_BARS, PLOT_LINE };

struct plot_bar {
	char label[40];
	double value;
};

struct plot_point {
	double x, y;
};

struct plot_series {
	char name[40];
	struct plot_point *points;
	size_t nr;
};

struct plot {
	enum plot_kind kind;
	char title[100], unit[24], x[40], y[40];
	struct plot_bar *bars; /* PLOT_BARS, a histogram's too */
	size_t nr_bars;
	struct plot_series series[PLOT_SERIES]; /* PLOT_LINE */
	unsigned int nr_series;
};

void plot_init(struct plot *p, enum plot_kind kind);
void plot_fini(struct plot *p);

int plot_add_bar(struct plot *p, const char *label, double value);
/* A further line; points go to the last one. */
int plot_add_series(struct plot *p, const char *name);
int plot_add_point(struct plot *p, double x, double y);

/* "%.4g", or all digits of a whole number. */
char *plot_number(double v, char *buf, size_t n);

/* At most @width columns; ends with a newline. */
void plot_text(const struct plot *p, FILE *f, unsigned int width);
void plot_svg(const struct plot *p, FILE *f);

#endif
