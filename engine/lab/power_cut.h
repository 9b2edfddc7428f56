/*
 * lab/power_cut.h - what a power cut leaves of a workload's writes.
 *
 * The workload is played until the disk of run_config.power_cut loses its power, another machine
 * mounts what is left and replays the journal, and every byte of the file is held against the
 * writes that touched it.
 *
 * Invariant  a row's survived <= its bytes; bytes of all rows, zeros and others make up the file.
 * Owner      power_cut_play() gives the rows to the caller, power_cut_fini() ends them.
 * Errors     those of run_open() and run_op(); -E2BIG for a file that is too large to compare.
 */
#ifndef FL_LAB_POWER_CUT_H
#define FL_LAB_POWER_CUT_H

#include "fs/jbd2/jbd2.h"
#include "lab/run.h"

/* Largest file whose bytes are compared one by one. */
#define POWER_CUT_MAX_SIZE (64LL << 20)

/* One pwrite operation. */
struct power_cut_row {
	struct wl_op op;
	bool synced;  /* an fsync returned after it */
	u64 bytes;    /* of the file that were its, when the power went out */
	u64 survived; /* of these, found again */
};

struct power_cut {
	bool out;	 /* the power did go out */
	u64 writes;	 /* of the disk, completed */
	struct wl_op op; /* the operation it went out in */
	struct recovery_info recovery;
	s64 size_before, size_after;
	unsigned int extents; /* of the file, afterwards */
	s64 bad_groups;	      /* whose bitmaps do not fit the extents: 0, always */
	struct power_cut_row *rows;
	size_t nr_rows;
	u64 zeros, others; /* bytes no write had left there: zeros, and all else */
	u64 bytes_lost;	   /* behind the end of the file, now */
};

int power_cut_play(const struct run_config *config, const struct workload *w, struct power_cut *ret,
		   struct fl_error *err);
void power_cut_fini(struct power_cut *p);

#endif
