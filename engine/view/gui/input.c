/* Keys and the mouse. Keys are the terminal view's; a few more are the window's own. */
#include "view/gui/internal.h"

#define UNIT_MAX 4

/* ---- keys ---- */

static void next_panel(struct gui *g, int dir)
{
	int panel = g->focus == PANEL_NONE ? (dir > 0 ? -1 : PANEL_NR) : (int)g->focus;

	for (int i = 0; i < PANEL_NR; i++) {
		panel = (panel + dir + PANEL_NR) % PANEL_NR;
		if (g->presenter ? panel != PANEL_TIMELINE : g->boxes[panel].w > 0)
			break;
	}
	g->focus = panel;
}

static void set_presenter(struct gui *g)
{
	g->presenter = !g->presenter;
	if (g->presenter && (g->focus == PANEL_NONE || g->focus == PANEL_TIMELINE))
		g->focus = PANEL_MAP;
	if (!g->presenter)
		g->focus = PANEL_NONE;
}

static void zoom_to_range(struct gui *g)
{
	if (!g->ranged) {
		gui_show_all(g);
		return;
	}
	g->from_ns = g->range.from_ns;
	g->to_ns = max(g->range.to_ns, g->range.from_ns + 1);
}

/* From the present to where it was called last: a range without a mouse. */
static void select_by_key(struct gui *g)
{
	u64 now = scene_ns(lead_scene(&g->view));

	if (g->ranged)
		gui_select(g, 0, 0);
	else
		gui_select(g, g->drag_ns, now);
	g->drag_ns = now;
}

/* The middle of what the panels over time show, or the moment if it is in there. */
static u64 time_focus(const struct gui *g)
{
	u64 now = scene_ns(lead_scene(&g->view));

	return now >= g->from_ns && now <= g->to_ns ? now : g->from_ns / 2 + g->to_ns / 2;
}

static void do_own(struct gui *g, enum gui_own own)
{
	switch (own) {
	case OWN_PRESENTER:
		set_presenter(g);
		break;
	case OWN_FULL:
		g->full_screen = !g->full_screen;
		break;
	case OWN_LARGER:
		g->unit = min(g->unit + 1, UNIT_MAX);
		break;
	case OWN_SMALLER:
		g->unit = max(g->unit - 1, 1);
		break;
	case OWN_TIME_IN:
		gui_zoom_time(g, time_focus(g), 1.5);
		break;
	case OWN_TIME_OUT:
		gui_zoom_time(g, time_focus(g), 1 / 1.5);
		break;
	case OWN_TIME_LEFT:
		gui_pan_time(g, -0.25);
		break;
	case OWN_TIME_RIGHT:
		gui_pan_time(g, 0.25);
		break;
	case OWN_RANGE:
		select_by_key(g);
		break;
	default:
		zoom_to_range(g);
	}
}

static const struct gui_own_key own_keys[] = {
#define OWN(name, key, shown, help) [OWN_##name] = {key, shown, help},
#include "view/gui/keys.def"
#undef OWN
};

const struct gui_own_key *gui_own_key(enum gui_own own)
{
	return &own_keys[own];
}

/* The terminal view's map keys zoom the window's map. */
static bool zoom_key(struct gui *g, enum tui_command cmd)
{
	u64 page = g->view.selected ? g->view.page : g->view.map_first;

	if (cmd != CMD_ZOOM_IN && cmd != CMD_ZOOM_OUT)
		return false;
	gui_zoom_map(g, cmd == CMD_ZOOM_IN ? 1 : -1, page);
	return true;
}

static void view_key(struct gui *g, int key)
{
	enum tui_command cmd = tui_command_of(key);

	for (unsigned int own = 0; own < OWN_NR; own++)
		if (own_keys[own].key == key) {
			do_own(g, own);
			return;
		}
	if (key == TERM_ESC) {
		g->view.selected = false;
		g->view.group = GROUP_MAIN;
		gui_select(g, 0, 0);
		g->presenter = false;
		g->focus = PANEL_NONE;
	} else if (g->presenter && (cmd == CMD_PANE || cmd == CMD_PANE_BACK)) {
		next_panel(g, cmd == CMD_PANE ? 1 : -1);
	} else if (!zoom_key(g, cmd)) {
		tui_do(&g->view, cmd);
	}
}

void gui_key(struct gui *g, int key)
{
	struct tui *t = &g->view;

	t->message[0] = 0;
	if (t->mode == MODE_PROMPT)
		tui_prompt_key(t, key);
	else if (t->mode != MODE_VIEW)
		t->mode = MODE_VIEW;
	else
		view_key(g, key);
	if (t->mode == MODE_TWIN)
		t->mode = MODE_VIEW;
}

