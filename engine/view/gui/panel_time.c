/* Page index over virtual time: windows are rectangles, reads dots, readahead a staircase. */
#include <string.h>

#include "view/gui/internal.h"
#include "view/gui/panels.h"

/* The plot as pixels, the first page at the bottom. */
struct plot {
	struct gui *g;
	const struct timeline *line;
	struct box box;
	u32 *pixels;
	u64 pages; /* of its height */
};

static int y_of(const struct plot *p, u64 page)
{
	int y = (double)min(page, p->pages) * (p->box.h - 1) / p->pages;

	return p->box.h - 1 - y;
}

static int x_of(const struct plot *p, u64 ns)
{
	return gui_x_of(p->g, (struct box){0, 0, p->box.w - 1, 0}, ns);
}

/* @percent of @colour over the pixels from (x0, y0) to (x1, y1), both included. */
static void shade(const struct plot *p, int x0, int y0, int x1, int y1, u32 colour,
		  unsigned int percent)
{
	x0 = max(x0, 0);
	y0 = max(y0, 0);
	x1 = min(x1, p->box.w - 1);
	y1 = min(y1, p->box.h - 1);
	for (int y = y0; y <= y1; y++)
		for (int x = x0; x <= x1; x++) {
			u32 *to = &p->pixels[y * p->box.w + x];

			*to = gui_mix(colour, *to, percent);
		}
}

static void plot_window(const struct plot *p, const struct timeline_window *w)
{
	u64 mark = w->start + w->size - min(w->async_size, w->size);
	int x0 = x_of(p, w->ns), x1 = x_of(p, w->end_ns);
	int bottom = y_of(p, w->start), top = y_of(p, w->start + w->size);
	u32 colour = gui_ink(p->g, ROLE_BAR);

	x1 = max(x1, x0 + px(p->g, 2));
	shade(p, x0, y_of(p, mark), x1, bottom, colour, 45);
	if (w->async_size)
		shade(p, x0, top, x1, y_of(p, mark), colour, 22);
	shade(p, x0, top, x0, bottom, colour, 100);
	if (w->async_size)
		shade(p, x0, y_of(p, mark), x0 + px(p->g, 4), y_of(p, mark) + px(p->g, 1) - 1,
		      gui_ink(p->g, ROLE_MARK), 100);
}

static void plot_windows(const struct plot *p)
{
	const struct timeline *line = p->line;
	size_t i = timeline_window_at(line, p->g->from_ns);

	/* Windows from before whose bytes were still under way. */
	for (size_t back = min(i, (size_t)64); back; back--)
		if (line->windows[i - back].end_ns >= p->g->from_ns)
			plot_window(p, &line->windows[i - back]);
	for (; i < line->nr_windows && line->windows[i].ns <= p->g->to_ns; i++)
		plot_window(p, &line->windows[i]);
}

static void plot_calls(const struct plot *p)
{
	const struct timeline *line = p->line;
	size_t i = timeline_call_at(line, p->g->from_ns);
	u32 reads = gui_fill(p->g, ROLE_READER), writes = gui_ink(p->g, ROLE_DIRTY);
	int dot = px(p->g, 2) - 1;

	for (; i < line->nr_calls && line->calls[i].ns <= p->g->to_ns; i++) {
		const struct timeline_call *c = &line->calls[i];
		u64 first = c->pos >> line->page_shift;
		u64 last = (c->pos + max(c->bytes, 1u) - 1) >> line->page_shift;
		int x = x_of(p, c->ns), bottom = y_of(p, first);

		shade(p, x - dot, min(y_of(p, last), bottom - dot), x, bottom,
		      c->id == EV_fl_write ? writes : reads, 100);
	}
}

/* The last page that anything here is about: the axis ends there. */
static u64 top_page(const struct gui *g)
{
	u64 pages = 1;

	for (unsigned int i = 0; i < g->view.nr; i++)
		pages = max(pages, g->lines[i].pages);
	return pages;
}

static void draw_axes(struct gui *g, struct box plot, u64 pages)
{
	char from[16], to[16];
	struct box below = {plot.x, plot.y + plot.h + px(g, 2), plot.w, px(g, 16)};
	struct box top = {plot.x + px(g, 4), plot.y + px(g, 2), plot.w, px(g, 16)};

	draw_text(&g->draw, below, px(g, 16), 0, ALIGN_LEFT, gui_ink(g, ROLE_DIM),
		  short_time(g->from_ns, from, sizeof(from)));
	draw_text(&g->draw, below, px(g, 16), 0, ALIGN_RIGHT, gui_ink(g, ROLE_DIM),
		  short_time(g->to_ns, to, sizeof(to)));
	draw_printf(&g->draw, top, px(g, 16), 0, ALIGN_LEFT, gui_ink(g, ROLE_DIM), "page %llu",
		    (unsigned long long)pages);
}

void panel_time(struct gui *g, unsigned int m, struct box box)
{
	struct plot p = {.g = g, .line = &g->lines[m], .box = box, .pages = top_page(g)};
	u32 ground = gui_mix(gui_ink(g, ROLE_ABSENT), gui_card(g), 10);
	struct gui_kept_key key;
	bool fresh;

	p.box.h -= px(g, 20);
	if (p.box.w < 8 || p.box.h < 8)
		return;
	key = gui_kept_key(g, m, p.box);
	key.pages = p.pages;
	p.pixels = gui_keep(g, m, KEPT_TIME, &key, (size_t)p.box.w * p.box.h, &fresh);
	if (!p.pixels)
		return;
	if (fresh) {
		for (int i = 0; i < p.box.w * p.box.h; i++)
			p.pixels[i] = ground;
		plot_windows(&p);
		plot_calls(&p);
	}
	draw_image(&g->draw, p.box, p.pixels, p.box.w, p.box.h);
	draw_axes(g, p.box, p.pages);
	gui_plot_marks(g, m, p.box);
	if (m == g->view.lead)
		g->plot = p.box;
}
