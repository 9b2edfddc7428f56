/* Sums: orders, latency, memory. With a range selected they are that range's. */
#include <inttypes.h>
#include <string.h>

#include "view/gui/internal.h"
#include "view/gui/panels.h"

#define LOG2_BUCKETS 64
#define LRU_INACTIVE 3 /* 1 + enum lru_list, of the file lists */
#define LRU_ACTIVE   4

static bool in_range(const struct gui *g, unsigned int m)
{
	return g->ranged && m == g->view.lead;
}

/* The head line of panels that a range changes; @what is summed up. */
static struct box range_line(struct gui *g, unsigned int m, struct box box, const char *what)
{
	char from[16], to[16];

	if (g->view.nr > 1)
		box = gui_line(g, box, ROLE_DIM, "%s", g->view.machines[m].scene.info->kernel);
	if (in_range(g, m))
		box = gui_line(g, box, ROLE_MATCH, "%s %s to %s", what,
			       short_time(g->range.from_ns, from, sizeof(from)),
			       short_time(g->range.to_ns, to, sizeof(to)));
	return box;
}

/* ---- orders ---- */

unsigned int gui_orders(const struct gui *g)
{
	unsigned int n = 5;

	for (unsigned int i = 0; i < g->view.nr; i++)
		for (unsigned int o = 0; o < TRACE_ORDERS; o++)
			if (g->view.machines[i]
				    .scene.counts.events[EV_mm_filemap_add_to_page_cache][o])
				n = max(n, o + 1);
	return n;
}

void panel_orders(struct gui *g, unsigned int m, struct box box)
{
	const u64 *folios = in_range(g, m) ? g->range.added : g->view.machines[m].scene.sums.folios;
	u64 most = 1;
	char name[16], text[16];

	box = range_line(g, m, box, "added from");
	for (unsigned int o = 0; o < TRACE_ORDERS; o++)
		most = max(most, folios[o]);
	for (unsigned int o = 0; o < gui_orders(g); o++) {
		snprintf(name, sizeof(name), "%2u", o);
		box = gui_bar(g, box, 2, name, folios[o], most, gui_fill(g, role_order(o, true)),
			      short_count(folios[o], text, sizeof(text)));
	}
}

/* ---- latency ---- */

static void latency_of(const struct gui *g, unsigned int m, struct histogram *h)
{
	const struct scene *s = &g->view.machines[m].scene;

	*h = in_range(g, m) ? g->range.latency : s->counts.latency;
	if (!in_range(g, m)) {
		h->min = 0;
		h->max = s->state.latency_max;
	}
}

/* The powers of two to show: all between the first and last where calls are, or only those. */
static unsigned int choose_buckets(const struct histogram *h, unsigned int room, u8 *buckets)
{
	unsigned int n = 0, low = LOG2_BUCKETS, high = 0, skip;

	for (unsigned int b = 0; b < LOG2_BUCKETS; b++)
		if (histogram_log2(h, b)) {
			low = min(low, b);
			high = b;
		}
	for (unsigned int b = low; b <= high; b++)
		if (high - low < room || histogram_log2(h, b))
			buckets[n++] = b;
	skip = n > room ? n - room : 0;
	memmove(buckets, buckets + skip, n - skip);
	return n - skip;
}

static void latency_rows(struct gui *g, struct box box, const struct histogram *h)
{
	u8 buckets[LOG2_BUCKETS];
	unsigned int n = choose_buckets(h, box.h / px(g, 18), buckets);
	char name[16], text[16];
	u64 most = 1;

	for (unsigned int i = 0; i < n; i++)
		most = max(most, histogram_log2(h, buckets[i]));
	for (unsigned int i = 0; i < n; i++) {
		u64 calls = histogram_log2(h, buckets[i]);

		box = gui_bar(g, box, 7, short_time(1ull << buckets[i], name, sizeof(name)), calls,
			      most, gui_ink(g, ROLE_BAR), short_count(calls, text, sizeof(text)));
	}
}

void panel_latency(struct gui *g, unsigned int m, struct box box)
{
	char p50[16], p99[16], most[16];
	struct histogram h;

	latency_of(g, m, &h);
	box = range_line(g, m, box, "from");
	if (!h.count) {
		gui_line(g, box, ROLE_DIM, "no call returned yet");
		return;
	}
	box = gui_line(g, box, ROLE_TEXT, "p50 %s  p99 %s  max %s",
		       short_time(histogram_quantile(&h, 500), p50, sizeof(p50)),
		       short_time(histogram_quantile(&h, 990), p99, sizeof(p99)),
		       short_time(h.max, most, sizeof(most)));
	latency_rows(g, box, &h);
}

/* ---- memory ---- */

/* A column for each order of the buddy system's free lists, on a log scale. */
static void draw_buddy(struct gui *g, const struct scene *s, struct box box)
{
	int w = box.w / 11, h = box.h - px(g, 18);

	for (unsigned int o = 0; o <= 10; o++) {
		u64 n = s->counts.free[o];
		int full = n ? max((int)(h * (1 + ilog2(n)) / 24), px(g, 2)) : 0;
		struct box bar = {box.x + (int)o * w, box.y, w - px(g, 2), h};

		full = min(full, h);
		draw_rect(&g->draw, bar, gui_mix(gui_ink(g, ROLE_BAR), gui_card(g), 10));
		bar.y += h - full;
		bar.h = full;
		draw_rect(&g->draw, bar, gui_ink(g, ROLE_BAR));
		bar.y = box.y + h + px(g, 2);
		bar.h = px(g, 16);
		draw_printf(&g->draw, bar, px(g, 16), 0, ALIGN_MIDDLE, gui_ink(g, ROLE_DIM), "%u",
			    o);
	}
}

void panel_memory(struct gui *g, unsigned int m, struct box box)
{
	const struct scene *s = &g->view.machines[m].scene;
	const struct {
		const char *name;
		u64 pages;
		enum canvas_role role;
	} rows[] = {
		{"used", s->sums.used, ROLE_BAR},
		{"unused", s->sums.pages - s->sums.used, ROLE_MARK},
		{"inactive", s->sums.lru[LRU_INACTIVE], ROLE_BAR},
		{"active", s->sums.lru[LRU_ACTIVE], ROLE_BAR},
		{"dirty", s->sums.dirty, ROLE_DIRTY},
		{"evicted", s->state.evicted, ROLE_BAR},
		{"in vain", s->state.evicted_unused, ROLE_MARK},
	};
	u64 most = max(max(s->sums.pages, s->state.evicted), (u64)1);
	char cached[16], free[16], text[16];

	if (g->view.nr > 1)
		box = gui_line(g, box, ROLE_DIM, "%s", s->info->kernel);
	box = gui_line(g, box, ROLE_TEXT, "cached %s  free %s",
		       short_count(s->sums.pages, cached, sizeof(cached)),
		       short_count(scene_free_pages(s), free, sizeof(free)));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		box = gui_bar(g, box, 8, rows[i].name, rows[i].pages, most,
			      gui_ink(g, rows[i].role),
			      short_count(rows[i].pages, text, sizeof(text)));
	if (box.h < px(g, 60))
		return;
	box = gui_line(g, box, ROLE_DIM, "free blocks by order (log)");
	draw_buddy(g, s, box);
}
