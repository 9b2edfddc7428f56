/*
 * cli/bench_tmpfs.h - the two halves of `foliolab bench tmpfs`.
 *
 * bench_tmpfs.c counts and checks in virtual time, bench_tmpfs_measure.c times real copies.
 *
 * Invariant  both read files whose folios all have one order.
 * Owner      a run belongs to the caller.
 * Errors     negative errno with a struct fl_error.
 */
#ifndef FL_CLI_BENCH_TMPFS_H
#define FL_CLI_BENCH_TMPFS_H

#include "lab/run.h"
#include "lib/error.h"

struct out;

/*
 * A file of @size bytes (a multiple of 2 MiB) of folios of @order on a machine with real bytes,
 * itself in huge pages of the host where the policy of the mount gives huge folios.
 */
int bench_tmpfs_open(unsigned int order, s64 size, struct run **run, struct fl_error *err);
/* --measure */
int bench_tmpfs_measure(struct out *o, struct fl_error *err);

#endif
