/*
 * debuginfo/guard.h - let libdwarf read a stranger's file where it can do no harm.
 *
 * The work is done by a forked child that has locked itself in (host/jail.h) with the mapping it
 * inherited; what it prints comes back over a pipe, and so do bytes to be kept. If it is killed,
 * the file was at fault, and that is what is said.
 *
 * Owner      guard_reply_fini() frees what came back.
 * Errors     -errno with struct fl_error: the child's own, or -EINVAL when it died.
 */
#ifndef FL_DEBUGINFO_GUARD_H
#define FL_DEBUGINFO_GUARD_H

#include <stdio.h>

#include "lib/error.h"
#include "lib/types.h"

struct guard_reply {
	char *text; /* what the child printed; a 0 behind it */
	size_t text_size;
	void *keep; /* bytes for the parent, or NULL */
	size_t keep_size;
};

/*
 * Runs in the child: print on @f; may set @keep (memory that lives until the child ends).
 * 0, or -errno with @err filled.
 */
typedef int (*guard_work)(void *ctx, FILE *f, struct guard_reply *keep, struct fl_error *err);

/* @path: the file at fault if the child dies. Without seccomp there is no work: -EPERM. */
int guard_run(const char *path, guard_work work, void *ctx, struct guard_reply *ret,
	      struct fl_error *err);
void guard_reply_fini(struct guard_reply *r);

#endif
