/*
 * bench/gui_cost.c - what a frame of the window costs at 1920x1080, one "name value" a line.
 *
 * For 10^3 to 10^6 cached folios: median_N and p99_N in ms of processor time of 400 frames that
 * step, zoom and move the map, from the draw list over its pixels to the software renderer of a
 * driver without a display.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "view/gui/sdl/window.h"

#define WIDTH  1920
#define HEIGHT 1080
#define FRAMES 400

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* A reader, its windows and folios of every order up to 4. Returns the pages of the file. */
static u64 fill_tape(struct tape *tape, u64 folios)
{
	u64 page = 0;

	if (tape_init(tape, 2 * folios))
		exit(1);
	for (u64 i = 0; i < folios; i++) {
		u8 order = i % 5; /* naturally aligned */
		u64 pages = 1ull << order;
		struct trace_event ev = {.id = EV_mm_filemap_add_to_page_cache,
					 .ino = 12,
					 .ns = i * 1000,
					 .order = order};

		page = (page + pages - 1) / pages * pages;
		ev.index = page;
		tape_add(tape, &ev);
		if (i % 8 == 0)
			ev = (struct trace_event){.id = EV_fl_window,
						  .ino = 12,
						  .ns = i * 1000,
						  .index = page,
						  .a = 32,
						  .b = 16};
		else
			ev = (struct trace_event){.id = EV_fl_read,
						  .ino = 12,
						  .ns = i * 1000 + 500,
						  .index = page << 12,
						  .a = 4096,
						  .c = 500 + i % 100000};
		tape_add(tape, &ev);
		page += pages;
	}
	return page;
}

/* A thing that a person does between two frames. */
static void act(struct gui *g, int frame)
{
	static const int steps[] = {-1, -1, -1, -1, 1, 1, 1, 1};
	int x = g->cells.x + g->cells.w / 2, y = g->cells.y + g->cells.h / 2;

	switch (frame % 4) {
	case 0:
		gui_wheel(g, x, y, 2 * steps[frame / 4 % 8], false);
		break;
	case 1:
		gui_press(g, x, y, false);
		gui_move(g, x, y + g->cell_h * (frame / 4 % 2 ? 3 : -3));
		gui_release(g, x, y);
		gui_key(g, TERM_ESC);
		break;
	default:
		gui_key(g, frame % 8 < 4 ? ',' : '.');
	}
}

static void measure(struct font *font, u64 folios)
{
	static const struct tui_window place = {0, 0, WIDTH, HEIGHT};
	static const struct tui_options options;
	struct recording_info info = {.page_size = 4096};
	struct tape tape;
	struct tui_machine machine = {.tape = &tape, .info = &info};
	struct gui_window w;
	struct gui g;
	double frames[FRAMES];

	info.size = fill_tape(&tape, folios) << 12;
	if (gui_init(&g, &machine, 1, &options, font, NULL) ||
	    gui_window_open(&w, &g, &place, true, NULL))
		exit(1);
	SDL_SetWindowSize(w.window, WIDTH, HEIGHT); /* past the display's size */
	tui_goto(&g.view, ~0ull);
	for (int i = -1; i < FRAMES; i++) {
		double start = now_ms();

		w.changed = true;
		if (gui_window_frame(&w, NULL))
			exit(1);
		if (i >= 0)
			frames[i] = now_ms() - start;
		act(&g, i + 1);
	}
	if (w.width != WIDTH || w.height != HEIGHT)
		exit(1);
	qsort(frames, FRAMES, sizeof(*frames), by_value);
	printf("median_%llu %.2f\np99_%llu %.2f\n", (unsigned long long)folios, frames[FRAMES / 2],
	       (unsigned long long)folios, frames[FRAMES * 99 / 100]);
	gui_window_close(&w);
	gui_fini(&g);
	tape_fini(&tape);
}

int main(void)
{
	struct font *font;

	setenv("SDL_VIDEODRIVER", "dummy", 1);
	font = font_ttf();
	if (!font)
		font = font_builtin();
	if (!font)
		return 1;
	for (u64 folios = 1000; folios <= 1000000; folios *= 10)
		measure(font, folios);
	font_close(font);
	return 0;
}
