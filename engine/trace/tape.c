#include "trace/tape.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

static void *reserve(u64 len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static u64 records_size(const struct tape *t)
{
	return t->max_events * 2 * sizeof(*t->records);
}

static u64 marks_size(const struct tape *t)
{
	return (t->max_events / TAPE_STRIDE + 1) * sizeof(*t->marks);
}

static void tape_event(struct trace_sink *sink, const struct trace_event *ev)
{
	tape_add(container_of(sink, struct tape, sink), ev);
}

int tape_init(struct tape *t, u64 max_events)
{
	memset(t, 0, sizeof(*t));
	if (!max_events || max_events > INT32_MAX)
		return -EINVAL;
	t->max_events = max_events;
	t->records = reserve(records_size(t));
	t->marks = reserve(marks_size(t));
	t->sink.event = tape_event;
	if (t->records && t->marks)
		return 0;
	tape_fini(t);
	return -ENOMEM;
}

void tape_fini(struct tape *t)
{
	if (t->records)
		munmap(t->records, records_size(t));
	if (t->marks)
		munmap(t->marks, marks_size(t));
	memset(t, 0, sizeof(*t));
}

unsigned int trace_record_pack(struct trace_record *rec, const struct trace_event *ev)
{
	*rec = (struct trace_record){
		.first = {.ns = ev->ns, .index = ev->index, .a = ev->a, .b = ev->b},
		.ino = ev->ino,
		.id = ev->id,
		.order = ev->order,
		.cpu = ev->cpu,
	};
	if (trace_event_info(ev->id)->slots < 2)
		return 1;
	rec[1] = (struct trace_record){
		.second = {.c = ev->c, .d = ev->d, .e = ev->e, .f = ev->f},
		.ino = ev->ino,
		.id = EV_CONTINUATION,
		.cpu = ev->cpu,
	};
	return 2;
}

unsigned int trace_record_unpack(const struct trace_record *rec, u64 slots, struct trace_event *ev)
{
	*ev = (struct trace_event){
		.ns = rec->first.ns,
		.index = rec->first.index,
		.a = rec->first.a,
		.b = rec->first.b,
		.ino = rec->ino,
		.id = rec->id,
		.order = rec->order,
		.cpu = rec->cpu,
	};
	if (slots < 2 || rec[1].id != EV_CONTINUATION)
		return 1;
	ev->c = rec[1].second.c;
	ev->d = rec[1].second.d;
	ev->e = rec[1].second.e;
	ev->f = rec[1].second.f;
	return 2;
}

s64 trace_records_check(const struct trace_record *records, u32 slots)
{
	s64 events = 0;

	for (u32 i = 0; i < slots; i++) {
		bool second = records[i].id == EV_CONTINUATION;

		if (second && (!i || records[i - 1].id == EV_CONTINUATION))
			return -EINVAL;
		events += !second;
	}
	return events;
}

void tape_add(struct tape *t, const struct trace_event *ev)
{
	if (t->events == t->max_events) {
		t->refused++;
		return;
	}
	if (t->events % TAPE_STRIDE == 0)
		t->marks[t->events / TAPE_STRIDE] = t->slots;
	t->slots += trace_record_pack(&t->records[t->slots], ev);
	t->events++;
}

const struct trace_record *tape_record(const struct tape *t, u64 nr)
{
	u64 slot = t->marks[nr / TAPE_STRIDE];

	for (u64 left = nr % TAPE_STRIDE; left; left--)
		slot += 1 + (slot + 1 < t->slots && t->records[slot + 1].id == EV_CONTINUATION);
	return &t->records[slot];
}

void tape_get(const struct tape *t, u64 nr, struct trace_event *ev)
{
	const struct trace_record *rec = tape_record(t, nr);

	trace_record_unpack(rec, t->slots - (rec - t->records), ev);
}
