/* Moving a scene. */
#include "view/scene_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Showing a keyframe costs about as much as so many events. */
#define KEYFRAME_COST 4096u
/* Of a long way only the last events can be taken back one by one. */
#define JOURNAL_KEEP 16384u

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

static void init_scene(struct scene *s, const struct tape *tape, const struct recording_info *info)
{
	memset(s, 0, sizeof(*s));
	s->tape = tape;
	s->info = info;
	s->page_shift = ilog2(info->page_size);
	xa_cache_init(&s->nodes);
	set_start(s);
}

int scene_init(struct scene *s, const struct tape *tape, const struct recording_info *info)
{
	init_scene(s, tape, info);
	return journal_init(&s->journal) || keyframes_init(s) ? -ENOMEM : 0;
}

static void end_scout(struct scene *s)
{
	if (!s->scout)
		return;
	pages_fini(s->scout);
	xa_cache_fini(&s->scout->nodes);
	free(s->scout);
	s->scout = NULL;
}

void scene_fini(struct scene *s)
{
	end_scout(s);
	keyframes_fini(s);
	pages_fini(s);
	xa_cache_fini(&s->nodes);
	journal_fini(&s->journal);
}

static void apply(struct scene *s, const struct trace_event *ev)
{
	journal_begin(s);
	event_overwrite(s, ev);
	event_count(s, ev, 1);
	journal_end(s);
}

void scene_feed(struct scene *s, const struct trace_event *ev)
{
	s->journal.off = true;
	apply(s, ev);
	s->journal.off = false;
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

	if (s->pos >= s->tape->events || s->error)
		return false;
	if (s->pos >= s->keyframes->due)
		keyframes_keep(s);
	slots = event_at(s, s->slot, &ev);
	apply(s, &ev);
	if (s->error) {
		if (journal_events(&s->journal))
			journal_undo(s);
		event_count(s, &ev, -1);
		return false;
	}
	s->pos++;
	s->slot += slots;
	return true;
}

static void undo(struct scene *s)
{
	struct trace_event ev;

	s->slot = last_slot(s);
	s->pos--;
	event_at(s, s->slot, &ev);
	event_count(s, &ev, -1);
	journal_undo(s);
}

bool scene_back(struct scene *s)
{
	if (!s->pos)
		return false;
	if (journal_events(&s->journal))
		undo(s);
	else
		scene_goto(s, s->pos - 1);
	return !s->error;
}

/* Forward; what could be taken back on the way is kept for the end of it only. */
static void forward_to(struct scene *s, u64 pos)
{
	if (pos - s->pos > 2 * JOURNAL_KEEP) {
		journal_forget(&s->journal);
		s->journal.off = true;
		while (s->pos < pos - JOURNAL_KEEP && scene_forward(s))
			;
		s->journal.off = false;
	}
	while (s->pos < pos && scene_forward(s))
		;
}

/* Is a keyframe the shorter way to @pos? */
static bool by_keyframe(const struct scene *s, u64 pos, const struct scene_keyframe *k)
{
	u64 way = pos > s->pos ? pos - s->pos : s->pos - pos;

	if (!k)
		return false;
	if (pos < s->pos && journal_events(&s->journal) < way)
		return true;
	return pos - keyframe_pos(k) + KEYFRAME_COST < way;
}

int scene_goto(struct scene *s, u64 pos)
{
	const struct scene_keyframe *k;

	pos = min(pos, s->tape->events);
	k = keyframes_find(s, pos);
	if (by_keyframe(s, pos, k))
		keyframe_show(s, k);
	while (s->pos > pos && journal_events(&s->journal))
		undo(s);
	if (s->pos > pos)
		s->error = -ENOMEM; /* there was none for a keyframe */
	forward_to(s, pos);
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

/* ---- looking ahead ---- */

/* A scene without a journal that stands at the last keyframe. */
static struct scene *start_scout(struct scene *s)
{
	const struct scene_keyframe *k = keyframes_find(s, ~0ull);
	struct scene *scout = k ? malloc(sizeof(*scout)) : NULL;

	if (!scout)
		return NULL;
	init_scene(scout, s->tape, s->info);
	scout->journal.off = true;
	scout->keyframes = s->keyframes;
	keyframe_show(scout, k);
	return scout;
}

bool scene_look_ahead(struct scene *s, u64 events)
{
	bool more;

	if (!s->keyframes->nr)
		keyframes_keep(s);
	/* Somebody else came further. */
	if (s->scout && s->scout->pos + s->keyframes->every < s->keyframes->due)
		end_scout(s);
	if (!s->scout && s->keyframes->due < s->tape->events)
		s->scout = start_scout(s);
	if (!s->scout)
		return false;
	while (events-- && scene_forward(s->scout))
		;
	more = s->scout->pos < s->tape->events && !s->scout->error;
	if (!more)
		end_scout(s);
	return more;
}

u64 scene_memory(const struct scene *s)
{
	return SCENE_JOURNAL_MAX + s->keyframes->bytes;
}
