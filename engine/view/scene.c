/* Moving a scene. */
#include "view/scene_internal.h"

#include <errno.h>
#include <string.h>

/* What belongs to the time before the first event. */
static void set_start(struct scene *s)
{
	memset(&s->state, 0, sizeof(s->state));
	memset(&s->counts, 0, sizeof(s->counts));
	memset(&s->sums, 0, sizeof(s->sums));
	memcpy(s->counts.free, s->info->free, sizeof(s->counts.free));
	histogram_init(&s->counts.latency);
	s->state.op_event = SCENE_NONE;
}

int scene_init(struct scene *s, const struct tape *tape, const struct recording_info *info)
{
	memset(s, 0, sizeof(*s));
	s->tape = tape;
	s->info = info;
	s->page_shift = ilog2(info->page_size);
	xa_cache_init(&s->nodes);
	set_start(s);
	return journal_init(&s->journal);
}

void scene_fini(struct scene *s)
{
	pages_fini(s);
	xa_cache_fini(&s->nodes);
	journal_fini(&s->journal);
}

static void apply(struct scene *s, const struct trace_event *ev)
{
	u64 begin = journal_begin(s);

	event_overwrite(s, ev);
	event_count(s, ev, 1);
	journal_end(s, begin);
}

void scene_feed(struct scene *s, const struct trace_event *ev)
{
	u64 begin = s->journal.pos;

	apply(s, ev);
	s->journal.pos = begin;
}

static unsigned int event_at(const struct scene *s, u64 slot, struct trace_event *ev)
{
	return trace_record_unpack(&s->tape->records[slot], s->tape->slots - slot, ev);
}

/* The slot where the event before the next one begins; there is one. */
static u64 last_slot(const struct scene *s)
{
	u64 slot = s->slot - 1;

	return s->tape->records[slot].id == EV_CONTINUATION ? slot - 1 : slot;
}

bool scene_forward(struct scene *s)
{
	struct trace_event ev;
	unsigned int slots;

	if (s->pos == s->tape->events || s->error)
		return false;
	slots = event_at(s, s->slot, &ev);
	apply(s, &ev);
	if (s->error) {
		journal_undo(s);
		event_count(s, &ev, -1);
		return false;
	}
	s->pos++;
	s->slot += slots;
	return true;
}

bool scene_back(struct scene *s)
{
	struct trace_event ev;

	if (!scene_event(s, &ev))
		return false;
	s->pos--;
	s->slot = last_slot(s);
	event_count(s, &ev, -1);
	journal_undo(s);
	return true;
}

int scene_goto(struct scene *s, u64 pos)
{
	pos = min(pos, s->tape->events);
	while (s->pos > pos)
		scene_back(s);
	while (s->pos < pos && scene_forward(s))
		;
	return s->error;
}

bool scene_event(const struct scene *s, struct trace_event *ev)
{
	if (!s->pos)
		return false;
	event_at(s, last_slot(s), ev);
	return true;
}

u64 scene_ns(const struct scene *s)
{
	return s->pos ? s->tape->records[last_slot(s)].first.ns : 0;
}
