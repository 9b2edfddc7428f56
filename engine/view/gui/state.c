/* What the window knows beside the terminal view's state: times, ranges, zoom. */
#include <errno.h>
#include <string.h>

#include "view/gui/internal.h"

/* Widths of a map cell in units; below FINE a cell is one pixel of a picture. */
static const int cells[] = {2, 3, 4, 6, 10, 14, 20, 28, 40};

#define CELL_START 14

int gui_init(struct gui *g, const struct tui_machine *machines, unsigned int nr,
	     const struct tui_options *options, struct font *font, struct fl_error *err)
{
	int ret;

	memset(g, 0, sizeof(*g));
	g->unit = 1;
	g->cell = CELL_START;
	g->drag = g->focus = PANEL_NONE;
	draw_init(&g->draw, font);
	ret = tui_init(&g->view, machines, nr, options, err);
	if (ret)
		return ret;
	for (unsigned int i = 0; i < g->view.nr; i++) {
		timeline_init(&g->lines[i], machines[i].tape, machines[i].info->page_size);
		g->lines[i].real = machines[i].info->source[0];
	}
	ret = gui_update(g);
	gui_show_all(g);
	return ret ? fl_error_set(err, ret, NULL, 0, "out of memory") : 0;
}

void gui_fini(struct gui *g)
{
	for (unsigned int i = 0; i < g->view.nr; i++)
		timeline_fini(&g->lines[i]);
	gui_kept_fini(g);
	tui_fini(&g->view);
	draw_fini(&g->draw);
}

/* The span of all machines' times. */
static void all_times(const struct gui *g, u64 *from, u64 *to)
{
	*from = ~0ull;
	*to = 0;
	for (unsigned int i = 0; i < g->view.nr; i++) {
		*from = min(*from, g->lines[i].first_ns);
		*to = max(*to, g->lines[i].last_ns);
	}
	*to = max(*to, *from + 1);
}

int gui_update(struct gui *g)
{
	u64 from, to;
	int ret = 0;

	all_times(g, &from, &to);
	for (unsigned int i = 0; i < g->view.nr && !ret; i++)
		ret = timeline_update(&g->lines[i]);
	/* Who sees all of it goes on to see all of it while it grows. */
	if (g->from_ns == from && g->to_ns == to)
		gui_show_all(g);
	tui_follow(&g->view);
	return ret;
}

void gui_show_all(struct gui *g)
{
	all_times(g, &g->from_ns, &g->to_ns);
}

/* Count what lies in the range, from the leader's tape. */
static void sum_range(struct gui *g)
{
	const struct timeline *line = &g->lines[g->view.lead];
	struct gui_range *r = &g->range;

	memset(r->added, 0, sizeof(r->added));
	histogram_init(&r->latency);
	for (size_t i = timeline_call_at(line, r->from_ns);
	     i < line->nr_calls && line->calls[i].ns <= r->to_ns; i++)
		histogram_add(&r->latency, line->calls[i].latency);
	for (u64 nr = r->from; nr < r->to; nr++) {
		const struct trace_record *rec = tape_record(line->tape, nr);

		if (rec->id == EV_mm_filemap_add_to_page_cache && rec->order < TRACE_ORDERS)
			r->added[rec->order]++;
	}
}

void gui_select(struct gui *g, u64 a, u64 b)
{
	const struct timeline *line = &g->lines[g->view.lead];

	g->ranged = a != b;
	g->range.from_ns = min(a, b);
	g->range.to_ns = max(a, b);
	if (!g->ranged)
		return;
	g->range.from = g->range.from_ns ? timeline_event_at(line, g->range.from_ns - 1) : 0;
	g->range.to = timeline_event_at(line, g->range.to_ns);
	sum_range(g);
}

void gui_zoom_time(struct gui *g, u64 ns, double factor)
{
	u64 first, last;
	double length = (double)(g->to_ns - g->from_ns) / factor, left;

	all_times(g, &first, &last);
	length = max(length, 10.0);
	if (length >= (double)(last - first)) {
		gui_show_all(g);
		return;
	}
	ns = min(max(ns, g->from_ns), g->to_ns);
	left = (ns - g->from_ns) / factor;
	g->from_ns = (double)(ns - first) > left ? ns - (u64)left : first;
	g->to_ns = g->from_ns + (u64)length;
	if (g->to_ns > last) {
		g->from_ns -= g->to_ns - last;
		g->to_ns = last;
	}
}

void gui_pan_time(struct gui *g, double part)
{
	u64 first, last, length = g->to_ns - g->from_ns;
	double from = (double)g->from_ns + part * length;

	all_times(g, &first, &last);
	from = min(max(from, (double)first), (double)(last - length));
	g->from_ns = from;
	g->to_ns = g->from_ns + length;
}

static int cell_index(int cell)
{
	int i = 0;

	while (i + 1 < (int)ARRAY_SIZE(cells) && cells[i] < cell)
		i++;
	return i;
}

/* One step nearer or farther: first the cells' size, then the pages in one. */
static void zoom_once(struct gui *g, bool nearer)
{
	struct tui *t = &g->view;
	int i = cell_index(g->cell);

	if (nearer && t->map_cell > 1)
		t->map_cell /= 2;
	else if (nearer)
		g->cell = cells[min(i + 1, (int)ARRAY_SIZE(cells) - 1)];
	else if (i)
		g->cell = cells[i - 1];
	else if (t->map_cell * t->map_columns * t->map_rows < gui_file_pages(g, t->lead))
		t->map_cell *= 2;
}

void gui_zoom_map(struct gui *g, int steps, u64 page)
{
	struct tui *t = &g->view;
	u64 shown = max((u64)t->map_columns * t->map_rows * t->map_cell, (u64)1);
	double part = page >= t->map_first ? (double)(page - t->map_first) / shown : 0;
	u64 row;

	for (; steps > 0; steps--)
		zoom_once(g, true);
	for (; steps < 0; steps++)
		zoom_once(g, false);
	t->follow = false;
	gui_draw(g, g->draw.width, g->draw.height); /* the new rows and columns */
	shown = (u64)t->map_columns * t->map_rows * t->map_cell;
	row = max((u64)t->map_columns * t->map_cell, (u64)1);
	t->map_first = page > part * shown ? page - (u64)(part * shown) : 0;
	t->map_first -= t->map_first % row;
}
