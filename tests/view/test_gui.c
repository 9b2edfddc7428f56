/*
 * view/test_gui.c - the window's picture without a window.
 *
 * Proves that the map's pixels are the scene's folios (colour of each page's order and use, a
 * border behind each folio), the order panel's numbers and the window's text the scene's; that the
 * timeline has every call, window and operation of the tape; that selecting a range sums up just
 * its events; that zooming and panning keep to what there is; and that random input at any size
 * neither crashes nor loses the moment.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/prng.h"
#include "view/gui/internal.h"
#include "view/image/raster.h"
#include "view/views.h"

#define OPS "read 4k 100; pread 4m 64k; read 16k 40; pwrite 1m 100k; pread 8m 300k"

static const struct tui_options options;
static struct font *font;

static void open_gui(struct gui *g, unsigned int nr)
{
	assert_int_equal(gui_init(g, views_machines(), nr, &options, font, NULL), 0);
	gui_draw(g, 1280, 800);
}

/* ---- the picture and the scene ---- */

/* The colour of the cell of @page in the middle of its lower part, where no label is. */
static u32 colour_of_page(const struct gui *g, const u32 *pixels, u64 page)
{
	u64 at = page - g->view.map_first;
	int x = g->cells.x + (int)(at % g->view.map_columns) * g->cell_w + g->cell_w / 2;
	int y = g->cells.y + (int)(at / g->view.map_columns) * g->cell_h + g->cell_h - 9;

	return pixels[(size_t)y * 1280 + x];
}

static void check_map(struct gui *g, const u32 *pixels)
{
	const struct scene_file *f = shown_file(&g->view.machines[0]);
	u64 shown = (u64)g->view.map_columns * g->view.map_rows;

	for (u64 page = g->view.map_first; page < g->view.map_first + shown; page++) {
		u32 cell = f ? scene_cell(f, page) : 0, head = 0, colour;
		u64 first;

		if (!(cell & CELL_PRESENT) || !scene_folio(f, page, &first, &head) ||
		    !(head & CELL_UPTODATE) || head & CELL_WRITEBACK)
			continue;
		colour = colour_of_page(g, pixels, page);
		assert_int_equal(colour,
				 gui_fill(g, role_order(cell_order(cell), cell & CELL_USED)));
	}
}

/* The text of the last command in @box that begins with @start. */
static const char *text_in(const struct draw *d, struct box box, const char *start)
{
	for (size_t i = 0; i < d->nr; i++)
		if (d->commands[i].type == DRAW_TEXT &&
		    box_has(box, d->commands[i].box.x, d->commands[i].box.y) &&
		    !strncmp(draw_text_of(d, &d->commands[i]), start, strlen(start)))
			return draw_text_of(d, &d->commands[i]);
	return NULL;
}

static void check_window(const struct gui *g)
{
	const struct scene *s = &g->view.machines[0].scene;
	const struct scene_window *w =
		&s->state.window[s->state.last_fd_window % SCENE_DESCRIPTORS];
	char want[100];

	snprintf(want, sizeof(want), "start %llu  size %u  async %u", (unsigned long long)w->start,
		 w->size, w->async_size);
	if (w->valid)
		assert_non_null(text_in(&g->draw, g->boxes[PANEL_WINDOW], want));
	else
		assert_non_null(text_in(&g->draw, g->boxes[PANEL_WINDOW], "none yet"));
}

/* After the order's number the next text is how many folios of it there are. */
static void check_orders(const struct gui *g)
{
	const struct scene *s = &g->view.machines[0].scene;
	char want[16], name[16];
	unsigned int o = 0;
	bool named = false;

	for (size_t i = 0; i < g->draw.nr; i++) {
		const struct draw_command *c = &g->draw.commands[i];

		if (c->type != DRAW_TEXT || !box_has(g->boxes[PANEL_ORDERS], c->box.x, c->box.y))
			continue;
		snprintf(name, sizeof(name), "%2u", o);
		if (named)
			assert_string_equal(draw_text_of(&g->draw, c),
					    short_count(s->sums.folios[o++], want, sizeof(want)));
		named = !named && !strcmp(draw_text_of(&g->draw, c), name);
	}
	assert_int_equal(o, gui_orders(g));
}

static void test_the_picture_is_the_scene(void **state)
{
	u32 *pixels = malloc(1280 * 800 * sizeof(*pixels));
	struct gui g;

	open_gui(&g, 1);
	for (u64 at = 1; at <= views_tape(0)->events; at += 29) {
		tui_goto(&g.view, at);
		gui_draw(&g, 1280, 800);
		assert_int_equal(g.draw.error, 0);
		raster(&g.draw, pixels, 1280);
		check_map(&g, pixels);
		check_window(&g);
		check_orders(&g);
	}
	gui_fini(&g);
	free(pixels);
}

