/*
 * trace/trace.h - what happened, told once.
 *
 * Every event is declared in trace/events.def. trace_event() always counts (event x order) and,
 * only while somebody listens, hands a struct trace_event to every sink. Views, tests, the golden
 * player and the recorder are sinks; none of them is known to the miniature.
 *
 * Mirrors    include/linux/tracepoint.h in purpose, include/trace/events/ in names and formats.
 * Invariant  a sink never changes the machine it listens to.
 * Owner      sinks belong to whoever registered them and must be removed before they die.
 * Errors     none; a ring that is full drops its oldest records and counts them.
 */
#ifndef FL_TRACE_TRACE_H
#define FL_TRACE_TRACE_H

#include "lib/types.h"

enum trace_event_id {
#define EVENT(name, system, since, slots, format) EV_##name,
#include "trace/events.def"
#undef EVENT
	EV_NR,
	EV_CONTINUATION = 0xffff, /* second slot of an event, in a ring or a file only */
};

enum trace_rule {
#define RULE(name, sentence) RULE_##name,
#include "trace/rules.def"
#undef RULE
	RULE_NR,
};

/* Counters are kept for orders 0..TRACE_ORDERS-1 (64 KiB pages: buddy order 13). */
#define TRACE_ORDERS 16

/* One event as a sink sees it; what a..f mean is said in events.def. */
struct trace_event {
	u64 ns;	   /* virtual time */
	u16 id;	   /* enum trace_event_id */
	u8 order;  /* folio order, 0 where the event has none */
	u8 cpu;	   /* virtual CPU */
	u32 ino;   /* inode number, 0 where the event belongs to no file */
	u64 index; /* page index, or as events.def says */
	u32 a, b;
	u64 c, d; /* from here on only events of two slots */
	u32 e, f;
};

/* Somebody who listens. Embed it; event() is called for every event, in order. */
struct trace_sink {
	void (*event)(struct trace_sink *sink, const struct trace_event *ev);
	struct trace_sink *next;
};

/* The trace of one machine. */
struct trace {
	u64 count[EV_NR][TRACE_ORDERS]; /* events so far, by order; always kept */
	u64 events;			/* all of them */
	u16 last;			/* enum trace_event_id of the last one */
	struct trace_sink *sinks;	/* listeners, oldest first */
	const u64 *clock_ps;		/* virtual time in picoseconds; owned by the machine */
	u8 cpu;				/* that runs now */
};

/* Static facts about an event, from events.def. */
struct trace_event_info {
	const char *name;
	const char *system;
	const char *since; /* knob name, "ALWAYS" or "OURS" */
	const char *format;
	unsigned int slots;
};

/* @clock_ps outlives the trace. */
void trace_init(struct trace *t, const u64 *clock_ps);
void trace_add_sink(struct trace *t, struct trace_sink *sink);
void trace_remove_sink(struct trace *t, struct trace_sink *sink);

/* NULL for an id outside the table. */
const struct trace_event_info *trace_event_info(unsigned int id);
/* The event called @name, or -ENOENT. */
int trace_event_by_name(const char *name);
/* The sentence of a rule; "" for an unknown one. */
const char *trace_rule_text(unsigned int rule);
/* The rule's identifier, as in rules.def. */
const char *trace_rule_name(unsigned int rule);

/* All events of one kind, whatever their order. */
u64 trace_total(const struct trace *t, enum trace_event_id id);

void trace_dispatch(struct trace *t, struct trace_event *ev);

/* Count @n events of order 0 at once; only where nobody listens. */
static inline void trace_count_many(struct trace *t, enum trace_event_id id, u64 n)
{
	t->count[id][0] += n;
	t->events += n;
	t->last = id;
}

/*
 * Count an event; true if somebody listens, so that hot paths build the struct only then and hand
 * it to trace_dispatch() themselves.
 */
static inline bool trace_count(struct trace *t, enum trace_event_id id, unsigned int order)
{
	t->count[id][order]++;
	t->events++;
	t->last = id;
	return unlikely(t->sinks != NULL);
}

/* Count an event of one slot and tell the sinks. Hot: counting is two increments and a store. */
static inline void trace_event(struct trace *t, enum trace_event_id id, unsigned int order, u32 ino,
			       u64 index, u32 a, u32 b)
{
	if (trace_count(t, id, order)) {
		struct trace_event ev = {
			.id = id, .order = order, .ino = ino, .index = index, .a = a, .b = b};
		trace_dispatch(t, &ev);
	}
}

/* The same for an event of two slots: the caller fills everything but the time. */
static inline void trace_event2(struct trace *t, const struct trace_event *ev)
{
	if (trace_count(t, ev->id, ev->order)) {
		struct trace_event copy = *ev;

		trace_dispatch(t, &copy);
	}
}

#endif
