/*
 * cli/bench_fio.h - the parts of `foliolab bench fio-ext4`.
 *
 * bench_fio_ext4.c plays the published table in virtual time, bench_fio_measure.c times real
 * copies through the same stacks.
 *
 * Owner      the tables are constant.
 * Errors     negative errno with a struct fl_error.
 */
#ifndef FL_CLI_BENCH_FIO_H
#define FL_CLI_BENCH_FIO_H

#include "lib/error.h"
#include "lib/types.h"

struct out;

enum { OP_READ, OP_WRITE };
enum { DISK_HOLE, DISK_RAM, DISK_NVME, DISK_CACHE };
enum { BASE, LARGE, IOMAP, NR_STACKS };

#define FIO_JOBS 39

struct fio_stack {
	const char *name, *kernel, *fs;
};

/* A row as it was published. */
struct fio_job {
	int op, disk;
	bool overwrite, sync, writeback;
	s64 bs; /* bytes */
	u64 base;
	u64 iops[NR_STACKS];
	int percent[NR_STACKS]; /* against base */
};

extern const struct fio_stack bench_fio_stacks[NR_STACKS];
extern const struct fio_job bench_fio_jobs[FIO_JOBS];

/* --measure */
int bench_fio_measure(struct out *o, struct fl_error *err);

#endif
