#include "view/timeline.h"

#include <errno.h>
#include <stdlib.h>

/* Windows whose bytes may be under way at once: an event of one looks back no further. */
#define WINDOWS_OPEN 32

void timeline_init(struct timeline *t, const struct tape *tape, u64 page_size)
{
	*t = (struct timeline){.tape = tape, .page_shift = ilog2(page_size)};
}

void timeline_fini(struct timeline *t)
{
	free(t->calls);
	free(t->windows);
	free(t->ops);
	*t = (struct timeline){0};
}

/* The next element of a list of @size bytes each, or NULL. */
static void *push(void **list, size_t *nr, size_t *cap, size_t size)
{
	if (*nr == *cap) {
		size_t want = *cap ? *cap * 2 : 256;
		void *p = realloc(*list, want * size);

		if (!p)
			return NULL;
		*list = p;
		*cap = want;
	}
	return (char *)*list + (*nr)++ * size;
}

static void reach(struct timeline *t, u64 page)
{
	t->pages = max(t->pages, page);
}

static int add_call(struct timeline *t, const struct trace_event *ev)
{
	struct timeline_call *c = push((void **)&t->calls, &t->nr_calls, &t->cap_calls, sizeof(*c));

	if (!c)
		return -ENOMEM;
	*c = (struct timeline_call){
		.ns = ev->ns,
		.latency = ev->c,
		.pos = ev->index,
		.event = t->events,
		.bytes = ev->a,
		.id = ev->id,
		.cpu = ev->cpu,
	};
	t->latency_max = max(t->latency_max, ev->c);
	reach(t, ((ev->index + ev->a) >> t->page_shift) + 1);
	return 0;
}

static int add_window(struct timeline *t, const struct trace_event *ev)
{
	struct timeline_window *w =
		push((void **)&t->windows, &t->nr_windows, &t->cap_windows, sizeof(*w));

	if (!w)
		return -ENOMEM;
	*w = (struct timeline_window){
		.ns = ev->ns,
		.end_ns = ev->ns,
		.start = ev->index,
		.size = ev->a,
		.async_size = ev->b,
		.event = t->events,
		.rule = ev->e,
		.ino = ev->ino,
	};
	if (t->nr_windows > WINDOWS_OPEN)
		t->open = max(t->open, t->nr_windows - WINDOWS_OPEN);
	reach(t, ev->index + ev->a);
	return 0;
}

static int add_op(struct timeline *t, const struct trace_event *ev)
{
	struct timeline_op *op = push((void **)&t->ops, &t->nr_ops, &t->cap_ops, sizeof(*op));

	if (!op)
		return -ENOMEM;
	*op = (struct timeline_op){ev->ns, t->events};
	return 0;
}

/* A folio's bytes are there: the window that asked for it last goes on until now. */
static void bytes_came(struct timeline *t, const struct trace_event *ev)
{
	for (size_t i = t->nr_windows; i-- > t->open;) {
		struct timeline_window *w = &t->windows[i];

		if (w->ino != ev->ino || ev->index - w->start >= w->size)
			continue;
		w->end_ns = max(w->end_ns, ev->ns);
		return;
	}
}

/* What a real kernel tells of reads and windows, as the miniature would. */
static int add_real(struct timeline *t, const struct trace_event *ev)
{
	struct trace_event as = *ev;

	switch (ev->id) {
	case EV_mm_filemap_get_pages:
		as.id = EV_fl_read;
		as.index = ev->index << t->page_shift;
		as.a = (ev->c - ev->index + 1) << t->page_shift;
		as.c = 0;
		return add_call(t, &as);
	case EV_mm_filemap_fault:
		as.id = EV_fl_touch;
		as.index = ev->index << t->page_shift;
		as.a = 1;
		as.c = 0;
		return add_call(t, &as);
	case EV_page_cache_ra_order:
		as.a = ev->b;
		as.b = ev->e;
		break;
	case EV_page_cache_ra_unbounded:
		as.a = ev->c;
		as.b = ev->d;
		break;
	default:
		return 0;
	}
	as.e = RULE_UNTOLD;
	return add_window(t, &as);
}

static int add(struct timeline *t, const struct trace_event *ev)
{
	if (!t->events)
		t->first_ns = ev->ns;
	t->last_ns = max(t->last_ns, ev->ns);
	switch (ev->id) {
	case EV_fl_read:
	case EV_fl_write:
	case EV_fl_touch:
		return add_call(t, ev);
	case EV_fl_window:
		return add_window(t, ev);
	case EV_fl_op:
		return add_op(t, ev);
	case EV_fl_uptodate:
		bytes_came(t, ev);
		return 0;
	default:
		return t->real ? add_real(t, ev) : 0;
	}
}

int timeline_update(struct timeline *t)
{
	const struct tape *tape = t->tape;

	while (t->events < tape->events) {
		struct trace_event ev;
		unsigned int slots =
			trace_record_unpack(&tape->records[t->slot], tape->slots - t->slot, &ev);
		int ret = add(t, &ev);

		if (ret)
			return ret;
		t->slot += slots;
		t->events++;
	}
	return 0;
}

u64 timeline_ns_of(const struct timeline *t, u64 nr)
{
	if (!t->events)
		return 0;
	return tape_record(t->tape, min(nr, t->events - 1))->first.ns;
}

u64 timeline_event_at(const struct timeline *t, u64 ns)
{
	u64 low = 0, high = t->events;

	while (low < high) {
		u64 mid = (low + high) / 2;

		if (tape_record(t->tape, mid)->first.ns <= ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The first of @nr elements of @size bytes, which begin with a time, that is not before @ns. */
static size_t first_at(const void *list, size_t nr, size_t size, u64 ns)
{
	size_t low = 0, high = nr;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (*(const u64 *)((const char *)list + mid * size) < ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

size_t timeline_call_at(const struct timeline *t, u64 ns)
{
	return first_at(t->calls, t->nr_calls, sizeof(*t->calls), ns);
}

size_t timeline_window_at(const struct timeline *t, u64 ns)
{
	return first_at(t->windows, t->nr_windows, sizeof(*t->windows), ns);
}

size_t timeline_op_at(const struct timeline *t, u64 ns)
{
	return first_at(t->ops, t->nr_ops, sizeof(*t->ops), ns);
}