/* A folio of order 2 where one of order 0 is: the pages behind belong to nobody. */
static void test_a_damaged_recording_is_drawn(void **state)
{
	static const struct recording_info info = {.page_size = 4096, .size = 64 << 12};
	struct tape tape;
	struct tui_machine machine = {.tape = &tape, .info = &info};
	struct gui g;

	assert_int_equal(tape_init(&tape, 10), 0);
	for (u64 i = 0; i < 4; i++) {
		const struct trace_event ev = {.id = EV_mm_filemap_add_to_page_cache,
					       .ino = 12,
					       .index = i % 2 ? 9 : 7 + i,
					       .order = i % 2 ? 0 : 2};

		tape_add(&tape, &ev);
	}
	assert_int_equal(gui_init(&g, &machine, 1, &options, font, NULL), 0);
	for (u64 at = 0; at <= tape.events; at++) {
		tui_goto(&g.view, at);
		gui_draw(&g, 1280, 800);
		assert_int_equal(g.draw.error, 0);
	}
	gui_fini(&g);
	tape_fini(&tape);
}

/* ---- the timeline ---- */

static void test_timeline_has_every_event_of_its_kinds(void **state)
{
	size_t calls = 0, windows = 0, ops = 0;
	struct timeline t;
	struct trace_event ev;

	timeline_init(&t, views_tape(0), 4096);
	assert_int_equal(timeline_update(&t), 0);
	for (u64 i = 0; i < views_tape(0)->events; i++) {
		tape_get(views_tape(0), i, &ev);
		switch (ev.id) {
		case EV_fl_read:
		case EV_fl_write:
		case EV_fl_touch:
			assert_int_equal(t.calls[calls].event, i);
			assert_int_equal(t.calls[calls++].latency, ev.c);
			break;
		case EV_fl_window:
			assert_int_equal(t.windows[windows].event, i);
			assert_true(t.windows[windows++].end_ns >= ev.ns);
			break;
		case EV_fl_op:
			assert_int_equal(t.ops[ops++].event, i);
			break;
		default:
			break;
		}
	}
	assert_int_equal(calls, t.nr_calls);
	assert_int_equal(windows, t.nr_windows);
	assert_int_equal(ops, t.nr_ops);
	assert_int_equal(timeline_event_at(&t, t.last_ns), t.events);
	for (u64 i = 1; i < t.events; i += 13)
		assert_true(timeline_event_at(&t, timeline_ns_of(&t, i)) > i);
	timeline_fini(&t);
}

/* Of the pages a window asked for, the last to get its bytes ends it. */
static void test_windows_end_with_their_last_bytes(void **state)
{
	struct trace_event ev;
	struct timeline t;

	timeline_init(&t, views_tape(0), 4096);
	assert_int_equal(timeline_update(&t), 0);
	for (size_t i = 0; i < t.nr_windows; i++) {
		const struct timeline_window *w = &t.windows[i];
		u64 last = w->ns;

		/* Until another window asks for the same pages. */
		for (u64 nr = w->event + 1; nr < t.events; nr++) {
			tape_get(views_tape(0), nr, &ev);
			if (ev.id == EV_fl_window && ev.index < w->start + w->size &&
			    w->start < ev.index + ev.a)
				break;
			if (ev.id == EV_fl_uptodate && ev.index - w->start < w->size)
				last = ev.ns;
		}
		assert_int_equal(w->end_ns, last);
	}
	timeline_fini(&t);
}

/* ---- ranges ---- */

static void test_a_range_sums_its_events(void **state)
{
	struct trace_event ev;
	struct gui g;

	open_gui(&g, 1);
	for (u64 a = 10; a + 200 < views_tape(0)->events; a += 97) {
		u64 from = timeline_ns_of(&g.lines[0], a),
		    to = timeline_ns_of(&g.lines[0], a + 150);
		u64 added[TRACE_ORDERS] = {0}, calls = 0;

		if (from == to)
			continue;
		gui_select(&g, to, from);
		assert_true(g.ranged);
		for (u64 i = 0; i < views_tape(0)->events; i++) {
			tape_get(views_tape(0), i, &ev);
			if (ev.ns < from || ev.ns > to)
				continue;
			if (ev.id == EV_mm_filemap_add_to_page_cache)
				added[ev.order]++;
			calls += ev.id == EV_fl_read || ev.id == EV_fl_write;
		}
		assert_memory_equal(g.range.added, added, sizeof(added));
		assert_int_equal(g.range.latency.count, calls);
	}
	gui_select(&g, 5, 5);
	assert_false(g.ranged);
	gui_fini(&g);
}

static void test_time_zoom_keeps_to_the_run(void **state)
{
	struct gui g;
	u64 from, to;

	open_gui(&g, 1);
	from = g.from_ns;
	to = g.to_ns;
	gui_zoom_time(&g, (from + to) / 2, 4);
	assert_in_range(g.to_ns - g.from_ns, (to - from) / 4 - 2, (to - from) / 4 + 2);
	gui_pan_time(&g, -100);
	assert_int_equal(g.from_ns, from);
	gui_pan_time(&g, 100);
	assert_int_equal(g.to_ns, to);
	gui_zoom_time(&g, to, 0.01);
	assert_int_equal(g.from_ns, from);
	assert_int_equal(g.to_ns, to);
	gui_fini(&g);
}

