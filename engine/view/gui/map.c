/* The file map: a cell a page, or a pixel of a picture for many. */
#include <errno.h>
#include <stdlib.h>

#include "view/gui/internal.h"
#include "view/gui/panels.h"

/* Cells from this width on are boxes of their own, with borders between folios. */
#define BOXED 10

/* What every cell needs to know. */
struct map {
	struct gui *g;
	const struct tui_scene *m;
	const struct scene_file *f;
	u64 marked, nr_marked; /* pages the present event is about */
	u64 reader;	       /* page read last, or SCENE_NONE */
	struct scene_window window;
	u32 absent;
	int w, h; /* of a cell */
};

u64 gui_file_pages(const struct gui *g, unsigned int m)
{
	const struct tui_scene *scene = &g->view.machines[m];
	const struct scene_file *f = shown_file(scene);
	u64 page_size = scene->scene.info->page_size;
	u64 pages = DIV_ROUND_UP(scene->scene.info->size, page_size);

	return max(max(pages, f ? f->end : 0), (u64)1);
}

static void look_around(struct map *map, struct gui *g, unsigned int m)
{
	const struct scene *s = &g->view.machines[m].scene;
	struct trace_event ev;

	*map = (struct map){.g = g, .m = &g->view.machines[m], .reader = SCENE_NONE};
	map->f = shown_file(map->m);
	map->window = s->state.window[s->state.last_fd_window % SCENE_DESCRIPTORS];
	map->absent = gui_mix(gui_ink(g, ROLE_ABSENT), gui_card(g), 22);
	if (s->state.call.bytes)
		map->reader = (s->state.call.pos + s->state.call.bytes - 1) >> s->page_shift;
	if (scene_event(s, &ev) && (!ev.ino || ev.ino == map->m->ino))
		scene_event_pages(s, &ev, &map->marked, &map->nr_marked);
}

/* ---- many pages a cell: a picture ---- */

static u32 span_colour(const struct map *map, const struct scene_span *span, u64 pages)
{
	enum canvas_role role = role_order(span->order, span->used * 2 >= span->pages);
	unsigned int full = min_t(u64, 30 + 70 * span->pages / pages, 100);

	if (!span->pages)
		return map->absent;
	if (span->flags & CELL_POISON)
		return gui_fill(map->g, ROLE_POISON);
	if (span->flags & CELL_DIRTY)
		return gui_mix(gui_ink(map->g, ROLE_DIRTY), gui_fill(map->g, role), 60);
	return gui_mix(gui_fill(map->g, role), map->absent, full);
}

static void draw_fine(const struct map *map, struct box cells, u64 end)
{
	struct tui *t = &map->g->view;
	size_t columns = t->map_columns, n = columns * t->map_rows;
	struct scene_span *spans = calloc(n, sizeof(*spans));
	u32 *pixels = malloc(n * sizeof(*pixels));

	if (!spans || !pixels) {
		map->g->draw.error = -ENOMEM;
	} else {
		if (map->f)
			scene_spans(map->f, t->map_first, t->map_cell, spans, n);
		for (size_t i = 0; i < n; i++)
			pixels[i] = t->map_first + i * t->map_cell >= end
					    ? gui_card(map->g)
					    : span_colour(map, &spans[i], t->map_cell);
		cells.w = columns * map->w;
		cells.h = t->map_rows * map->h;
		draw_image(&map->g->draw, cells, pixels, columns, t->map_rows);
	}
	free(spans);
	free(pixels);
}

/* ---- a page a cell ---- */

/* Where page @page is drawn. */
static struct box cell_box(const struct map *map, struct box cells, u64 page)
{
	u64 at = (page - map->g->view.map_first) / map->g->view.map_cell;
	int columns = map->g->view.map_columns;

	return (struct box){cells.x + (int)(at % columns) * map->w,
			    cells.y + (int)(at / columns) * map->h, map->w, map->h};
}

static void print_hatch(const struct map *map, struct box box, unsigned int order)
{
	static const enum draw_hatch by_group[] = {HATCH_DOTS, HATCH_FALLING, HATCH_RISING,
						   HATCH_CROSS};

	if (gui_prints(map->g) && order)
		draw_hatch(&map->g->draw, box, by_group[min((order - 1) / 3, 3u)],
			   gui_ink(map->g, role_order(order, true)));
}

