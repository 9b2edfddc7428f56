#include "trace/ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

static struct trace_record *slot(const struct trace_ring *r, u64 pos)
{
	return &r->records[pos & (r->slots - 1)];
}

/* Make room for @n more slots by dropping whole events from the tail. */
static void ring_make_room(struct trace_ring *r, unsigned int n)
{
	while (r->head + n - r->tail > r->slots) {
		r->tail++;
		if (r->tail < r->head && slot(r, r->tail)->id == EV_CONTINUATION)
			r->tail++;
		r->dropped++;
	}
}

static void ring_event(struct trace_sink *sink, const struct trace_event *ev)
{
	struct trace_ring *r = container_of(sink, struct trace_ring, sink);
	unsigned int n = trace_event_info(ev->id)->slots;
	struct trace_record *rec;

	ring_make_room(r, n);
	rec = slot(r, r->head++);
	rec->first.ns = ev->ns;
	rec->first.index = ev->index;
	rec->first.a = ev->a;
	rec->first.b = ev->b;
	rec->ino = ev->ino;
	rec->id = ev->id;
	rec->order = ev->order;
	rec->cpu = ev->cpu;
	if (n < 2)
		return;
	rec = slot(r, r->head++);
	rec->second.c = ev->c;
	rec->second.d = ev->d;
	rec->second.e = ev->e;
	rec->second.f = ev->f;
	rec->ino = ev->ino;
	rec->id = EV_CONTINUATION;
	rec->order = 0;
	rec->cpu = ev->cpu;
}

int trace_ring_init(struct trace_ring *r, u64 min_slots)
{
	u64 slots = roundup_pow_of_two(max_t(u64, min_slots, 2));
	void *p;

	memset(r, 0, sizeof(*r));
	if (slots > 1ULL << 32)
		return -EINVAL;
	p = mmap(NULL, slots * sizeof(*r->records), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return -ENOMEM;
	r->records = p;
	r->slots = slots;
	r->sink.event = ring_event;
	return 0;
}

void trace_ring_fini(struct trace_ring *r)
{
	if (r->records)
		munmap(r->records, r->slots * sizeof(*r->records));
	memset(r, 0, sizeof(*r));
}

void trace_ring_reset(struct trace_ring *r)
{
	r->head = r->tail = r->dropped = 0;
}

void trace_ring_begin(const struct trace_ring *r, struct trace_ring_iter *it)
{
	it->ring = r;
	it->pos = r->tail;
}

bool trace_ring_next(struct trace_ring_iter *it, struct trace_event *ev)
{
	const struct trace_ring *r = it->ring;
	const struct trace_record *rec;

	if (it->pos >= r->head)
		return false;
	rec = slot(r, it->pos++);
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
	if (it->pos < r->head && slot(r, it->pos)->id == EV_CONTINUATION) {
		rec = slot(r, it->pos++);
		ev->c = rec->second.c;
		ev->d = rec->second.d;
		ev->e = rec->second.e;
		ev->f = rec->second.f;
	}
	return true;
}
