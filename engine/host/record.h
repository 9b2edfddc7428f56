/*
 * host/record.h - play a workload on the running kernel and write down what its page cache does.
 *
 * The text is a recording as tests/golden/README.md describes it, so that `foliolab golden` and
 * `host diff` compare it with the miniature.
 *
 * Invariant  the file is only read; its cache is dropped before the first operation.
 * Owner      the text is the caller's, free() it.
 * Errors     -EPERM, -EACCES (which right is missing), -EOPNOTSUPP for operations that would
 *            write, -EBUSY if the file's pages stay cached, the host's errno else.
 */
#ifndef FL_HOST_RECORD_H
#define FL_HOST_RECORD_H

#include "host/device.h"
#include "lab/workload.h"

struct host_record_options {
	const char *name; /* of the run */
	bool drop_caches; /* also write 3 to /proc/sys/vm/drop_caches */
};

int host_record(const char *path, const struct workload *w,
		const struct host_record_options *options, char **text_ret, size_t *len_ret,
		struct fl_error *err);

/*
 * Without any rights: cached pages of the file after each operation, one count an operation of
 * @w; the caller frees them. Errors as host_record(), rights aside.
 */
int host_record_counts(const char *path, const struct workload *w, u64 **counts_ret,
		       struct fl_error *err);

#endif
