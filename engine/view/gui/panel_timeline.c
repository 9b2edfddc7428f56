/* The whole run in one strip: how busy it was, operations, marked moments, the handle. */
#include <string.h>

#include "view/gui/internal.h"
#include "view/gui/panels.h"

/* The strip shows all of the time whatever the panels above are zoomed to. */
struct strip {
	struct gui *g;
	const struct timeline *line;
	struct box box;
	u64 from, to; /* ns */
};

static int x_at(const struct strip *s, u64 ns)
{
	return s->box.x + (int)((double)(ns - s->from) * (s->box.w - 1) / (s->to - s->from));
}

/* Events up to the end of a column. */
static u64 events_to(const struct strip *s, int x)
{
	return timeline_event_at(s->line,
				 s->from + (double)(s->to - s->from) * x / max(s->box.w, 1));
}

/* How many events each column has; NULL without memory. */
static const u32 *find_density(const struct strip *s, unsigned int m, int step)
{
	struct gui_kept_key key = gui_kept_key(s->g, m, s->box);
	u64 before = 0;
	bool fresh;
	u32 *counts;

	key.from_ns = s->from;
	key.to_ns = s->to;
	counts = gui_keep(s->g, m, KEPT_DENSITY, &key, s->box.w / step + 1, &fresh);
	for (int x = 0; fresh && counts && x < s->box.w; x += step) {
		u64 after = events_to(s, x + step);

		counts[x / step] = after - before;
		before = after;
	}
	return counts;
}

/* How busy each column is, on a log scale up to the busiest. */
static void draw_density(const struct strip *s, unsigned int m)
{
	int step = px(s->g, 3), floor = s->box.y + s->box.h;
	u32 colour = gui_mix(gui_ink(s->g, ROLE_BAR), gui_card(s->g), 55), most = 1;
	const u32 *counts = find_density(s, m, step);

	if (!counts)
		return;
	for (int x = 0; x < s->box.w; x += step)
		most = max(most, counts[x / step]);
	for (int x = 0; x < s->box.w; x += step) {
		u32 n = counts[x / step];
		int h = n ? (s->box.h - px(s->g, 8)) * (1 + ilog2(n)) / (1 + ilog2(most)) : 0;

		draw_rect(&s->g->draw, (struct box){s->box.x + x, floor - h, step - 1, h}, colour);
	}
}

static void draw_ops(const struct strip *s)
{
	int last = -1;

	for (size_t i = 0; i < s->line->nr_ops; i++) {
		int x = x_at(s, s->line->ops[i].ns);

		if (x == last)
			continue;
		last = x;
		draw_rect(&s->g->draw, (struct box){x, s->box.y, px(s->g, 1), px(s->g, 6)},
			  gui_ink(s->g, ROLE_TEXT));
	}
}

static void draw_bookmarks(const struct strip *s)
{
	const struct tui *t = &s->g->view;

	for (unsigned int i = 0; i < t->nr_bookmarks; i++) {
		u64 pos = t->bookmarks[i];
		int x = x_at(s, pos ? timeline_ns_of(s->line, pos - 1) : s->from);

		draw_rect(&s->g->draw,
			  (struct box){x - px(s->g, 2), s->box.y, px(s->g, 5), px(s->g, 10)},
			  gui_ink(s->g, ROLE_MARK));
	}
}

/* What the panels over time show, and the selected range. */
static void draw_ranges(const struct strip *s)
{
	const struct gui *g = s->g;
	int x0 = x_at(s, max(g->from_ns, s->from)), x1 = x_at(s, min(g->to_ns, s->to));

	if (g->from_ns > s->from || g->to_ns < s->to)
		draw_frame(&s->g->draw, (struct box){x0, s->box.y, max(x1 - x0, 4), s->box.h},
			   px(g, 1), gui_ink(g, ROLE_KEY));
	if (!g->ranged)
		return;
	x0 = x_at(s, max(g->range.from_ns, s->from));
	x1 = x_at(s, min(g->range.to_ns, s->to));
	draw_rect(&s->g->draw,
		  (struct box){x0, s->box.y + s->box.h - px(g, 4), max(x1 - x0, 2), px(g, 4)},
		  gui_ink(g, ROLE_MATCH));
}

void panel_timeline(struct gui *g, unsigned int m, struct box box)
{
	const struct timeline *line = &g->lines[m];
	const struct scene *scene = &g->view.machines[m].scene;
	struct strip s = {.g = g, .line = line, .box = box, .from = line->first_ns};
	int x;

	s.to = max(line->last_ns, line->first_ns + 1);
	draw_rect(&g->draw, box, gui_mix(gui_ink(g, ROLE_ABSENT), gui_card(g), 10));
	draw_density(&s, m);
	draw_ops(&s);
	draw_bookmarks(&s);
	draw_ranges(&s);
	x = x_at(&s, scene->pos ? max(scene_ns(scene), s.from) : s.from);
	draw_rect(&g->draw, (struct box){x - px(g, 1), box.y, px(g, 3), box.h},
		  gui_ink(g, ROLE_VALUE));
	g->line = box;
}