/* What the folio's flags add over the run of its pages in one row. */
static void draw_flags(const struct map *map, struct box run, u32 head, bool first)
{
	struct draw *d = &map->g->draw;
	int thin = px(map->g, 3);

	if (!(head & CELL_UPTODATE))
		draw_hatch(d, run, HATCH_DOTS, gui_ink(map->g, ROLE_TEXT));
	if (head & CELL_WRITEBACK)
		draw_hatch(d, run, HATCH_RISING, gui_ink(map->g, ROLE_VALUE));
	if (head & CELL_DIRTY)
		draw_rect(d, (struct box){run.x, run.y + run.h - thin, run.w, thin},
			  gui_ink(map->g, ROLE_DIRTY));
	if (head & CELL_MARK && first)
		draw_rect(d, (struct box){run.x, run.y, thin, run.h}, gui_ink(map->g, ROLE_MARK));
}

static void draw_label(const struct map *map, struct box run, u32 cell)
{
	unsigned int order = cell_order(cell);
	int size = px(map->g, 16);

	if (run.h < size || run.w < map->g->draw.font->advance(map->g->draw.font, size))
		return;
	run.x += px(map->g, 3);
	draw_printf(&map->g->draw, run, size, DRAW_BOLD, ALIGN_LEFT,
		    gui_ink(map->g, role_order(order, cell & CELL_USED)), "%x", order);
}

/* Pages of one folio that are beside each other in a row. */
static void draw_run(const struct map *map, struct box cells, u64 page, u64 nr, u64 folio, u32 head)
{
	struct draw *d = &map->g->draw;
	struct box all = cell_box(map, cells, page);
	unsigned int order = cell_order(head);
	u64 i;

	all.w = nr * map->w;
	all.h -= px(map->g, 4);
	if (page + nr == folio + (1ull << order))
		all.w -= px(map->g, 1);
	for (i = 0; i < nr; i++) {
		u32 cell = scene_cell(map->f, page + i);
		struct box one = {all.x + (int)i * map->w, all.y, map->w, all.h};

		if (cell & CELL_POISON)
			draw_rect(d, box_cut(one, all), gui_fill(map->g, ROLE_POISON));
		else
			draw_rect(d, box_cut(one, all),
				  gui_fill(map->g, role_order(order, cell & CELL_USED)));
		if (cell & CELL_POISON)
			draw_text(d, one, px(map->g, 16), DRAW_BOLD, ALIGN_MIDDLE,
				  gui_ink(map->g, ROLE_POISON), "\u2717");
	}
	print_hatch(map, all, order);
	draw_flags(map, all, head, page == folio);
	if (page == folio && !(scene_cell(map->f, page) & CELL_POISON))
		draw_label(map, all, scene_cell(map->f, page));
}

/* Pages without a folio: the window that will bring them shows. */
static void draw_absent(const struct map *map, struct box cells, u64 page)
{
	struct box box = cell_box(map, cells, page);
	bool window = map->window.valid && page - map->window.start < map->window.size;

	box.h -= px(map->g, 4);
	box.w -= px(map->g, 1);
	draw_rect(&map->g->draw, box,
		  window ? gui_mix(gui_ink(map->g, ROLE_BAR), gui_card(map->g), 30) : map->absent);
}

/* From @page to the end of its row; returns the pages drawn. */
static u64 draw_piece(const struct map *map, struct box cells, u64 page, u64 row_end)
{
	u64 folio, nr;
	u32 head;

	if (!map->f || !scene_folio(map->f, page, &folio, &head)) {
		draw_absent(map, cells, page);
		return 1;
	}
	/* A damaged recording may have pages that no folio reaches to. */
	nr = max(folio + (1ull << cell_order(head)), page + 1);
	nr = min(nr, row_end) - page;
	draw_run(map, cells, page, nr, folio, head);
	return nr;
}

static void draw_boxed(const struct map *map, struct box cells, u64 end)
{
	const struct tui *t = &map->g->view;

	for (int row = 0; row < t->map_rows; row++) {
		u64 page = t->map_first + (u64)row * t->map_columns;
		u64 row_end = min(page + t->map_columns, end);

		while (page < row_end)
			page += draw_piece(map, cells, page, row_end);
	}
}

