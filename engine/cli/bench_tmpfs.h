/*
 * cli/bench_tmpfs.h - the parts of `foliolab bench tmpfs`.
 *
 * bench_tmpfs.c counts and checks in virtual time, bench_tmpfs_measure.c times real copies, with
 * the read path of bench_tmpfs_loop.c.
 *
 * Invariant  both read files whose folios all have one order.
 * Owner      a run belongs to the caller.
 * Errors     negative errno with a struct fl_error.
 */
#ifndef FL_CLI_BENCH_TMPFS_H
#define FL_CLI_BENCH_TMPFS_H

#include "lab/run.h"
#include "lib/error.h"
#include "mm/pagemap.h"

struct out;

/*
 * A file of @size bytes (a multiple of 2 MiB) of folios of @order on a machine with real bytes,
 * itself in huge pages of the host where the policy of the mount gives huge folios.
 */
int bench_tmpfs_open(unsigned int order, s64 size, struct run **run, struct fl_error *err);
/* What reading all of the file once took. */
struct bench_tmpfs_pass {
	u64 lookups, copies, ps;
};

/* Read @size bytes of the file in pieces of @bs, in virtual time. */
void bench_tmpfs_pass(struct run *run, u64 bs, s64 size, struct bench_tmpfs_pass *pass);
/* shmem_file_read_iter() with real locks and without virtual time. */
ssize_t bench_tmpfs_read_iter(struct kiocb *iocb, struct iov_iter *to);
/* --measure */
int bench_tmpfs_measure(struct out *o, struct fl_error *err);

#endif
