/*
 * host/traced_file.h - a host file whose events are recorded.
 *
 * Owner      host_traced_fini() releases what host_traced_init() filled in.
 * Errors     negative errno with struct fl_error. Where the host does not say where the blocks
 *            are, no block I/O is told to be the file's.
 */
#ifndef FL_HOST_TRACED_FILE_H
#define FL_HOST_TRACED_FILE_H

#include "host/device.h"
#include "host/fiemap.h"
#include "host/import.h"
#include "host/tracefs.h"

struct host_traced {
	const char *path;
	struct host_device dev;
	struct host_layout layout;
};

/* What is known of @path now. */
int host_traced_init(struct host_traced *t, const char *path, struct fl_error *err);
void host_traced_fini(struct host_traced *t);

/* Which events are the file's while the kernel records, and when they are converted. */
struct host_trace_filter host_traced_filter(const struct host_traced *t);
struct import_options host_traced_options(const struct host_traced *t);

/* What a recording says of the machine, and with @t of the file. @t may be NULL. */
void host_traced_info(const struct host_traced *t, struct recording_info *info);

#endif
