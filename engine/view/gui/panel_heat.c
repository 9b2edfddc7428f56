/* Latency over time: a column a stretch of time, a row a power of two, brighter the more calls. */
#include <string.h>

#include "view/gui/internal.h"
#include "view/gui/panels.h"

#define COLUMN 4 /* units */

#define MAX_ROWS 64

/* Counts of calls, then colours: columns from left to right, rows from the slowest down. */
struct heat {
	unsigned int low, high; /* log2 of ns of the lowest and highest row */
	int columns, rows;
	u32 *cells;
};

static unsigned int row_of(u64 latency)
{
	return latency ? ilog2(latency) : 0;
}

static void find_rows(struct heat *h, const struct timeline *line, size_t i, u64 to_ns)
{
	h->low = 63;
	h->high = 0;
	for (; i < line->nr_calls && line->calls[i].ns <= to_ns; i++) {
		h->low = min(h->low, row_of(line->calls[i].latency));
		h->high = max(h->high, row_of(line->calls[i].latency));
	}
	h->low = min(h->low, h->high);
	h->rows = h->high - h->low + 1;
}

static void count(const struct gui *g, struct heat *h, const struct timeline *line, size_t i)
{
	const struct box all = {0, 0, h->columns - 1, 0};

	for (; i < line->nr_calls && line->calls[i].ns <= g->to_ns; i++) {
		int x = gui_x_of(g, all, line->calls[i].ns);
		int y = h->high - row_of(line->calls[i].latency);

		h->cells[y * h->columns + x]++;
	}
}

/* Counts to colours of the orders' palette, on a log scale. */
static void colour(struct gui *g, struct heat *h)
{
	u32 ground = gui_mix(gui_ink(g, ROLE_ABSENT), gui_card(g), 10), most = 1;
	int n = h->columns * h->rows;

	for (int i = 0; i < n; i++)
		most = max(most, h->cells[i]);
	for (int i = 0; i < n; i++) {
		unsigned int step = most > 1 && h->cells[i]
					    ? 1 + 8 * ilog2(h->cells[i]) / max(ilog2(most), 1u)
					    : 5;

		h->cells[i] = h->cells[i] ? gui_fill(g, role_order(step, true)) : ground;
	}
}

/* The cells, as they were kept or worked out anew; false without memory. */
static bool find_cells(struct gui *g, unsigned int m, struct box box, struct heat *h)
{
	const struct timeline *line = &g->lines[m];
	struct gui_kept_key key = gui_kept_key(g, m, box);
	bool fresh;
	u32 *kept = gui_keep(g, m, KEPT_HEAT, &key, 2 + (size_t)h->columns * MAX_ROWS, &fresh);
	size_t first;

	if (!kept)
		return false;
	h->cells = kept + 2;
	if (fresh) {
		first = timeline_call_at(line, g->from_ns);
		find_rows(h, line, first, g->to_ns);
		count(g, h, line, first);
		colour(g, h);
		kept[0] = h->low;
		kept[1] = h->high;
	}
	h->low = kept[0];
	h->high = kept[1];
	h->rows = h->high - h->low + 1;
	return true;
}

static void draw_labels(struct gui *g, const struct heat *h, struct box plot)
{
	char low[16], high[16];
	struct box line = {plot.x + px(g, 4), plot.y + px(g, 1), plot.w - px(g, 8), px(g, 16)};

	draw_text(&g->draw, line, px(g, 16), 0, ALIGN_LEFT, gui_ink(g, ROLE_TEXT),
		  short_time(1ull << h->high, high, sizeof(high)));
	line.y = plot.y + plot.h - px(g, 17);
	if (plot.h >= px(g, 40))
		draw_text(&g->draw, line, px(g, 16), 0, ALIGN_LEFT, gui_ink(g, ROLE_TEXT),
			  short_time(1ull << h->low, low, sizeof(low)));
}

void panel_heat(struct gui *g, unsigned int m, struct box box)
{
	const struct timeline *line = &g->lines[m];
	size_t first = timeline_call_at(line, g->from_ns);
	struct heat h = {.columns = max(box.w / px(g, COLUMN), 2)};

	if (first == line->nr_calls || line->calls[first].ns > g->to_ns) {
		gui_line(g, box, ROLE_DIM, "no call returned in this time");
		return;
	}
	if (!find_cells(g, m, box, &h))
		return;
	draw_image(&g->draw, box, h.cells, h.columns, h.rows);
	draw_labels(g, &h, box);
	gui_plot_marks(g, m, box);
	if (m == g->view.lead)
		g->heat = box;
}
