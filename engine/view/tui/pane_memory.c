/* Cache, LRU lists and the buddy system's free lists. */
#include <inttypes.h>

#include "view/narrate.h"
#include "view/tui/internal.h"

/* enum lru_list + 1 of the file lists. */
#define LRU_INACTIVE 3
#define LRU_ACTIVE   4

static u64 memory_pages(const struct scene *s)
{
	return s->info->memory >> s->page_shift;
}

static unsigned int buddy_top(const struct scene *s)
{
	unsigned int top = 10;

	for (unsigned int o = 0; o < RECORDING_ORDERS; o++)
		if (s->info->free[o])
			top = max(top, o);
	return top;
}

/* One letter an order: the digit, and under it how many free blocks on a log scale. */
static void draw_buddy(struct tui *t, const struct scene *s, int x, int y, int w)
{
	unsigned int top = buddy_top(s);

	for (unsigned int o = 0; o <= top && (int)o * 2 < w; o++) {
		u64 n = s->counts.free[o];
		unsigned int level = n ? min(1 + ilog2(n) / 2, 8u) : 0;

		canvas_put(&t->canvas, x + o * 2, y, n ? 0x2580 + level : 0x00b7,
			   n ? ROLE_BAR : ROLE_ABSENT);
		canvas_printf(&t->canvas, x + o * 2, y + 1, 1, ROLE_DIM, "%x", o);
	}
}

static int put_row(struct tui *t, const struct rect *in, int y, const char *name, u64 pages, u64 of)
{
	char text[16];

	if (y >= in->h)
		return y;
	canvas_printf(&t->canvas, in->x + 1, in->y + y, 10, ROLE_DIM, "%s", name);
	canvas_bar(&t->canvas, in->x + 11, in->y + y, max(in->w - 19, 3), pages, of, ROLE_BAR);
	canvas_printf(&t->canvas, in->x + in->w - 7, in->y + y, 7, ROLE_TEXT, "%6s",
		      short_count(pages, text, sizeof(text)));
	return y + 1;
}

static void draw(struct tui *t, struct tui_scene *m, const struct rect *r)
{
	const struct scene *s = &m->scene;
	struct rect in = canvas_pane(&t->canvas, r, "memory (pages)");
	u64 cached = s->sums.pages, most = max(cached, (u64)1);
	int y = 0;

	y = put_row(t, &in, y, "cached", cached, most);
	y = put_row(t, &in, y, "used", s->sums.used, most);
	y = put_row(t, &in, y, "unused", cached - s->sums.used, most);
	if (in.h < 6)
		return;
	y = put_row(t, &in, y, "inactive", s->sums.lru[LRU_INACTIVE], most);
	y = put_row(t, &in, y, "active", s->sums.lru[LRU_ACTIVE], most);
	if (s->sums.dirty + s->sums.writeback)
		y = put_row(t, &in, y, "dirty", s->sums.dirty, most);
	if (s->state.evicted)
		y = put_row(t, &in, y, "evicted", s->state.evicted, s->state.evicted);
	if (s->state.evicted_unused)
		y = put_row(t, &in, y, "in vain", s->state.evicted_unused, s->state.evicted);
	y = put_row(t, &in, y, "free", scene_free_pages(s), memory_pages(s));
	if (y + 2 <= in.h) {
		canvas_text(&t->canvas, in.x + 1, in.y + y, 10, ROLE_DIM, "blocks");
		canvas_text(&t->canvas, in.x + 1, in.y + y + 1, 10, ROLE_DIM, "of order");
		draw_buddy(t, s, in.x + 11, in.y + y, in.w - 12);
	}
}

static void twin(const struct tui *t, const struct tui_scene *m, FILE *f)
{
	const struct scene *s = &m->scene;

	(void)t;
	fprintf(f,
		"Memory: %" PRIu64 " pages cached, %" PRIu64 " of them used; %" PRIu64
		" inactive, %" PRIu64 " active, %" PRIu64 " dirty, %" PRIu64
		" under writeback; %" PRIu64 " evicted, %" PRIu64 " of them never used; %" PRIu64
		" of %" PRIu64 " pages free.\nFree blocks by order:",
		s->sums.pages, s->sums.used, s->sums.lru[LRU_INACTIVE], s->sums.lru[LRU_ACTIVE],
		s->sums.dirty, s->sums.writeback, s->state.evicted, s->state.evicted_unused,
		scene_free_pages(s), memory_pages(s));
	for (unsigned int o = 0; o <= buddy_top(s); o++)
		fprintf(f, " %u: %" PRIu64 ";", o, s->counts.free[o]);
	fprintf(f, "\n");
}

const struct tui_pane pane_memory = {"memory", draw, twin};
