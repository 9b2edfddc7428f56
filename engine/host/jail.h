/*
 * host/jail.h - lock a forked child in before it touches bytes of strangers.
 *
 * Invariant  behind jail_enter() the process has the descriptors it was given and no others;
 *            it can read the one at a position, talk over the other, get memory, and end; with
 *            @files it can take descriptors from the other side and read those too. Every other
 *            system call kills it, so do more memory or time than it was allowed.
 * Owner      meant for a child that ends with _exit(); nothing is undone.
 * Errors     -errno; the caller must then give up. Without seccomp there is no jail and no work.
 */
#ifndef FL_HOST_JAIL_H
#define FL_HOST_JAIL_H

#include "lib/types.h"

/* The descriptors inside. */
#define JAIL_FILE 3 /* pread only */
#define JAIL_TALK 4 /* read and write */

struct jail_limits {
	u64 memory;		  /* bytes on top of what the process has already */
	unsigned int cpu_seconds; /* SIGXCPU when they are used up */
	bool files; /* read-only ones may come in over the socket: recvmsg, and looks at them */
};

/* Move @file (-1: there is none) and @talk to their places and lock the door. */
int jail_enter(int file, int talk, const struct jail_limits *limits);

#endif
