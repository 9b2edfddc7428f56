/* Through time: to a moment there is, and playing. */
#include <string.h>

#include "view/tui/internal.h"

#define FOLLOW_BACK  16	   /* events looked at for one that names pages */
#define CATCH_UP     16384 /* events a machine may go on to be with the leader */
#define CATCH_UP_MS  2
#define PLAY_AT_ONCE 200000
#define RUN_MS	     25 /* between two looks at the keyboard */

static const struct {
	double per_second;
	const char *name;
} speeds[TUI_SPEEDS] = {
	{1, "1/s"},	{2, "2/s"},	{5, "5/s"},	  {10, "10/s"},	      {30, "30/s"},
	{100, "100/s"}, {1000, "1k/s"}, {10000, "10k/s"}, {100000, "100k/s"}, {1000000, "1M/s"},
};

double tui_speed(const struct tui *t)
{
	return speeds[t->speed].per_second;
}

const char *tui_speed_name(const struct tui *t)
{
	return speeds[t->speed].name;
}

/* Where a machine stands with @calls calls returned; it may have to go on first. */
static u64 pos_of_call(struct tui *t, struct tui_scene *m, u64 calls)
{
	u64 n;

	if (m->live && m->calls.count < calls)
		tui_pull(t, m, m->scene.tape->events + CATCH_UP, CATCH_UP_MS);
	t->lagging |= m->live && m->calls.count < calls;
	n = min(calls, m->calls.count);
	return n ? m->calls.nr[n - 1] + 1 : 0;
}

static u64 pos_of_end(struct tui *t, struct tui_scene *m)
{
	tui_pull(t, m, m->scene.tape->events + CATCH_UP, CATCH_UP_MS);
	t->lagging |= m->live;
	return m->scene.tape->events;
}

void tui_follow_lead(struct tui *t)
{
	struct tui_scene *lead = tui_lead(t);
	u64 calls = tui_list_at(&lead->calls, lead->scene.pos);
	bool end = lead->scene.pos == lead->scene.tape->events && !lead->live;

	t->lagging = false;
	if (t->guide)
		return;
	for (unsigned int i = 0; i < t->nr; i++) {
		struct tui_scene *m = &t->machines[i];

		if (m != lead)
			scene_goto(&m->scene, end ? pos_of_end(t, m) : pos_of_call(t, m, calls));
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
	tui_follow_lead(t);
}

bool tui_advance(struct tui *t, double ms)
{
	struct tui_scene *m = tui_lead(t);
	u64 n, before = m->scene.pos;

	if (tui_running(t)) {
		tui_reach(t, RUN_MS);
		return true;
	}
	t->due = min(t->due + tui_speed(t) * ms / 1000, (double)PLAY_AT_ONCE);
	n = t->due;
	t->due -= n;
	if (!n)
		return false;
	tui_pull(t, m, m->scene.pos + n + TUI_AHEAD, 0);
	t->playing = tui_play(t, n);
	return m->scene.pos != before || !t->playing;
}
