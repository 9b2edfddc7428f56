/*
 * Which pane is where. Steps: two columns from 100x30 on; the stacked layout of 80x24; map, why
 * and one more pane below; one line under 40x10.
 */
#include <inttypes.h>

#include "view/tui/internal.h"

#define WIDE_WIDTH  100
#define WIDE_HEIGHT 30
#define FULL_HEIGHT 24

static void draw_pane(struct tui *t, const struct tui_pane *pane, int x, int y, int w, int h)
{
	if (w > 0 && h > 0)
		pane->draw(t, tui_lead(t), &(struct rect){x, y, w, h});
}

/* One pane for each machine, side by side. */
static void draw_each(struct tui *t, const struct tui_pane *pane, int x, int y, int w, int h)
{
	int each = (w - (int)(t->nr - 1)) / t->nr;

	if (h <= 0)
		return;
	if (!tui_side_by_side(t)) {
		draw_pane(t, pane, x, y, w, h);
		return;
	}
	for (unsigned int i = 0; i < t->nr; i++) {
		int left = x + i * (each + 1);
		int width = i + 1 == t->nr ? x + w - left : each;

		pane->draw(t, &t->machines[i], &(struct rect){left, y, width, h});
	}
}

static void draw_separator(struct tui *t, int x, int y, int h)
{
	for (int i = 0; i < h; i++)
		canvas_put(&t->canvas, x, y + i, 0x2502, ROLE_RULE);
}

/* ---- two columns ---- */

/* Rows of the orders: as many as there may be, and its title. */
static int orders_height(const struct tui *t)
{
	unsigned int top = 4;

	for (unsigned int i = 0; i < t->nr; i++)
		for (unsigned int o = 0; o < TRACE_ORDERS; o++)
			if (t->machines[i].scene.counts.events[EV_mm_filemap_add_to_page_cache][o])
				top = max(top, o);
	return top + 2;
}

/* The pane that has the right column to itself, or NULL. */
static const struct tui_pane *whole_column(enum tui_group group)
{
	static const struct tui_pane *const panes[GROUP_NR] = {
		[GROUP_PAGE] = &pane_page,
		[GROUP_SOURCE] = &pane_source,
		[GROUP_STRUCT] = &pane_struct,
	};

	return panes[group];
}

/* Source wants half of the screen. */
static int right_width(const struct tui *t, int w)
{
	return t->group == GROUP_SOURCE ? w / 2 : min(max(w / 3, 30), 46);
}

static void draw_right(struct tui *t, int x, int y, int w, int h)
{
	int orders = min(orders_height(t), h / 4 + 1), latency = min(9, h / 4), used;

	draw_pane(t, &pane_window, x, y, w, 5);
	used = 5;
	if (whole_column(t->group)) {
		draw_pane(t, whole_column(t->group), x, y + used, w, h - used);
		return;
	}
	draw_pane(t, &pane_orders, x, y + used, w, orders);
	used += orders;
	draw_pane(t, &pane_latency, x, y + used, w, latency);
	used += latency;
	draw_pane(t, &pane_memory, x, y + used, w, h - used);
}

static void draw_wide(struct tui *t, const struct rect *r)
{
	int right = right_width(t, r->w), left = r->w - right - 1;
	int why = 4, events = t->group == GROUP_EVENTS ? r->h / 2 : max(r->h / 4, 6);
	int map = r->h - why - events;

	draw_pane(t, &pane_map, r->x, r->y, left, map);
	draw_pane(t, &pane_why, r->x, r->y + map, left, why);
	draw_separator(t, r->x + left, r->y, map + why);
	draw_right(t, r->x + left + 1, r->y, right, map + why);
	draw_pane(t, &pane_events, r->x, r->y + map + why, r->w, events);
}

/* Several machines: their maps side by side, then orders and latency of each. */
static void draw_compare(struct tui *t, const struct rect *r)
{
	int why = 4, events = max(r->h / 6, 4), lower = r->h >= 28 ? 8 : 6, window = 1;
	int map = r->h - why - events - lower - window;

	draw_each(t, &pane_map, r->x, r->y, r->w, map);
	draw_each(t, &pane_window, r->x, r->y + map, r->w, window);
	draw_each(t,
		  t->group == GROUP_MEMORY   ? &pane_memory
		  : t->group == GROUP_PAGE   ? &pane_page
		  : t->group == GROUP_EVENTS ? &pane_latency
		  : t->group == GROUP_SOURCE ? &pane_source
		  : t->group == GROUP_STRUCT ? &pane_struct
					     : &pane_orders,
		  r->x, r->y + map + window, r->w, lower);
	draw_pane(t, &pane_why, r->x, r->y + map + window + lower, r->w, why);
	draw_pane(t, &pane_events, r->x, r->y + r->h - events, r->w, events);
}

/* ---- one column ---- */

