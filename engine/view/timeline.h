/*
 * view/timeline.h - a whole tape at a glance: what happened when, for pictures over time.
 *
 * A scene knows one moment; this knows of all of them the calls, windows and operations. It grows
 * with its tape.
 *
 * Invariant  calls, windows and ops are in the tape's order; so are their times on one CPU.
 * Owner      the tape belongs to the caller and outlives the timeline.
 * Errors     -ENOMEM: what was read so far is kept.
 */
#ifndef FL_VIEW_TIMELINE_H
#define FL_VIEW_TIMELINE_H

#include "trace/tape.h"

/* A read, write or touch that returned. */
struct timeline_call {
	u64 ns;	     /* when it returned */
	u64 latency; /* ns */
	u64 pos;     /* byte in the file */
	u32 event, bytes;
	u8 id; /* EV_fl_read, EV_fl_write, EV_fl_touch */
	u8 cpu;
};

/* A readahead window and when the last of its pages had its bytes. */
struct timeline_window {
	u64 ns, end_ns;
	u64 start; /* page */
	u32 size, async_size;
	u32 event, rule, ino;
};

struct timeline_op {
	u64 ns;
	u32 event;
};

struct timeline {
	const struct tape *tape;
	bool real;  /* a real kernel's: its own events tell of reads and windows; set after init */
	u64 events; /* of the tape, read so far */
	u64 slot;   /* where the next begins */
	u64 first_ns, last_ns;
	u64 pages;	 /* one past the largest page that any of them names */
	u64 latency_max; /* ns */
	unsigned int page_shift;
	struct timeline_call *calls;
	struct timeline_window *windows;
	struct timeline_op *ops;
	size_t nr_calls, nr_windows, nr_ops;
	size_t cap_calls, cap_windows, cap_ops;
	size_t open; /* first window that may still wait for bytes */
};

/* Nothing is read yet. @page_size: of the machine, a power of two. */
void timeline_init(struct timeline *t, const struct tape *tape, u64 page_size);
void timeline_fini(struct timeline *t);

/* Read what the tape got since. 0, -ENOMEM. */
int timeline_update(struct timeline *t);

/* The number of events up to virtual time @ns. */
u64 timeline_event_at(const struct timeline *t, u64 ns);
/* The time of event @nr (from 0), or of the last one. */
u64 timeline_ns_of(const struct timeline *t, u64 nr);
/* The first call, window or op that is not before @ns; their count if there is none. */
size_t timeline_call_at(const struct timeline *t, u64 ns);
size_t timeline_window_at(const struct timeline *t, u64 ns);
size_t timeline_op_at(const struct timeline *t, u64 ns);

#endif
