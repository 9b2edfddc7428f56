/*
 * host/tracefs.h - the running kernel's tracepoints, in a buffer of our own.
 *
 * Uses       Documentation/trace/ftrace.rst: an instance below tracefs, events filtered to one
 *            file, read back as text.
 * Invariant  nothing outside the instance is touched; the instance is gone after
 *            host_tracefs_close(), and one left behind by a killed process goes with the next open.
 * Owner      one struct an instance; the caller closes it.
 * Errors     -EACCES or -EPERM with the missing right named, -ENOENT without tracefs, others as
 *            the kernel says.
 * Differs    where tracefs is not mounted it is mounted in a mount namespace of this process, so
 *            that nobody else sees it.
 */
#ifndef FL_HOST_TRACEFS_H
#define FL_HOST_TRACEFS_H

#include "lib/error.h"
#include "lib/types.h"

struct host_tracefs {
	char dir[128]; /* of the instance */
	int pipe;      /* its trace_pipe, not blocking */
	char *text;    /* what was read and not yet taken, by whole lines */
	size_t len, cap;
	u64 lost; /* events the kernel dropped because its buffer was full */
};

/* Called for each line of the trace, without its newline. */
typedef void (*host_trace_line_t)(void *ctx, const char *line);

int host_tracefs_open(struct host_tracefs *t, struct fl_error *err);
void host_tracefs_close(struct host_tracefs *t);

/* Is tracing possible? 0, or why not in @err. Leaves nothing behind. */
int host_tracefs_check(struct fl_error *err);

/* What events are filtered to: the kernel's numbers, major << 20 | minor. */
struct host_trace_filter {
	u64 ino;
	u32 dev, disk; /* disk: where the device is a partition of, or 0 */
};

/*
 * Record the event "system/name"; with @filter not NULL only what concerns that file: by inode and
 * device, by inode, or by device, as far as the event has these fields. -ENOENT if this kernel has
 * no such event, -EINVAL if it has none of the fields.
 */
int host_tracefs_enable(struct host_tracefs *t, const char *event,
			const struct host_trace_filter *filter);

/* Record only what @pid and the processes it starts do. 0 or negative errno. */
int host_tracefs_follow(struct host_tracefs *t, int pid);

/* Hand over what has been recorded so far. 0 or negative errno. */
int host_tracefs_read(struct host_tracefs *t, host_trace_line_t line, void *ctx);

#endif
