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

static void draw_right(struct tui *t, int x, int y, int w, int h)
{
	int orders = min(orders_height(t), h / 4 + 1), latency = min(9, h / 4), used;

	draw_pane(t, &pane_window, x, y, w, 5);
	used = 5;
	if (t->group == GROUP_PAGE) {
		draw_pane(t, &pane_page, x, y + used, w, h - used);
		return;
	}
	draw_pane(t, &pane_orders, x, y + used, w, orders);
	used += orders;
	draw_pane(t, &pane_latency, x, y + used, w, latency);
	used += latency;
	draw_pane(t, &pane_memory, x, y + used, w, h - used);
}

static void draw_wide(struct tui *t, int top, int height)
{
	int w = t->canvas.width, right = min(max(w / 3, 30), 46), left = w - right - 1;
	int why = 4, events = t->group == GROUP_EVENTS ? height / 2 : max(height / 4, 6);
	int map = height - why - events;

	draw_pane(t, &pane_map, 0, top, left, map);
	draw_pane(t, &pane_why, 0, top + map, left, why);
	draw_separator(t, left, top, map + why);
	draw_right(t, left + 1, top, right, map + why);
	draw_pane(t, &pane_events, 0, top + map + why, w, events);
}

/* Several machines: their maps side by side, then orders and latency of each. */
static void draw_compare(struct tui *t, int top, int height)
{
	int w = t->canvas.width, why = 4, events = max(height / 6, 4);
	int lower = height >= 28 ? 8 : 6, window = 1;
	int map = height - why - events - lower - window;

	draw_each(t, &pane_map, 0, top, w, map);
	draw_each(t, &pane_window, 0, top + map, w, window);
	draw_each(t,
		  t->group == GROUP_MEMORY   ? &pane_memory
		  : t->group == GROUP_PAGE   ? &pane_page
		  : t->group == GROUP_EVENTS ? &pane_latency
					     : &pane_orders,
		  0, top + map + window, w, lower);
	draw_pane(t, &pane_why, 0, top + map + window + lower, w, why);
	draw_pane(t, &pane_events, 0, top + height - events, w, events);
}

/* ---- one column ---- */

static void draw_lower(struct tui *t, int y, int h)
{
	int w = t->canvas.width, upper = max(h - 4, 3), half = w / 2;

	switch (t->group) {
	case GROUP_MEMORY:
		draw_pane(t, &pane_memory, 0, y, half, h);
		draw_pane(t, &pane_latency, half + 1, y, w - half - 1, h);
		draw_separator(t, half, y + 1, h - 1);
		break;
	case GROUP_PAGE:
		draw_pane(t, &pane_page, 0, y, w, h);
		break;
	case GROUP_EVENTS:
		draw_pane(t, &pane_events, 0, y, w, h);
		break;
	default:
		draw_pane(t, &pane_orders, 0, y, half, upper);
		draw_pane(t, &pane_latency, half + 1, y, w - half - 1, upper);
		draw_separator(t, half, y + 1, upper - 1);
		draw_pane(t, &pane_events, 0, y + upper, w, h - upper);
	}
}

static void draw_stacked(struct tui *t, int top, int height)
{
	int w = t->canvas.width, why = 4, lower = 9 + (height - 22) / 3;
	int map = height - 1 - why - lower;

	draw_pane(t, &pane_map, 0, top, w, map);
	draw_pane(t, &pane_window, 0, top + map, w, 1);
	draw_pane(t, &pane_why, 0, top + map + 1, w, why);
	draw_lower(t, top + map + 1 + why, lower);
}

static void draw_small(struct tui *t, int top, int height)
{
	static const struct tui_pane *const panes[GROUP_NR] = {
		[GROUP_MAIN] = &pane_events,
		[GROUP_MEMORY] = &pane_memory,
		[GROUP_PAGE] = &pane_page,
		[GROUP_EVENTS] = &pane_orders,
	};
	int w = t->canvas.width, why = height >= 12 ? 4 : 3, lower = height >= 12 ? height / 3 : 0;
	int map = height - why - lower;

	if (!lower && t->group != GROUP_MAIN) {
		draw_pane(t, panes[t->group], 0, top, w, map);
	} else {
		draw_each(t, &pane_map, 0, top, w, map);
		draw_pane(t, panes[t->group], 0, top + map + why, w, lower);
	}
	draw_pane(t, &pane_why, 0, top + map, w, why);
}

static void draw_one_line(struct tui *t)
{
	char place[48];

	canvas_printf(&t->canvas, 0, 0, t->canvas.width, ROLE_TEXT, "event %s - needs %dx%d",
		      tui_place(t, "/", place, sizeof(place)), TERM_MIN_WIDTH, TERM_MIN_HEIGHT);
}

/* ---- the prompt ---- */

static void draw_prompt(struct tui *t)
{
	int y = t->canvas.height - 1, n;

	canvas_fill(&t->canvas, &(struct rect){0, y, t->canvas.width, 1}, ' ', ROLE_STATUS);
	n = canvas_printf(&t->canvas, 1, y, t->canvas.width - 1, ROLE_STATUS_STRONG, "%s ",
			  tui_key(t->prompt)->label[0] ? tui_key(t->prompt)->label : ":");
	canvas_text(&t->canvas, 1 + n, y, t->canvas.width - n - 1, ROLE_STATUS, t->line);
}

void tui_draw(struct tui *t)
{
	int w = t->canvas.width, h = t->canvas.height;
	struct rect body = {0, 1, w, h - 2};

	canvas_clear(&t->canvas);
	t->nr_hints = 0;
	t->nr_events_shown = 0;
	t->map_rect = t->events_rect = (struct rect){0};
	if (w < TERM_MIN_WIDTH || h < TERM_MIN_HEIGHT) {
		draw_one_line(t);
		return;
	}
	if (t->mode == MODE_HELP)
		draw_help(t, &body);
	else if (t->mode == MODE_TWIN)
		draw_twin(t, &body);
	else if (w < 80 || h < FULL_HEIGHT)
		draw_small(t, 1, h - 2);
	else if (t->nr > 1)
		draw_compare(t, 1, h - 2);
	else if (w >= WIDE_WIDTH && h >= WIDE_HEIGHT)
		draw_wide(t, 1, h - 2);
	else
		draw_stacked(t, 1, h - 2);
	draw_title(t);
	if (t->mode == MODE_PROMPT)
		draw_prompt(t);
	else
		draw_hints(t);
}