static void draw_lower(struct tui *t, const struct rect *r)
{
	int upper = max(r->h - 4, 3), half = r->w / 2;

	switch (t->group) {
	case GROUP_MEMORY:
		draw_pane(t, &pane_memory, r->x, r->y, half, r->h);
		draw_pane(t, &pane_latency, r->x + half + 1, r->y, r->w - half - 1, r->h);
		draw_separator(t, r->x + half, r->y + 1, r->h - 1);
		break;
	case GROUP_PAGE:
		draw_pane(t, &pane_page, r->x, r->y, r->w, r->h);
		break;
	case GROUP_EVENTS:
		draw_pane(t, &pane_events, r->x, r->y, r->w, r->h);
		break;
	case GROUP_SOURCE:
		draw_pane(t, &pane_source, r->x, r->y, r->w, r->h);
		break;
	case GROUP_STRUCT:
		draw_pane(t, &pane_struct, r->x, r->y, r->w, r->h);
		break;
	default:
		draw_pane(t, &pane_orders, r->x, r->y, half, upper);
		draw_pane(t, &pane_latency, r->x + half + 1, r->y, r->w - half - 1, upper);
		draw_separator(t, r->x + half, r->y + 1, upper - 1);
		draw_pane(t, &pane_events, r->x, r->y + upper, r->w, r->h - upper);
	}
}

static void draw_stacked(struct tui *t, const struct rect *r)
{
	int why = 4, lower = 9 + (r->h - 22) / 3, map = r->h - 1 - why - lower;

	draw_pane(t, &pane_map, r->x, r->y, r->w, map);
	draw_pane(t, &pane_window, r->x, r->y + map, r->w, 1);
	draw_pane(t, &pane_why, r->x, r->y + map + 1, r->w, why);
	draw_lower(t, &(struct rect){r->x, r->y + map + 1 + why, r->w, lower});
}

static void draw_small(struct tui *t, const struct rect *r)
{
	static const struct tui_pane *const panes[GROUP_NR] = {
		[GROUP_MAIN] = &pane_events,   [GROUP_MEMORY] = &pane_memory,
		[GROUP_PAGE] = &pane_page,     [GROUP_EVENTS] = &pane_orders,
		[GROUP_SOURCE] = &pane_source, [GROUP_STRUCT] = &pane_struct,
	};
	int why = r->h >= 12 ? 4 : 3, lower = r->h >= 12 ? r->h / 3 : 0;
	int map = r->h - why - lower;

	if (!lower && t->group != GROUP_MAIN) {
		draw_pane(t, panes[t->group], r->x, r->y, r->w, map);
	} else {
		draw_each(t, &pane_map, r->x, r->y, r->w, map);
		draw_pane(t, panes[t->group], r->x, r->y + map + why, r->w, lower);
	}
	draw_pane(t, &pane_why, r->x, r->y + map, r->w, why);
}

/* The machine's panes, as many as there is room for. */
static void draw_machine(struct tui *t, const struct rect *r)
{
	if (r->w < 60 || r->h < FULL_HEIGHT - 3)
		draw_small(t, r);
	else if (tui_side_by_side(t))
		(r->w < 80 ? draw_small : draw_compare)(t, r);
	else if (r->w >= WIDE_WIDTH && r->h >= WIDE_HEIGHT - 2)
		draw_wide(t, r);
	else
		draw_stacked(t, r);
}

/* ---- with a guide ---- */

#define GUIDE_BESIDE 120 /* columns for guide and machine beside each other */
#define GUIDE_WIDEST 80

static void draw_guided(struct tui *t, const struct rect *r)
{
	int left = min(r->w * 9 / 20, GUIDE_WIDEST);

	t->guide_alone = r->w < GUIDE_BESIDE || !t->guide->nr;
	if (!t->guide_alone) {
		draw_guide(t, &(struct rect){r->x, r->y, left, r->h});
		draw_separator(t, r->x + left, r->y, r->h);
		draw_machine(t, &(struct rect){r->x + left + 1, r->y, r->w - left - 1, r->h});
	} else if (t->talking || !t->guide->nr) {
		draw_guide(t, r);
	} else {
		draw_machine(t, &(struct rect){r->x, r->y, r->w, r->h - 1});
		draw_guide_line(t, &(struct rect){r->x, r->y + r->h - 1, r->w, 1});
	}
}

static void draw_one_line(struct tui *t)
{
	char place[48];

	canvas_printf(&t->canvas, 0, 0, t->canvas.width, ROLE_TEXT, "event %s - needs %dx%d",
		      tui_place(t, "/", place, sizeof(place)), TUI_MIN_WIDTH, TUI_MIN_HEIGHT);
}

/* ---- the prompt ---- */

static void draw_prompt(struct tui *t)
{
	const char *label = tui_key(t->prompt)->label;
	int y = t->canvas.height - 1;

	canvas_fill(&t->canvas, &(struct rect){0, y, t->canvas.width, 1}, ' ', ROLE_STATUS);
	t->cursor_x =
		line_draw(&t->canvas, 1, y, t->canvas.width - 2, *label ? label : ":", &t->line);
	t->cursor_y = y;
}

void tui_draw(struct tui *t)
{
	int w = t->canvas.width, h = t->canvas.height;
	struct rect body = {0, 1, w, h - 2};

	canvas_clear(&t->canvas);
	t->nr_hints = 0;
	t->nr_events_shown = 0;
	t->map_rect = t->events_rect = t->guide_rect = (struct rect){0};
	t->cursor_x = t->cursor_y = -1;
	if (w < TUI_MIN_WIDTH || h < TUI_MIN_HEIGHT) {
		draw_one_line(t);
		return;
	}
	if (t->mode == MODE_HELP)
		draw_help(t, &body);
	else if (t->mode == MODE_TWIN)
		draw_twin(t, &body);
	else if (t->guide)
		draw_guided(t, &body);
	else
		draw_machine(t, &body);
	draw_title(t);
	if (t->mode == MODE_PROMPT)
		draw_prompt(t);
	else
		draw_hints(t);
}
