/* The list of events in the kernel's ftrace format, and why the current one happened. */
#include <inttypes.h>
#include <string.h>

#include "view/narrate.h"
#include "view/tui/internal.h"

#define FILTER_AT_ONCE 20000 /* events looked through for a picture */

/* Numbers of events around the present: @before up to it, and @after after it; of a list or all. */
static int collect(struct tui *t, const struct scene *s, const struct event_list *list, int before,
		   int after)
{
	u64 at = list ? tui_list_at(list, s->pos) : s->pos;
	u64 all = list ? list->count : s->tape->events;
	u64 first = at > (u64)before ? at - before : 0;
	u64 last = min(first + before + after, all);
	int n = 0;

	for (u64 i = first; i < last; i++)
		t->events_shown[n++] = list ? list->nr[i] : i;
	return n;
}

static bool bookmarked(const struct tui *t, u64 nr)
{
	for (unsigned int i = 0; i < t->nr_bookmarks; i++)
		if (t->bookmarks[i] == nr + 1)
			return true;
	return false;
}

static void draw_event(struct tui *t, const struct tui_scene *m, u64 nr, const struct rect *r,
		       int y)
{
	const struct scene *s = &m->scene;
	bool current = nr + 1 == s->pos, future = nr >= s->pos, match;
	enum canvas_role role = current ? ROLE_CURRENT : future ? ROLE_DIM : ROLE_TEXT;
	struct trace_event ev;
	char line[500];

	tape_get(s->tape, nr, &ev);
	match = !condition_any(&t->search) && condition_matches(&t->search, m, nr, &ev);
	if (match && !current)
		role = ROLE_MATCH;
	if (current)
		canvas_fill(&t->canvas, &(struct rect){r->x, y, r->w, 1}, ' ', ROLE_CURRENT);
	canvas_put(&t->canvas, r->x, y,
		   current	       ? 0x25b6
		   : bookmarked(t, nr) ? 0x25cf
		   : match	       ? '*'
				       : ' ',
		   role);
	canvas_printf(&t->canvas, r->x + 1, y, 8, current ? role : ROLE_DIM, "%6" PRIu64,
		      t->options->first_event + nr + 1);
	event_line(s, &ev, t->options->op_text, line, sizeof(line));
	canvas_text(&t->canvas, r->x + 9, y, r->w - 9, role, line);
}

static void draw(struct tui *t, struct tui_scene *m, const struct rect *r)
{
	const struct scene *s = &m->scene;
	bool all = condition_any(&t->filter), more = tui_filter_on(t, m, FILTER_AT_ONCE);
	char title[200], place[48];
	struct rect in;
	int before;

	snprintf(title, sizeof(title), "events%s%s%s%s \302\267 %s",
		 all ? "" : " (filter: ", t->filter.text, all ? "" : ")", more ? " looking..." : "",
		 tui_place(t, " of ", place, sizeof(place)));
	in = canvas_pane(&t->canvas, r, title);
	in.h = min(in.h, (int)ARRAY_SIZE(t->events_shown));
	before = max(in.h * 2 / 3, 1);
	if (all && s->tape->events - s->pos < (u64)max(in.h - before, 0) && !m->live)
		before = in.h - (int)(s->tape->events - s->pos);
	t->nr_events_shown =
		in.h > 0 ? collect(t, s, all ? NULL : &m->filtered, before, in.h - before) : 0;
	t->events_rect = in;
	for (int i = 0; i < t->nr_events_shown; i++)
		draw_event(t, m, t->events_shown[i], &in, in.y + i);
	if (!t->nr_events_shown && in.h > 0)
		canvas_text(&t->canvas, in.x + 1, in.y, in.w - 1, ROLE_DIM,
			    more  ? "looking for such events..."
			    : all ? "no event yet"
				  : "no such event");
}

static void twin(const struct tui *t, const struct tui_scene *m, FILE *f)
{
	const struct scene *s = &m->scene;
	u64 first = s->pos > 10 ? s->pos - 10 : 0;
	struct trace_event ev;
	char line[500];

	fprintf(f, "The last events:\n");
	for (u64 nr = first; nr < s->pos; nr++) {
		tape_get(s->tape, nr, &ev);
		event_line(s, &ev, t->options->op_text, line, sizeof(line));
		fprintf(f, "  %" PRIu64 " %s\n", t->options->first_event + nr + 1, line);
	}
}

const struct tui_pane pane_events = {"events", draw, twin};

/* ---- why ---- */

static void op_line(const struct tui *t, const struct scene *s, char *buf, size_t size)
{
	struct trace_event ev;

	snprintf(buf, size, "why");
	if (s->state.op_event == SCENE_NONE || s->state.op_event >= s->tape->events ||
	    !t->options->op_text)
		return;
	tape_get(s->tape, s->state.op_event, &ev);
	if (ev.id != EV_fl_op)
		return;
	snprintf(buf, size, "why \302\267 during ");
	t->options->op_text(&ev, buf + strlen(buf), size - strlen(buf));
}

static void draw_why(struct tui *t, struct tui_scene *m, const struct rect *r)
{
	const struct scene *s = &m->scene;
	struct trace_event ev;
	char text[600];
	struct rect in;
	int y;

	op_line(t, s, text, sizeof(text));
	in = canvas_pane(&t->canvas, r, text);
	in.x++;
	in.w -= 2;
	if (!scene_event(s, &ev)) {
		canvas_wrap(&t->canvas, &in, ROLE_WHY,
			    "Nothing has happened yet. Press . for the first event, Space to play, "
			    "? for all keys.");
		return;
	}
	y = canvas_wrap(&t->canvas, &in, ROLE_WHY, narrate_event(s, &ev, text, sizeof(text)));
	narrate_rule(s, &ev, text, sizeof(text));
	in.y += y;
	in.h -= y;
	if (*text && in.h > 0)
		canvas_wrap(&t->canvas, &in, ROLE_RULE_NAME, text);
}

static void twin_why(const struct tui *t, const struct tui_scene *m, FILE *f)
{
	const struct scene *s = &m->scene;
	struct trace_event ev;
	char text[600];

	(void)t;
	if (!scene_event(s, &ev)) {
		fprintf(f, "Nothing has happened yet.\n");
		return;
	}
	fprintf(f, "%s\n", narrate_event(s, &ev, text, sizeof(text)));
	if (*narrate_rule(s, &ev, text, sizeof(text)))
		fprintf(f, "Rule %s\n", text);
}

const struct tui_pane pane_why = {"why", draw_why, twin_why};
