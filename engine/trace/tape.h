/*
 * trace/tape.h - every event of a run, in order, in memory.
 *
 * What a ring forgets a tape keeps: events are numbered from 0 and found again by number. Records
 * are the 32-byte slots of trace/ring.h.
 *
 * Invariant  an event of two slots lies in two adjacent slots; marks[i] is the slot of event
 *            i * TAPE_STRIDE.
 * Owner      the caller; the slots are one reservation, touched as it fills.
 * Errors     -ENOMEM and -EINVAL from tape_init(). A tape that is full takes nothing more and
 *            counts what it refused.
 */
#ifndef FL_TRACE_TAPE_H
#define FL_TRACE_TAPE_H

#include "trace/ring.h"

#define TAPE_STRIDE 32u

struct tape {
	struct trace_sink sink; /* register this with trace_add_sink() */
	struct trace_record *records;
	u32 *marks; /* slot of every TAPE_STRIDE-th event */
	u64 max_events;
	u64 events;  /* held */
	u64 slots;   /* used */
	u64 refused; /* events that came after it was full */
};

/* Room for @max_events (1 .. 2^31 - 1) of any size. 0, -EINVAL, -ENOMEM. */
int tape_init(struct tape *t, u64 max_events);
void tape_fini(struct tape *t);

void tape_add(struct tape *t, const struct trace_event *ev);

/* Event @nr (< events). */
void tape_get(const struct tape *t, u64 nr, struct trace_event *ev);

/* Only what a search wants to know first: the record of event @nr. */
const struct trace_record *tape_record(const struct tape *t, u64 nr);

/* @slots of a file: how many events they are, -EINVAL if they are not whole events. */
s64 trace_records_check(const struct trace_record *records, u32 slots);

/* Write @ev into one or two slots; returns how many. */
unsigned int trace_record_pack(struct trace_record *rec, const struct trace_event *ev);
/* The event in @rec[0], and @rec[1] if that is a continuation; returns the slots taken. */
unsigned int trace_record_unpack(const struct trace_record *rec, u64 slots, struct trace_event *ev);

#endif
