/*
 * Ways that may take a while: to a call, a match or a breakpoint that is far off, or that the
 * machine has not come to yet. The view goes on in pieces, so that keys are always heard.
 */
#include <time.h>

#include "view/tui/internal.h"

#define FIND_AT_ONCE 20000 /* events between two looks at the clock */
#define RUN_AT_ONCE  20000
#define KEY_MS	     8 /* a key may take so long before the view draws on the way */
#define PULL_MS	     2
#define PULL_FIRST   256 /* events a machine runs ahead on the way to a goal */
#define PULL_MOST    65536

double tui_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

/* ---- machines that run ---- */

bool tui_pull(struct tui *t, struct tui_scene *m, u64 want, int ms)
{
	u64 before = m->scene.tape->events;
	const char *note;

	if (!m->live)
		return false;
	m->live = m->feed->pull(m->feed, want, ms);
	if (tui_list_events(m))
		m->scene.error = -1;
	note = m->live ? NULL : m->feed->note(m->feed);
	if (note)
		tui_message(t, "%s", note);
	return m->scene.tape->events != before || !m->live;
}

bool tui_pull_all(struct tui *t)
{
	bool came = false;

	for (unsigned int i = 0; i < t->nr; i++)
		came |= tui_pull(t, &t->machines[i], t->machines[i].scene.pos + TUI_AHEAD, 0);
	return came;
}

bool tui_waiting(const struct tui *t)
{
	for (unsigned int i = 0; i < t->nr; i++) {
		const struct tui_scene *m = &t->machines[i];

		if (m->live && m->scene.tape->events < m->scene.pos + TUI_AHEAD)
			return true;
	}
	return t->lagging;
}

/* ---- arriving: each says whether the way is over ---- */

static bool arrive_event(struct tui *t, u64 nr)
{
	struct tui_scene *m = tui_lead(t);

	tui_goto(t, nr);
	return nr <= m->scene.tape->events || !m->live;
}

static bool arrive_listed(struct tui *t, const struct event_list *list)
{
	bool there = t->goal.nr < list->count;

	tui_goto(t, there ? list->nr[t->goal.nr] + 1 : ~0ull);
	return there || !tui_lead(t)->live;
}

/* Over the end, once; false if all has been looked at. */
static bool wrap(struct tui *t)
{
	if (t->goal.wrapped)
		return false;
	t->goal.wrapped = true;
	t->goal.nr = t->goal.dir > 0 ? 1 : lead_scene(t)->tape->events;
	return true;
}

static bool past_start(const struct tui_goal *g)
{
	return g->wrapped && (g->dir > 0 ? g->nr > g->start : g->nr < g->start);
}

static bool arrive_match(struct tui *t)
{
	const struct scene *s = lead_scene(t);
	struct tui_goal *g = &t->goal;
	struct trace_event ev;

	for (int n = 0; n < FIND_AT_ONCE; n++) {
		bool over = !g->nr || g->nr > s->tape->events;

		if (over && g->nr && tui_lead(t)->live)
			return false;
		if ((over && !wrap(t)) || past_start(g) || !s->tape->events) {
			tui_message(t, "no match");
			return true;
		}
		tape_get(s->tape, g->nr - 1, &ev);
		if (condition_matches(&t->search, tui_lead(t), g->nr - 1, &ev)) {
			tui_goto(t, g->nr);
			if (g->wrapped)
				tui_message(t, "the search went over the %s",
					    g->dir > 0 ? "end" : "beginning");
			return true;
		}
		g->nr += g->dir;
	}
	return false;
}

static bool at_breakpoint(struct tui *t)
{
	const struct scene *s = lead_scene(t);
	struct trace_event ev;

	if (!t->nr_breaks || !scene_event(s, &ev))
		return false;
	for (unsigned int i = 0; i < t->nr_breaks; i++)
		if (condition_matches(&t->breaks[i], tui_lead(t), s->pos - 1, &ev))
			return true;
	return false;
}

bool tui_play(struct tui *t, u64 events)
{
	struct tui_scene *m = tui_lead(t);
	bool on = true;

	while (events-- && on) {
		if (!scene_forward(&m->scene)) {
			on = m->live;
			break;
		}
		on = !at_breakpoint(t);
		if (!on)
			tui_message(t, "breakpoint");
	}
	tui_follow_lead(t);
	return on;
}

static bool arrive(struct tui *t)
{
	switch (t->goal.kind) {
	case GOAL_EVENT:
		return arrive_event(t, t->goal.nr);
	case GOAL_CALL:
		return arrive_listed(t, &tui_lead(t)->calls);
	case GOAL_WINDOW:
		return arrive_listed(t, &tui_lead(t)->windows);
	case GOAL_FIND:
		return arrive_match(t);
	case GOAL_BREAK:
		return !tui_play(t, RUN_AT_ONCE);
	default:
		return true;
	}
}

void tui_reach(struct tui *t, double ms)
{
	struct tui_scene *m = tui_lead(t);
	double start = tui_now_ms();
	u64 ahead = PULL_FIRST;

	do {
		if (arrive(t)) {
			t->goal.kind = GOAL_NONE;
			return;
		}
		tui_pull(t, m, m->scene.tape->events + ahead, PULL_MS);
		ahead = min(ahead * 2, (u64)PULL_MOST);
	} while (tui_now_ms() - start < ms);
}

/* ---- setting out ---- */

void tui_aim(struct tui *t, const struct tui_goal *goal)
{
	t->goal = *goal;
	tui_reach(t, KEY_MS);
}

void tui_step(struct tui *t, s64 events)
{
	u64 pos = lead_scene(t)->pos;

	if (events < 0)
		tui_goto(t, pos < (u64)-events ? 0 : pos + events);
	else
		tui_aim(t, &(struct tui_goal){.kind = GOAL_EVENT, .nr = pos + events});
}

void tui_seek(struct tui *t, const struct event_list *list, int dir)
{
	bool calls = list == &tui_lead(t)->calls;
	u64 pos = lead_scene(t)->pos;
	u64 at = tui_list_at(list, pos);

	if (dir > 0)
		tui_aim(t, &(struct tui_goal){.kind = calls ? GOAL_CALL : GOAL_WINDOW, .nr = at});
	else if (at && list->nr[at - 1] + 1 == pos)
		tui_goto(t, at > 1 ? list->nr[at - 2] + 1 : 0);
	else
		tui_goto(t, at ? list->nr[at - 1] + 1 : 0);
}

void tui_goto_call(struct tui *t, u64 nr)
{
	if (nr)
		tui_aim(t, &(struct tui_goal){.kind = GOAL_CALL, .nr = nr - 1});
	else
		tui_goto(t, 0);
}
