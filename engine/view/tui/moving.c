/* Through time: steps, jumps, playing, running to a breakpoint. */
#include <string.h>

#include "view/tui/internal.h"

#define FOLLOW_BACK 16	  /* events looked at for one that names pages */
#define RUN_AT_ONCE 20000 /* events between two looks at the keyboard */

static const struct {
	double per_second;
	const char *name;
} speeds[] = {
	{1, "1/s"},	{2, "2/s"},	{5, "5/s"},	  {10, "10/s"},	      {30, "30/s"},
	{100, "100/s"}, {1000, "1k/s"}, {10000, "10k/s"}, {100000, "100k/s"}, {1000000, "1M/s"},
};

double tui_speed(const struct tui *t)
{
	return speeds[min(t->speed, (unsigned int)ARRAY_SIZE(speeds) - 1)].per_second;
}

const char *tui_speed_name(const struct tui *t)
{
	return speeds[min(t->speed, (unsigned int)ARRAY_SIZE(speeds) - 1)].name;
}

/* How many numbers of the list are below @pos. */
u64 tui_calls_at(const struct event_list *list, u64 pos)
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

/* The others stand where as many calls have returned as the leader's. */
static void follow_lead(struct tui *t)
{
	struct tui_scene *lead = tui_lead(t);
	u64 calls = tui_calls_at(&lead->calls, lead->scene.pos);

	for (unsigned int i = 0; i < t->nr; i++) {
		struct tui_scene *m = &t->machines[i];
		u64 n = min(calls, m->calls.count);

		if (m == lead)
			continue;
		if (lead->scene.pos == lead->scene.tape->events)
			scene_goto(&m->scene, m->scene.tape->events);
		else
			scene_goto(&m->scene, n ? m->calls.nr[n - 1] + 1 : 0);
	}
}

/* The page the present is about: of the last event that names one, else of the last call. */
static u64 page_of_moment(const struct tui_scene *m)
{
	const struct scene *s = &m->scene;
	struct trace_event ev;
	u64 first, nr;

	for (u64 back = 1; back <= min(s->pos, (u64)FOLLOW_BACK); back++) {
		tape_get(s->tape, s->pos - back, &ev);
		if (ev.ino == m->ino && scene_event_pages(s, &ev, &first, &nr))
			return first;
	}
	return s->state.call.pos >> s->page_shift;
}

/* Always the same for a moment, however it was reached: whole screens of the file. */
void tui_follow(struct tui *t)
{
	u64 screen = (u64)max(t->map_columns, 1) * max(t->map_rows, 1) * t->map_cell;
	u64 page = page_of_moment(tui_lead(t));

	if (t->follow)
		t->map_first = page - page % screen;
}

void tui_goto(struct tui *t, u64 pos)
{
	scene_goto(&tui_lead(t)->scene, pos);
	follow_lead(t);
}

void tui_step(struct tui *t, s64 events)
{
	u64 pos = lead_scene(t)->pos;

	if (events < 0 && pos < (u64)-events)
		tui_goto(t, 0);
	else
		tui_goto(t, pos + events);
}

void tui_seek(struct tui *t, const struct event_list *list, int dir)
{
	u64 pos = lead_scene(t)->pos;
	u64 at = tui_calls_at(list, pos);

	if (dir > 0)
		tui_goto(t, at < list->count ? list->nr[at] + 1 : ~0ull);
	else if (at && list->nr[at - 1] + 1 == pos)
		tui_goto(t, at > 1 ? list->nr[at - 2] + 1 : 0);
	else
		tui_goto(t, at ? list->nr[at - 1] + 1 : 0);
}

void tui_goto_call(struct tui *t, u64 nr)
{
	const struct event_list *calls = &tui_lead(t)->calls;

	nr = min(nr, calls->count);
	tui_goto(t, nr ? calls->nr[nr - 1] + 1 : 0);
}

bool tui_find(struct tui *t, const struct tui_condition *c, int dir)
{
	const struct scene *s = lead_scene(t);
	struct trace_event ev;

	for (u64 pos = s->pos + dir; pos && pos <= s->tape->events; pos += dir) {
		tape_get(s->tape, pos - 1, &ev);
		if (!condition_matches(c, s, &ev))
			continue;
		tui_goto(t, pos);
		return true;
	}
	return false;
}

/* ---- playing ---- */

static bool at_breakpoint(const struct tui *t)
{
	const struct scene *s = lead_scene(t);
	struct trace_event ev;

	if (!t->nr_breaks || !scene_event(s, &ev))
		return false;
	for (unsigned int i = 0; i < t->nr_breaks; i++)
		if (condition_matches(&t->breaks[i], s, &ev))
			return true;
	return false;
}

/* One event further; false where playing stops. */
static bool play_one(struct tui *t)
{
	if (!scene_forward(&tui_lead(t)->scene)) {
		t->playing = t->running = false;
		return false;
	}
	if (at_breakpoint(t)) {
		t->playing = t->running = false;
		tui_message(t, "breakpoint");
		return false;
	}
	return true;
}

void tui_advance(struct tui *t, double ms)
{
	u64 n;

	if (t->running) {
		n = RUN_AT_ONCE;
	} else {
		t->due = min(t->due + tui_speed(t) * ms / 1000, 200000.0);
		n = t->due;
		t->due -= n;
	}
	while (n-- && play_one(t))
		;
	follow_lead(t);
}