/* ---- the mouse ---- */

static bool over_time(const struct gui *g, int x, int y, struct box *plot)
{
	*plot = box_has(g->plot, x, y) ? g->plot : g->heat;
	return box_has(*plot, x, y);
}

static void scrub(struct gui *g, int x)
{
	const struct timeline *line = &g->lines[g->view.lead];
	double part = (double)(x - g->line.x) / max(g->line.w - 1, 1);

	part = min(max(part, 0.0), 1.0);
	tui_stop(&g->view);
	tui_goto(&g->view,
		 timeline_event_at(line, line->first_ns + part * (line->last_ns - line->first_ns)));
}

static void click_event(struct gui *g, int y)
{
	struct box box = box_inset(g->boxes[PANEL_EVENTS], px(g, 10));
	int row = (y - box.y - px(g, 20)) / px(g, 20), rows = (box.h - px(g, 20)) / px(g, 20);
	u64 pos = lead_scene(&g->view)->pos;
	u64 first = pos > (u64)rows / 2 ? pos - rows / 2 - 1 : 0;

	if (row >= 0)
		tui_goto(&g->view, first + row + 1);
}

static enum gui_panel panel_at(const struct gui *g, int x, int y)
{
	for (unsigned int p = 0; p < PANEL_NR; p++)
		if (box_has(g->boxes[p], x, y))
			return p;
	return PANEL_NONE;
}

void gui_press(struct gui *g, int x, int y, bool shift)
{
	enum gui_panel panel = panel_at(g, x, y);
	struct box plot;
	u64 page;

	g->drag_x = x;
	g->drag_y = y;
	g->drag = panel;
	if (panel == PANEL_TIMELINE) {
		scrub(g, x);
	} else if (over_time(g, x, y, &plot)) {
		g->drag_ns = gui_ns_at(g, plot, x);
		g->drag = shift ? PANEL_NR : panel;
	} else if (panel == PANEL_EVENTS) {
		click_event(g, y);
	} else if (gui_page_at(g, x, y, &page)) {
		g->view.page = page;
		g->view.selected = true;
		g->view.group = GROUP_PAGE;
	}
}

/* Drag the map: whole rows and columns. */
static void drag_map(struct gui *g, int x, int y)
{
	struct tui *t = &g->view;
	int rows = (g->drag_y - y) / max(g->cell_h, 1);
	s64 by = (s64)rows * t->map_columns * (s64)t->map_cell;

	(void)x;
	if (!rows)
		return;
	g->drag_y = y;
	t->follow = false;
	if (by < 0 && t->map_first < (u64)-by)
		t->map_first = 0;
	else if (t->map_first + by < gui_file_pages(g, t->lead))
		t->map_first += by;
}

void gui_move(struct gui *g, int x, int y)
{
	struct box plot = g->drag == PANEL_HEAT ? g->heat : g->plot;

	g->x = x;
	g->y = y;
	g->hover = true;
	if (g->drag == PANEL_TIMELINE)
		scrub(g, x);
	else if (g->drag == PANEL_TIME || g->drag == PANEL_HEAT)
		gui_select(g, g->drag_ns, gui_ns_at(g, plot, x));
	else if (g->drag == PANEL_MAP)
		drag_map(g, x, y);
}

void gui_release(struct gui *g, int x, int y)
{
	const struct timeline *line = &g->lines[g->view.lead];
	struct box plot;

	/* A click that selected nothing goes to that moment. */
	if ((g->drag == PANEL_TIME || g->drag == PANEL_HEAT) && over_time(g, x, y, &plot) &&
	    x == g->drag_x) {
		gui_select(g, 0, 0);
		tui_goto(&g->view, timeline_event_at(line, gui_ns_at(g, plot, x)));
	}
	g->drag = PANEL_NONE;
}

void gui_wheel(struct gui *g, int x, int y, int steps, bool shift)
{
	struct box plot;
	u64 page;

	if (over_time(g, x, y, &plot) && shift)
		gui_pan_time(g, steps > 0 ? -0.1 : 0.1);
	else if (over_time(g, x, y, &plot))
		gui_zoom_time(g, gui_ns_at(g, plot, x), steps > 0 ? 1.25 : 0.8);
	else if (gui_page_at(g, x, y, &page))
		gui_zoom_map(g, steps, page);
	else
		tui_step(&g->view, steps > 0 ? -1 : 1);
}
