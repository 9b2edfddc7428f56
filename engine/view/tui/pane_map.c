/* The file map: a cell a page, or the sum of many. */
#include <inttypes.h>

#include "view/narrate.h"
#include "view/tui/internal.h"

#define GUTTER	     9
#define LEGEND_WIDTH 60
#define SPANS_MAX    512

/* What every cell of a picture needs to know. */
struct map {
	struct tui *t;
	const struct tui_scene *m;
	const struct scene_file *f;
	u64 first_marked, nr_marked; /* pages the current event is about */
	u64 reader;		     /* page read last, or SCENE_NONE */
	struct scene_window window;
};

static u64 file_pages(const struct tui_scene *m)
{
	u64 pages = (m->scene.info->size + m->scene.info->page_size - 1) >> m->scene.page_shift;
	const struct scene_file *f = shown_file(m);

	return max(pages, f ? f->end : 0);
}

static void look_around(struct map *map)
{
	const struct scene *s = &map->m->scene;
	struct trace_event ev;

	map->reader = SCENE_NONE;
	map->nr_marked = 0;
	map->window = s->state.window[s->state.last_fd_window];
	if (s->state.call.bytes)
		map->reader = (s->state.call.pos + s->state.call.bytes - 1) >> s->page_shift;
	if (scene_event(s, &ev) && (!ev.ino || ev.ino == map->m->ino))
		scene_event_pages(s, &ev, &map->first_marked, &map->nr_marked);
}

static char order_digit(unsigned int order)
{
	return order < 10 ? '0' + order : 'a' + order - 10;
}

/* The glyph of a cached page; @head is its folio's first cell. */
static u32 page_glyph(u32 cell, u32 head, u64 in_folio)
{
	unsigned int order = cell_order(cell);

	if (cell & CELL_POISON)
		return 0x2717;
	if (head & CELL_MARK && in_folio == (order ? 1 : 0))
		return 0x25b8;
	if (!in_folio)
		return order_digit(order);
	if (head & CELL_WRITEBACK)
		return 'w';
	if (head & CELL_DIRTY)
		return 0x2248;
	if (!(head & CELL_UPTODATE))
		return 0x2591;
	return cell & CELL_USED ? 0x2501 : 0x2504;
}

static enum canvas_role page_role(const struct map *map, u64 page, u32 cell)
{
	if (map->t->selected && page == map->t->page)
		return ROLE_SELECT;
	if (page == map->reader)
		return ROLE_READER;
	if (!(cell & CELL_PRESENT))
		return map->window.valid && page - map->window.start < map->window.size
			       ? ROLE_BAR
			       : ROLE_ABSENT;
	if (cell & CELL_POISON)
		return ROLE_POISON;
	return role_order(cell_order(cell), cell & CELL_USED);
}

static void draw_page(const struct map *map, int x, int y, u64 page)
{
	struct canvas *c = &map->t->canvas;
	u32 cell = map->f ? scene_cell(map->f, page) : 0, head = 0, glyph = 0x00b7;
	u64 first = page;

	if (map->f && scene_folio(map->f, page, &first, &head))
		glyph = page_glyph(cell, head, page - first);
	canvas_put(c, x, y, glyph, page_role(map, page, cell));
	if (head & CELL_DIRTY || page - map->first_marked < map->nr_marked)
		canvas_attributes(c, x, y, CANVAS_UNDERLINE);
}

/* Many pages: the largest order's digit where all are cached, else how full it is. */
static void draw_span(const struct map *map, int x, int y, u64 first, const struct scene_span *span)
{
	struct canvas *c = &map->t->canvas;
	u64 pages = map->t->map_cell;
	enum canvas_role role = role_order(span->order, span->used * 2 >= span->pages);
	u32 glyph = order_digit(span->order);

	if (!span->pages) {
		glyph = 0x00b7;
		role = ROLE_ABSENT;
	} else if (span->flags & CELL_POISON) {
		glyph = 0x2717;
		role = ROLE_POISON;
	} else if (span->pages < pages) {
		glyph = 0x2581 + span->pages * 7 / pages;
		role = ROLE_BAR;
	}
	if (map->t->selected && map->t->page - first < pages)
		role = ROLE_SELECT;
	else if (map->reader - first < pages)
		role = ROLE_READER;
	canvas_put(c, x, y, glyph, role);
	if (span->flags & CELL_DIRTY)
		canvas_attributes(c, x, y, CANVAS_UNDERLINE);
}