/* ---- over the cells ---- */

static bool is_shown(const struct map *map, u64 page)
{
	const struct tui *t = &map->g->view;

	return page - t->map_first < (u64)t->map_columns * t->map_rows * t->map_cell;
}

static void outline(const struct map *map, struct box cells, u64 page, enum canvas_role role)
{
	struct box box;

	if (!is_shown(map, page))
		return;
	box = box_inset(cell_box(map, cells, page), -px(map->g, 1));
	if (map->w >= px(map->g, BOXED))
		box.h -= px(map->g, 4);
	draw_frame(&map->g->draw, box, px(map->g, 2), gui_fill(map->g, role));
}

/* A line under the pages the present event is about. */
static void underline(const struct map *map, struct box cells)
{
	u64 nr = min_t(u64, map->nr_marked, 4096);

	for (u64 i = 0; i < nr; i++) {
		struct box box;

		if (!is_shown(map, map->marked + i))
			continue;
		box = cell_box(map, cells, map->marked + i);
		draw_rect(&map->g->draw,
			  (struct box){box.x, box.y + box.h - px(map->g, 3), box.w, px(map->g, 2)},
			  gui_ink(map->g, ROLE_VALUE));
	}
}

/* How many columns and rows there are room for; the terminal view's keys move by them. */
static void measure(struct map *map, struct box cells)
{
	struct gui *g = map->g;
	bool boxed = g->cell >= BOXED && g->view.map_cell == 1;

	map->w = px(g, boxed ? g->cell : min(g->cell, BOXED - 4));
	map->h = boxed ? max(px(g, g->cell + 10), px(g, 24)) : map->w;
	g->view.map_columns = max(cells.w / map->w, 1);
	if (g->view.map_columns > 16)
		g->view.map_columns -= g->view.map_columns % 16;
	if (boxed) /* to the full width */
		map->w = cells.w / g->view.map_columns;
	g->view.map_rows = max(cells.h / map->h, 1);
	g->cell_w = map->w;
	g->cell_h = map->h;
	tui_follow(&g->view);
}

static void draw_head(const struct map *map, struct box box, u64 end)
{
	const struct tui *t = &map->g->view;
	u64 last = t->map_first + (u64)t->map_columns * t->map_rows * t->map_cell;
	char text[16];

	gui_line(map->g, box, ROLE_DIM, "%s  pages %llu-%llu of %llu  1 cell = %s page%s",
		 map->g->view.nr > 1 ? map->m->scene.info->kernel : "",
		 (unsigned long long)t->map_first, (unsigned long long)min(last, end) - 1,
		 (unsigned long long)end, short_count(t->map_cell, text, sizeof(text)),
		 t->map_cell > 1 ? "s" : "");
}

void panel_map(struct gui *g, unsigned int m, struct box box)
{
	struct box before = draw_clip(&g->draw, box);
	u64 end = gui_file_pages(g, m);
	struct box cells = {box.x, box.y + px(g, 22), box.w, max(box.h - px(g, 22), 0)};
	struct map map;

	look_around(&map, g, m);
	measure(&map, cells);
	draw_head(&map, box, end);
	if (map.w >= px(g, BOXED) && g->view.map_cell == 1)
		draw_boxed(&map, cells, end);
	else
		draw_fine(&map, cells, end);
	underline(&map, cells);
	outline(&map, cells, map.reader, ROLE_READER);
	if (g->view.selected)
		outline(&map, cells, g->view.page, ROLE_SELECT);
	if (m == g->view.lead)
		g->cells = cells;
	draw_unclip(&g->draw, before);
}

bool gui_page_at(const struct gui *g, int x, int y, u64 *page)
{
	const struct tui *t = &g->view;
	int column, row;

	if (!box_has(g->cells, x, y) || !g->cell_w)
		return false;
	column = (x - g->cells.x) / g->cell_w;
	row = (y - g->cells.y) / g->cell_h;
	*page = t->map_first + ((u64)row * t->map_columns + column) * t->map_cell;
	return column < t->map_columns && row < t->map_rows && *page < gui_file_pages(g, t->lead);
}
