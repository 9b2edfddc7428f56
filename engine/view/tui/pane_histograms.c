/* Folios by order, and calls by latency. */
#include <inttypes.h>

#include "view/tui/internal.h"

/* ---- orders ---- */

static unsigned int top_order(const struct tui *t)
{
	unsigned int top = 4;

	for (unsigned int i = 0; i < t->nr; i++)
		for (unsigned int o = 0; o < TRACE_ORDERS; o++)
			if (t->machines[i].scene.counts.events[EV_mm_filemap_add_to_page_cache][o])
				top = max(top, o);
	return top;
}

/* Was there ever a folio of that order, on any of the machines? */
static bool order_seen(const struct tui *t, unsigned int order)
{
	for (unsigned int i = 0; i < t->nr; i++)
		if (t->machines[i].scene.counts.events[EV_mm_filemap_add_to_page_cache][order])
			return true;
	return false;
}

/* The orders to show in @rows rows: all up to the top, or those that were seen, the largest. */
static int choose_orders(const struct tui *t, int rows, u8 *orders)
{
	int top = top_order(t), n = 0, skip;
	bool all = top < rows;

	for (int o = 0; o <= top; o++)
		if (all || order_seen(t, o))
			orders[n++] = o;
	skip = max(n - rows, 0);
	for (int i = skip; i < n; i++)
		orders[i - skip] = orders[i];
	return n - skip;
}

static void draw_orders(struct tui *t, struct tui_scene *m, const struct rect *r)
{
	const struct scene_sums *sums = &m->scene.sums;
	struct rect in = canvas_pane(&t->canvas, r, "cached folios by order");
	u8 orders[TRACE_ORDERS];
	int n = choose_orders(t, in.h, orders);
	u64 most = 1;
	char text[16];

	for (unsigned int o = 0; o < TRACE_ORDERS; o++)
		most = max(most, sums->folios[o]);
	for (int i = 0; i < n; i++) {
		unsigned int o = orders[i];
		int y = in.y + i;

		canvas_printf(&t->canvas, in.x + 1, y, 2, role_order(o, true), "%x", o);
		canvas_bar(&t->canvas, in.x + 3, y, max(in.w - 11, 3), sums->folios[o], most,
			   ROLE_BAR);
		canvas_printf(&t->canvas, in.x + in.w - 7, y, 7,
			      sums->folios[o] ? ROLE_TEXT : ROLE_DIM, "%6s",
			      short_count(sums->folios[o], text, sizeof(text)));
	}
}

static void twin_orders(const struct tui *t, const struct tui_scene *m, FILE *f)
{
	(void)t;
	fprintf(f, "Cached folios by order:");
	for (unsigned int o = 0; o < TRACE_ORDERS; o++)
		if (m->scene.sums.folios[o])
			fprintf(f, " order %u: %" PRIu64 ";", o, m->scene.sums.folios[o]);
	fprintf(f, "\n");
}

const struct tui_pane pane_orders = {"orders", draw_orders, twin_orders};

/* ---- latency ---- */

#define LOG2_BUCKETS 64

/* Quantiles need min and max, which a scene does not keep. */
static u64 quantile(const struct scene *s, unsigned int per_thousand)
{
	struct histogram h = s->counts.latency;

	h.min = 0;
	h.max = s->state.latency_max;
	return histogram_quantile(&h, per_thousand);
}

static void latency_range(const struct histogram *h, unsigned int *low, unsigned int *high)
{
	*low = LOG2_BUCKETS;
	*high = 0;
	for (unsigned int b = 0; b < LOG2_BUCKETS; b++)
		if (histogram_log2(h, b)) {
			*low = min(*low, b);
			*high = b;
		}
}

static void draw_latency_rows(struct tui *t, const struct scene *s, const struct rect *in, int rows)
{
	const struct histogram *h = &s->counts.latency;
	unsigned int low, high;
	u64 most = 1;
	char text[16];

	latency_range(h, &low, &high);
	if ((int)(high - low) >= rows)
		low = high - rows + 1;
	for (unsigned int b = low; b <= high; b++)
		most = max(most, histogram_log2(h, b));
	for (unsigned int b = low; b <= high; b++) {
		int y = in->y + b - low;
		u64 n = histogram_log2(h, b);

		canvas_printf(&t->canvas, in->x + 1, y, 7, ROLE_DIM, "%6s",
			      short_time(1ull << b, text, sizeof(text)));
		canvas_bar(&t->canvas, in->x + 9, y, max(in->w - 17, 3), n, most, ROLE_BAR);
		canvas_printf(&t->canvas, in->x + in->w - 7, y, 7, n ? ROLE_TEXT : ROLE_DIM, "%6s",
			      short_count(n, text, sizeof(text)));
	}
}

static void draw_latency(struct tui *t, struct tui_scene *m, const struct rect *r)
{
	const struct scene *s = &m->scene;
	struct rect in = canvas_pane(&t->canvas, r, "latency of calls (virtual)");
	char p50[16], p99[16], most[16];

	if (!s->counts.latency.count) {
		canvas_text(&t->canvas, in.x + 1, in.y, in.w - 1, ROLE_DIM, "no call returned yet");
		return;
	}
	draw_latency_rows(t, s, &in, in.h - 1);
	canvas_printf(&t->canvas, in.x + 1, in.y + in.h - 1, in.w - 1, ROLE_TEXT,
		      "p50 %s  p99 %s  max %s", short_time(quantile(s, 500), p50, sizeof(p50)),
		      short_time(quantile(s, 990), p99, sizeof(p99)),
		      short_time(s->state.latency_max, most, sizeof(most)));
}

static void twin_latency(const struct tui *t, const struct tui_scene *m, FILE *f)
{
	const struct scene *s = &m->scene;
	char p50[16], p99[16], most[16];

	(void)t;
	fprintf(f, "%" PRIu64 " calls returned", s->counts.calls);
	if (s->counts.calls)
		fprintf(f, "; median %s, 99 %% within %s, slowest %s",
			short_time(quantile(s, 500), p50, sizeof(p50)),
			short_time(quantile(s, 990), p99, sizeof(p99)),
			short_time(s->state.latency_max, most, sizeof(most)));
	fprintf(f, ".\n");
}

const struct tui_pane pane_latency = {"latency", draw_latency, twin_latency};
