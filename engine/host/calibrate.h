/*
 * host/calibrate.h - weights of the cost table from what this host takes.
 *
 * Workloads are timed on the host; what the miniature charges for the same workloads is known by
 * primitive, and the weights are those that explain the times best (host/calibrate_fit.h). Rounds
 * are interleaved over the workloads, so that a change of the machine's mood hits all of them; the
 * clock is the processor time of this thread, which nobody else's work is in; of several rounds
 * the fastest counts, since what disturbs a measurement only adds to it. Weights come from the
 * even rounds, what they are compared with from the odd ones.
 *
 * Owner      the file is in @dir without a name and gone at the end, however the end comes.
 * Errors     the host's errno with struct fl_error.
 * Differs    caches shared with busy neighbours still show: @spread says how much.
 */
#ifndef FL_HOST_CALIBRATE_H
#define FL_HOST_CALIBRATE_H

#include "host/calibrate_bare.h"
#include "host/device.h"
#include "machine/costs.h"

#define CALIBRATE_ROWS_MAX 24
/* From here on the machine counts as too busy for the figures to mean much. */
#define CALIBRATE_BUSY 0.25

/* One workload, predicted with the new weights, and measured. */
struct calibrate_row {
	const char *name;
	u64 predicted_ns, measured_ns; /* per operation */
	double spread;		       /* (median - least) / least of the odd rounds */
	bool fitted;		       /* the weights were fitted to it, on other rounds */
};

struct calibration {
	u64 cost_ps[COST_NR];
	struct calibrate_row rows[CALIBRATE_ROWS_MAX];
	unsigned int nr_rows;
	double spread; /* the median of the rows' */
	struct calibrate_bare bare;
	struct host_device dev;
};

#define CALIBRATE_ROUNDS     24
#define CALIBRATE_ROUNDS_MAX 200

/*
 * @dir: a folder on the file system to measure. @rounds: 2 .. CALIBRATE_ROUNDS_MAX, made even.
 * @progress may be NULL.
 */
int host_calibrate(const char *dir, unsigned int rounds, struct calibration *cal,
		   void (*progress)(const char *what), struct fl_error *err);

#endif
