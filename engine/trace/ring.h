/*
 * trace/ring.h - the last N records of a machine, in 32-byte slots.
 *
 * Mirrors    kernel/trace/ring_buffer.c in purpose: overwrite mode, oldest records go first.
 * Invariant  head - tail <= slots; an event of two slots is kept whole or not at all.
 * Owner      the caller; the slots are one mapping, touched as it fills.
 * Errors     -ENOMEM from trace_ring_init(); recording itself cannot fail.
 */
#ifndef FL_TRACE_RING_H
#define FL_TRACE_RING_H

#include "trace/trace.h"

/* One slot. The second slot of an event has id EV_CONTINUATION and carries c, d, e, f. */
struct trace_record {
	union {
		struct {
			u64 ns;
			u64 index;
			u32 a, b;
		} first;
		struct {
			u64 c, d;
			u32 e, f;
		} second;
	};
	u32 ino;
	u16 id;
	u8 order;
	u8 cpu;
};

_Static_assert(sizeof(struct trace_record) == 32, "a record is 32 bytes");

struct trace_ring {
	struct trace_sink sink; /* register this with trace_add_sink() */
	struct trace_record *records;
	u64 slots;   /* capacity, a power of two */
	u64 head;    /* slots ever written */
	u64 tail;    /* oldest slot still there; a first slot */
	u64 dropped; /* events overwritten */
};

/* A position while reading a ring. */
struct trace_ring_iter {
	const struct trace_ring *ring;
	u64 pos;
};

/* At least @min_slots slots (rounded up to a power of two, at most 2^32). 0 or -ENOMEM, -EINVAL. */
int trace_ring_init(struct trace_ring *r, u64 min_slots);
void trace_ring_fini(struct trace_ring *r);
/* Forget everything recorded. */
void trace_ring_reset(struct trace_ring *r);

void trace_ring_begin(const struct trace_ring *r, struct trace_ring_iter *it);
/* The next event, oldest first; false at the end. */
bool trace_ring_next(struct trace_ring_iter *it, struct trace_event *ev);

#endif