/* ---- input ---- */

static void test_the_pointer_finds_pages_and_moments(void **state)
{
	struct gui g;
	u64 page;

	open_gui(&g, 1);
	assert_true(gui_page_at(&g, g.cells.x + g.cell_w / 2, g.cells.y + g.cell_h / 2, &page));
	assert_int_equal(page, g.view.map_first);
	gui_press(&g, g.cells.x + g.cell_w * 5 + 1, g.cells.y + g.cell_h + 1, false);
	gui_release(&g, 0, 0);
	assert_true(g.view.selected);
	assert_int_equal(g.view.page, g.view.map_first + g.view.map_columns + 5);
	gui_draw(&g, 1280, 800);
	gui_press(&g, g.line.x + g.line.w - 1, g.line.y + 1, false);
	assert_int_equal(lead_scene(&g.view)->pos, views_tape(0)->events);
	gui_move(&g, g.line.x, g.line.y + 1);
	assert_true(scene_ns(lead_scene(&g.view)) <= g.lines[0].first_ns);
	gui_release(&g, g.line.x, g.line.y);
	gui_fini(&g);
}

static void test_wheel_zooms_around_the_pointer(void **state)
{
	struct gui g;
	u64 before, after;
	int x, y;

	open_gui(&g, 1);
	g.view.follow = false;
	x = g.cells.x + g.cells.w / 2;
	y = g.cells.y + g.cells.h / 2;
	assert_true(gui_page_at(&g, x, y, &before));
	gui_wheel(&g, x, y, 2, false);
	gui_draw(&g, 1280, 800);
	assert_true(gui_page_at(&g, x, y, &after));
	/* Whole rows are moved: within one of them. */
	assert_in_range(after + 2 * g.view.map_columns * g.view.map_cell, before,
			before + 4 * g.view.map_columns * g.view.map_cell);
	gui_fini(&g);
}

static void test_keys_of_the_window_are_not_the_views(void **state)
{
	for (int own = 0; own < OWN_NR; own++) {
		const struct gui_own_key *key = gui_own_key(own);

		assert_true(key->shown[0] && key->help[0]);
		assert_int_equal(tui_command_of(key->key), CMD_NONE);
		for (int other = 0; other < own; other++)
			assert_int_not_equal(gui_own_key(other)->key, key->key);
	}
}

static void test_random_input(void **state)
{
	static const int special[] = {TERM_UP,	 TERM_DOWN, TERM_LEFT, TERM_RIGHT, TERM_PAGE_UP,
				      TERM_HOME, TERM_END,  TERM_TAB,  TERM_ESC,   TERM_ENTER};
	u32 *pixels = malloc(2000 * 1200 * sizeof(*pixels));
	struct prng p;
	struct gui g;

	prng_seed(&p, 11);
	open_gui(&g, 2);
	for (unsigned long n = soak_count(4000); n; n--) {
		int w = 1 + prng_below(&p, 1500), h = 1 + prng_below(&p, 1000);
		int x = prng_below(&p, w), y = prng_below(&p, h), what = prng_below(&p, 8);
		int key = prng_below(&p, 2) ? ' ' + (int)prng_below(&p, 95)
					    : special[prng_below(&p, ARRAY_SIZE(special))];

		if (what < 4 && key != 'e' && key != 'E')
			gui_key(&g, key);
		else if (what == 4)
			gui_press(&g, x, y, prng_below(&p, 2));
		else if (what == 5)
			gui_move(&g, x, y);
		else if (what == 6)
			gui_release(&g, x, y);
		else
			gui_wheel(&g, x, y, (int)prng_below(&p, 7) - 3, prng_below(&p, 2));
		if (n % 8)
			continue;
		gui_draw(&g, w, h);
		assert_int_equal(g.draw.error, 0);
		raster(&g.draw, pixels, w);
		assert_true(lead_scene(&g.view)->pos <= lead_scene(&g.view)->tape->events);
		assert_true(g.from_ns < g.to_ns);
	}
	gui_fini(&g);
	free(pixels);
}

static int setup(void **state)
{
	font = font_builtin();
	views_record(0, "v6.12", "nvme", OPS);
	views_record(1, "v6.18", "nvme", OPS);
	return font ? 0 : -1;
}

static int teardown(void **state)
{
	font_close(font);
	views_end();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_picture_is_the_scene),
		cmocka_unit_test(test_a_damaged_recording_is_drawn),
		cmocka_unit_test(test_timeline_has_every_event_of_its_kinds),
		cmocka_unit_test(test_windows_end_with_their_last_bytes),
		cmocka_unit_test(test_a_range_sums_its_events),
		cmocka_unit_test(test_time_zoom_keeps_to_the_run),
		cmocka_unit_test(test_the_pointer_finds_pages_and_moments),
		cmocka_unit_test(test_wheel_zooms_around_the_pointer),
		cmocka_unit_test(test_keys_of_the_window_are_not_the_views),
		cmocka_unit_test(test_random_input),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