/* The gap before page @page: a folio that reaches over it is not cut. */
static void draw_gap(const struct map *map, int x, int y, u64 page)
{
	u64 first;
	u32 head;

	if (!map->f || !scene_folio(map->f, page, &first, &head) || first == page)
		return;
	draw_page(map, x, y, page);
	if (page == map->reader || (map->t->selected && page == map->t->page))
		canvas_put(&map->t->canvas, x, y, 0x2504,
			   role_order(cell_order(head), scene_cell(map->f, page) & CELL_USED));
}

static void draw_row(const struct map *map, int x, int y, u64 first, int columns, u64 end)
{
	struct scene_span spans[SPANS_MAX] = {0};
	u64 pages = map->t->map_cell;

	if (pages > 1 && map->f)
		scene_spans(map->f, first, pages, spans, columns);
	for (int i = 0; i < columns && first + i * pages < end; i++) {
		int at = x + tui_map_x(i);

		if (pages > 1) {
			draw_span(map, at, y, first + i * pages, &spans[i]);
			continue;
		}
		if (i && i % TUI_MAP_GROUP == 0)
			draw_gap(map, at - 1, y, first + i);
		draw_page(map, at, y, first + i);
	}
}

/* The whole file in one row: how full it is, and which part the map shows. */
static void draw_overview(const struct map *map, int x, int y, int columns, u64 end)
{
	struct scene_span spans[SPANS_MAX] = {0};
	u64 pages = DIV_ROUND_UP(max(end, (u64)1), (u64)columns);
	u64 shown = (u64)map->t->map_columns * map->t->map_rows * map->t->map_cell;

	if (map->f)
		scene_spans(map->f, 0, pages, spans, columns);
	for (int i = 0; i < columns; i++) {
		u64 first = i * pages;
		bool here = first < map->t->map_first + shown && first + pages > map->t->map_first;
		u32 glyph = spans[i].pages ? 0x2581 + min_t(u64, spans[i].pages * 7 / pages, 7)
			    : here	   ? 0x2500
					   : ' ';

		canvas_put(&map->t->canvas, x + tui_map_x(i), y, glyph,
			   here ? ROLE_BAR : ROLE_BAR_DIM);
	}
}

static void draw_legend(struct tui *t, int x, int y, int width)
{
	struct canvas *c = &t->canvas;
	static const struct {
		u32 glyph;
		enum canvas_role role;
		const char *text;
	} items[] = {
		{'2', ROLE_ORDER2, "order"},	  {0x2501, ROLE_ORDER2, "used"},
		{0x2504, ROLE_UNUSED2, "unused"}, {0x2591, ROLE_UNUSED2, "reading"},
		{0x25b8, ROLE_MARK, "mark"},	  {' ', ROLE_READER, "read last"},
		{0x2248, ROLE_ORDER2, "dirty"},	  {0x2717, ROLE_POISON, "bad"},
	};
	int end = x + width;

	for (size_t i = 0; i < ARRAY_SIZE(items); i++) {
		int need = 2 + canvas_width(items[i].text);

		if (x + need > end)
			return;
		canvas_put(c, x, y, items[i].glyph, items[i].role);
		canvas_text(c, x + 2, y, need, ROLE_DIM, items[i].text);
		x += need + 2;
	}
}

static int map_columns(int width)
{
	int columns = 8;

	while (tui_map_x(columns * 2) - 1 <= width && columns < SPANS_MAX)
		columns *= 2;
	return columns;
}

static struct rect map_title(struct tui *t, const struct tui_scene *m, const struct rect *r,
			     u64 last, u64 end)
{
	char title[160];

	if (tui_side_by_side(t))
		snprintf(title, sizeof(title), "%s%s", m->scene.info->kernel,
			 m == tui_lead(t) ? " (leads)" : "");
	else if (r->w < 60)
		snprintf(title, sizeof(title), "pages %" PRIu64 "-%" PRIu64, t->map_first,
			 last - 1);
	else
		snprintf(title, sizeof(title),
			 "file map \302\267 pages %" PRIu64 "-%" PRIu64 " of %" PRIu64
			 " \302\267 1 cell = %" PRIu64 " page%s%s",
			 t->map_first, last - 1, end, t->map_cell, t->map_cell > 1 ? "s" : "",
			 t->follow ? "" : " \302\267 stays (F)");
	return canvas_pane(&t->canvas, r, title);
}

