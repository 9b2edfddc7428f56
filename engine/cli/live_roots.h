/*
 * cli/live_roots.h - the objects of a run that an expression of 'struct --live' may begin with.
 *
 * machine, super_block, inode, mapping, file, file_ra_state, bdi, mm, vma, zone, and folio[N], the
 * folio that holds page N of the file.
 *
 * Owner      nothing is kept; the run outlives the roots.
 */
#ifndef FL_CLI_LIVE_ROOTS_H
#define FL_CLI_LIVE_ROOTS_H

#include "debuginfo/live.h"
#include "lab/run.h"

/* Roots of @run. */
struct live_roots live_roots_of(const struct run *run);

#endif
