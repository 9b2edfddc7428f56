/*
 * host/calibrate.h - weights of the cost table from what this host takes.
 *
 * A workload is timed on the host; what the miniature charges for the same workload is known by
 * primitive. The primitives of one group are then scaled together so that both times agree; groups
 * follow each other from the simplest workload on.
 *
 * Owner      the file is made in @dir and gone at the end.
 * Errors     the host's errno with struct fl_error.
 * Differs    wall-clock time of a busy machine: the best of several rounds, and no promise.
 */
#ifndef FL_HOST_CALIBRATE_H
#define FL_HOST_CALIBRATE_H

#include "host/device.h"
#include "machine/costs.h"

#define CALIBRATE_ROWS_MAX 16

/* One workload, predicted with the new weights, and measured. */
struct calibrate_row {
	const char *name;
	u64 predicted_ns, measured_ns;	/* per operation */
};

struct calibration {
	u64 cost_ps[COST_NR];
	struct calibrate_row rows[CALIBRATE_ROWS_MAX];
	unsigned int nr_rows;
	struct host_device dev;
};

/* @dir: a folder on the file system to measure. @progress may be NULL. */
int host_calibrate(const char *dir, struct calibration *cal, void (*progress)(const char *what),
		   struct fl_error *err);

#endif