/* The first page where this machine's folios differ from the leader's. */
static void draw_difference(struct tui *t, const struct tui_scene *m, int x, int y, int w)
{
	const struct scene_file *a = shown_file(tui_lead(t)), *b = shown_file(m);
	u64 page = a && b ? scene_first_difference(a, b, 0) : SCENE_NONE;

	if (m == tui_lead(t))
		canvas_printf(&t->canvas, x, y, w, ROLE_DIM, "%" PRIu64 " calls",
			      m->scene.counts.calls);
	else if (page == SCENE_NONE)
		canvas_text(&t->canvas, x, y, w, ROLE_DIM, "the same folios");
	else
		canvas_printf(&t->canvas, x, y, w, ROLE_MARK, "differs from page %" PRIu64 " on",
			      page);
}

/* Columns for the page numbers, as wide as they get and two blanks. */
static int gutter_of(int width, u64 end)
{
	int digits = 1;

	for (; end >= 10; end /= 10)
		digits++;
	if (width < 20)
		return 0;
	return max(digits + 2, width >= 50 ? GUTTER : 6);
}

static void draw(struct tui *t, struct tui_scene *m, const struct rect *r)
{
	struct map map = {.t = t, .m = m, .f = shown_file(m)};
	int gutter = gutter_of(r->w, file_pages(m)), extra = r->h >= 6 ? 2 : 0;
	int columns = map_columns(r->w - gutter), rows = max(r->h - 1 - extra, 1);
	u64 end = file_pages(m), row = columns * t->map_cell, last;
	struct rect in;

	t->map_columns = columns;
	t->map_rows = rows;
	tui_follow(t);
	t->map_first -= t->map_first % row;
	last = min(t->map_first + rows * row, max(end, t->map_first + 1));
	in = map_title(t, m, r, last, end);
	look_around(&map);
	for (int y = 0; y < rows; y++) {
		u64 first = t->map_first + y * row;

		if (first >= end)
			break;
		if (gutter)
			canvas_printf(&t->canvas, in.x, in.y + y, gutter, ROLE_DIM, "%*" PRIu64,
				      gutter - 2, first);
		draw_row(&map, in.x + gutter, in.y + y, first, columns, end);
	}
	if (m == tui_lead(t))
		t->map_rect = (struct rect){in.x + gutter, in.y, tui_map_x(columns), rows};
	if (!extra)
		return;
	draw_overview(&map, in.x + gutter, in.y + rows, columns, end);
	if (gutter)
		canvas_printf(&t->canvas, in.x, in.y + rows, gutter, ROLE_DIM, "%*s", gutter - 2,
			      "file");
	if (tui_side_by_side(t))
		draw_difference(t, m, in.x + gutter, in.y + rows + 1, r->w - gutter);
	else
		draw_legend(t, in.x + gutter, in.y + rows + 1, r->w - gutter);
}

/* ---- as sentences ---- */

/* Folios of one order and kind in a row are told together. */
struct run_of_folios {
	u64 first, folios;
	u32 head;
};

static void tell_run(const struct run_of_folios *run, FILE *f)
{
	char what[120];
	u64 pages = run->folios << cell_order(run->head);

	if (!run->folios)
		return;
	fprintf(f, "pages %" PRIu64 "-%" PRIu64 ": %" PRIu64 " x %s, %s, %s\n", run->first,
		run->first + pages - 1, run->folios,
		narrate_cell(run->head, run->head, what, sizeof(what)),
		narrate_provenance(cell_provenance(run->head)),
		run->head & CELL_USED ? "used" : "not used yet");
}

static void twin(const struct tui *t, const struct tui_scene *m, FILE *f)
{
	const struct scene_file *file = shown_file(m);
	struct run_of_folios run = {0};
	u64 page = t->map_first, last = page + (u64)t->map_columns * t->map_rows * t->map_cell;

	fprintf(f, "File of %" PRIu64 " pages, %" PRIu64 " cached.\n", file_pages(m),
		m->scene.sums.pages);
	for (int lines = 0; file && page < last && page < file->end && lines < 200;) {
		u32 head = scene_cell(file, page) & ~CELL_LRU;

		if (!(head & CELL_PRESENT)) {
			page++;
			continue;
		}
		if (!run.folios || head != run.head ||
		    page != run.first + (run.folios << cell_order(run.head))) {
			tell_run(&run, f);
			lines++;
			run = (struct run_of_folios){.first = page, .head = head};
		}
		run.folios++;
		page += 1ull << cell_order(head);
	}
	tell_run(&run, f);
}

const struct tui_pane pane_map = {"file map", draw, twin};
