/*
 * host/play.h - operations of a workload as system calls on a host file.
 *
 * Invariant  the file is never written.
 * Owner      host_player_open() and host_player_close() bracket the descriptors and the mapping.
 * Errors     negative errno; an operation that writes is -EOPNOTSUPP.
 */
#ifndef FL_HOST_PLAY_H
#define FL_HOST_PLAY_H

#include "host/device.h"
#include "lab/workload.h"

#define HOST_DESCRIPTORS 4

struct host_player {
	const char *path;
	int fds[HOST_DESCRIPTORS]; /* -1 until first used */
	unsigned int current;
	struct host_device dev;
	char *buf; /* where reads go */
	size_t buf_size;
	char *map; /* of the whole file, or NULL */
	size_t map_size;
	bool no_wait; /* do not wait for the disk: the time counts */
};

/* Open the first descriptor; reads need a buffer of @w's longest one. */
int host_player_open(struct host_player *p, const char *path, const struct workload *w,
		     struct fl_error *err);
void host_player_close(struct host_player *p);

/* Take the file's pages out of the cache. -EBUSY with @err if some stay. */
int host_player_drop(struct host_player *p, struct fl_error *err);

/* One turn of the operation; repeats are the caller's. Waits for the disk where that matters. */
int host_player_op(struct host_player *p, const struct wl_op *op, u64 turn);

/* Can it be played here? NULL, or why not. */
const char *host_unsupported(enum wl_op_type type);

#endif
