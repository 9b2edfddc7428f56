/*
 * host/calibrate_fit.h - weights that explain measured times.
 *
 * Costs are scaled in groups: what always occurs together cannot be told apart from outside.
 * The scales are those with the smallest sum of squared relative errors over the rows; a group
 * that the rows say little about stays near the default.
 */
#ifndef FL_HOST_CALIBRATE_FIT_H
#define FL_HOST_CALIBRATE_FIT_H

#include "machine/costs.h"

/* What one workload charged, and what it took. */
struct fit_row {
	u64 units[COST_NR];
	u64 measured_ns;
};

/* Scale @cost_ps[COST_NR] in place; no cost becomes less than a twentieth or more than 50 times. */
void calibrate_fit(const struct fit_row *rows, unsigned int nr, u64 *cost_ps);

#endif
