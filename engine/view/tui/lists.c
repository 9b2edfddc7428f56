/* Which events are calls, windows and what the filter lets through: lists that grow with a tape. */
#include <errno.h>
#include <stdlib.h>

#include "view/tui/internal.h"

static bool is_call(u16 id)
{
	return id == EV_fl_read || id == EV_fl_write || id == EV_fl_touch;
}

static int append(struct event_list *list, u64 nr)
{
	if (list->count == list->cap) {
		u64 cap = list->cap ? list->cap * 2 : 1024;
		u32 *more = realloc(list->nr, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		list->nr = more;
		list->cap = cap;
	}
	list->nr[list->count++] = nr;
	return 0;
}

static void move_on(const struct tape *tape, struct event_cursor *c)
{
	c->nr++;
	c->slot++;
	if (c->slot < tape->slots && tape->records[c->slot].id == EV_CONTINUATION)
		c->slot++;
}

int tui_list_events(struct tui_scene *m)
{
	const struct tape *tape = m->scene.tape;
	int ret = 0;

	for (; m->listed.nr < tape->events && !ret; move_on(tape, &m->listed)) {
		const struct trace_record *rec = &tape->records[m->listed.slot];

		if (!m->ino)
			m->ino = rec->ino;
		if (is_call(rec->id))
			ret = append(&m->calls, m->listed.nr);
		else if (rec->id == EV_fl_window)
			ret = append(&m->windows, m->listed.nr);
	}
	return ret;
}

void tui_refilter(struct tui *t)
{
	for (unsigned int i = 0; i < t->nr; i++) {
		t->machines[i].filtered.count = 0;
		t->machines[i].filtered_to = (struct event_cursor){0};
	}
}

bool tui_filter_on(struct tui *t, struct tui_scene *m, u64 events)
{
	const struct tape *tape = m->scene.tape;
	struct event_cursor *c = &m->filtered_to;
	struct trace_event ev;

	if (condition_any(&t->filter))
		return false;
	for (; c->nr < tape->events && events; events--, move_on(tape, c)) {
		trace_record_unpack(&tape->records[c->slot], tape->slots - c->slot, &ev);
		if (condition_matches(&t->filter, m, c->nr, &ev) && append(&m->filtered, c->nr))
			return false;
	}
	return c->nr < tape->events;
}

u64 tui_list_at(const struct event_list *list, u64 pos)
{
	u64 low = 0, high = list->count;

	while (low < high) {
		u64 mid = (low + high) / 2;

		if (list->nr[mid] < pos)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}
