/*
 * lab/run_ops.h - the operations of a workload, a player for each; run.c decides when.
 *
 * Owner      nothing is kept but what the run has.
 * Errors     negative errno: the miniature has no memory. What a call in it fails with is counted.
 */
#ifndef FL_LAB_RUN_OPS_H
#define FL_LAB_RUN_OPS_H

#include "lab/run.h"

/* A buffer for the largest read or write so far; untouched parts cost nothing. -ENOMEM. */
int run_want_buffer(struct run *run, s64 len, bool writes);

/* Is there a player for it? run_unsupported() says why not. */
bool run_has_player(enum wl_op_type type);
/* Play one operation that has a player, repeats included. */
int run_play(struct run *run, const struct wl_op *op);

#endif
