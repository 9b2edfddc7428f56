/* Which panel is where. */
#include <string.h>

#include "view/gui/internal.h"
#include "view/gui/panels.h"

#define GAP	 10
#define HEAD	 40
#define HINTS	 26
#define STRIP	 72
#define SENTENCE 96

static const struct gui_panel_info panels[] = {
#define PANEL(name, title, draw) [PANEL_##name] = {title, draw},
#include "view/gui/panels.def"
#undef PANEL
};

const struct gui_panel_info *gui_panel_info(enum gui_panel panel)
{
	return &panels[panel];
}

/* Cut @h from the top of *@box. */
static struct box take_top(struct gui *g, struct box *box, int h)
{
	struct box top = *box;

	h = min(h, box->h);
	top.h = h;
	h = min(h + px(g, GAP), box->h);
	box->y += h;
	box->h -= h;
	return top;
}

static struct box take_bottom(struct gui *g, struct box *box, int h)
{
	struct box bottom = *box;

	h = min(h, box->h);
	bottom.y += box->h - h;
	bottom.h = h;
	box->h -= min(h + px(g, GAP), box->h);
	return bottom;
}

/* ---- where ---- */

/* The panel a group gives the whole right third to, or none. */
static enum gui_panel alone_at_side(enum tui_group group)
{
	switch (group) {
	case GROUP_PAGE:
		return PANEL_PAGE;
	case GROUP_EVENTS:
		return PANEL_EVENTS;
	case GROUP_SOURCE:
		return PANEL_SOURCE;
	case GROUP_STRUCT:
		return PANEL_STRUCT;
	default:
		return PANEL_NONE;
	}
}

/* The right third from the top; what is not needed most goes where all have no room. */
static void place_side(struct gui *g, struct box side)
{
	const int kernel = g->view.nr > 1 ? 20 : 0; /* a line */
	const int range = g->ranged ? 20 : 0;
	const int lanes = gui_lanes(g);
	const struct {
		enum gui_panel panel;
		int h; /* units */
		bool needed;
	} plan[] = {
		{PANEL_WINDOW, 92 + kernel, true},
		{PANEL_ORDERS, 44 + kernel + range + 18 * (int)gui_orders(g), true},
		{PANEL_LATENCY, 150 + kernel + range, true},
		{PANEL_HEAT, 110, false},
		{PANEL_LANES, 44 + 18 * (min(lanes, 12) + 4), lanes > 0},
		{PANEL_MEMORY, 200, true},
	};
	enum gui_panel alone = alone_at_side(g->view.group);
	int wanted = 0;

	if (alone != PANEL_NONE) {
		g->boxes[alone] = side;
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(plan); i++)
		wanted += plan[i].panel == PANEL_LANES && !lanes ? 0 : px(g, plan[i].h + GAP);
	for (size_t i = 0; i < ARRAY_SIZE(plan) && side.h >= px(g, 60); i++) {
		int h = px(g, plan[i].h);

		if (plan[i].panel == PANEL_LANES ? !lanes : !plan[i].needed && wanted > side.h)
			continue;
		if (plan[i].panel == PANEL_MEMORY || side.h - h < px(g, 60))
			h = side.h;
		wanted -= px(g, plan[i].h + GAP);
		g->boxes[plan[i].panel] = take_top(g, &side, h);
	}
}

static void place_all(struct gui *g, struct box all)
{
	struct box left, side;
	int time;

	g->boxes[PANEL_TIMELINE] = take_bottom(g, &all, px(g, STRIP));
	g->boxes[PANEL_WHY] = take_bottom(g, &all, px(g, SENTENCE));
	left = side = all;
	left.w = (all.w - px(g, GAP)) * 2 / 3;
	side.x += left.w + px(g, GAP);
	side.w -= left.w + px(g, GAP);
	place_side(g, side);
	time = left.h * 2 / 5;
	if (time >= px(g, 120))
		g->boxes[PANEL_TIME] = take_bottom(g, &left, time);
	g->boxes[PANEL_MAP] = left;
}

/* One panel, large, over its sentence. */
static void place_presenter(struct gui *g, struct box all)
{
	g->boxes[PANEL_TIMELINE] = take_bottom(g, &all, px(g, STRIP));
	if (g->focus != PANEL_WHY)
		g->boxes[PANEL_WHY] = take_bottom(g, &all, px(g, 150));
	if (g->focus != PANEL_TIMELINE)
		g->boxes[g->focus] = all;
}

/* ---- drawing ---- */

static void draw_panel(struct gui *g, enum gui_panel panel)
{
	const struct gui_panel_info *info = &panels[panel];
	struct box card = g->boxes[panel], in = box_inset(card, px(g, 10)), before;
	bool alone = panel == PANEL_TIMELINE || panel == PANEL_PAGE;
	unsigned int nr = alone ? 1 : g->view.nr;

	draw_rect(&g->draw, card, gui_card(g));
	if (panel == g->focus || gui_prints(g))
		draw_frame(&g->draw, card, px(g, 1),
			   gui_ink(g, panel == g->focus ? ROLE_KEY : ROLE_RULE));
	before = draw_clip(&g->draw, in);
	in = gui_line(g, in, ROLE_PANE, "%s", info->title);
	for (unsigned int m = 0; m < nr; m++)
		info->draw(g, alone ? g->view.lead : m, gui_part(g, in, nr, m));
	draw_unclip(&g->draw, before);
}

void gui_draw(struct gui *g, int width, int height)
{
	struct box all = {0, 0, width, height}, head, foot;

	draw_begin(&g->draw, width, height, gui_ground(g));
	memset(g->boxes, 0, sizeof(g->boxes));
	head = take_top(g, &all, px(g, HEAD));
	foot = take_bottom(g, &all, px(g, HINTS));
	all.x += px(g, GAP);
	all.w -= px(g, 2 * GAP);
	if (g->presenter)
		place_presenter(g, all);
	else
		place_all(g, all);
	gui_draw_head(g, head);
	gui_draw_foot(g, foot);
	for (unsigned int p = 0; p < PANEL_NR; p++)
		if (g->boxes[p].w > 0 && g->boxes[p].h > 0)
			draw_panel(g, p);
	if (g->view.mode == MODE_HELP)
		gui_draw_help(g, all);
	else
		gui_draw_tip(g);
}
