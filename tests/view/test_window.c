/*
 * view/test_window.c - the SDL window on a driver without a display.
 *
 * Proves that scripted keys, text, mouse, wheel and resizes arrive; that what the renderer holds is
 * pixel for pixel the stored picture (built-in font, software renderer) and what a PNG of the same
 * moment has; that a key that changes nothing but the moment and its opposite give the picture
 * back; that windows open where they were as long as that can be seen, with text that suits the
 * display; and that nothing is drawn while nothing happens.
 *
 * UPDATE_GOLDEN=1 writes the pictures anew; a picture that is not there fails.
 */
#include "unit.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/gui/sdl/place.h"
#include "view/gui/sdl/window.h"
#include "view/image/picture.h"
#include "view/views.h"

#define W 1024
#define H 700

static const struct tui_options options;
static struct font *font;
static struct gui g;
static struct gui_window w;

/* ---- pictures ---- */

static u32 *read_back(int *width, int *height)
{
	u32 *pixels;

	assert_int_equal(gui_window_frame(&w, NULL), 0);
	assert_int_equal(SDL_GetRendererOutputSize(w.renderer, width, height), 0);
	pixels = malloc((size_t)*width * *height * sizeof(*pixels));
	assert_int_equal(SDL_RenderReadPixels(w.renderer, NULL, SDL_PIXELFORMAT_RGB888, pixels,
					      *width * sizeof(*pixels)),
			 0);
	for (int i = 0; i < *width * *height; i++)
		pixels[i] &= 0xffffff;
	return pixels;
}

static void write_png(const char *path, const u32 *pixels, int width, int height)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(picture_png_pixels(pixels, width, height, f), 0);
	assert_int_equal(fclose(f), 0);
}

static void compare(const char *path, const u32 *pixels, int width, int height)
{
	png_image image = {.version = PNG_IMAGE_VERSION};
	int differ = 0;
	u8 *rgb;

	if (!png_image_begin_read_from_file(&image, path))
		fail_msg("%s: %s", path, image.message);
	assert_int_equal(image.width, width);
	assert_int_equal(image.height, height);
	image.format = PNG_FORMAT_RGB;
	rgb = malloc(PNG_IMAGE_SIZE(image));
	assert_true(png_image_finish_read(&image, NULL, rgb, 0, NULL));
	for (int i = 0; i < width * height; i++)
		differ +=
			((u32)rgb[3 * i] << 16 | rgb[3 * i + 1] << 8 | rgb[3 * i + 2]) != pixels[i];
	free(rgb);
	if (differ)
		write_png("actual.png", pixels, width, height);
	assert_int_equal(differ, 0);
}

static void check_picture(const char *name)
{
	char path[500];
	int width, height;
	u32 *pixels = read_back(&width, &height);

	snprintf(path, sizeof(path), "%s/view/golden/%s.png", getenv("TESTDATA"), name);
	if (getenv("UPDATE_GOLDEN"))
		write_png(path, pixels, width, height);
	compare(path, pixels, width, height);
	free(pixels);
}

/* ---- scripted input ---- */

static void deliver(void)
{
	SDL_Event e;

	while (SDL_PollEvent(&e))
		gui_window_event(&w, &e);
}

static void type(const char *text)
{
	SDL_Event e = {.text = {.type = SDL_TEXTINPUT}};

	snprintf(e.text.text, sizeof(e.text.text), "%s", text);
	assert_int_equal(SDL_PushEvent(&e), 1);
	deliver();
}

static void press(SDL_Keycode key)
{
	SDL_Event e = {.key = {.type = SDL_KEYDOWN, .keysym = {.sym = key}}};

	assert_int_equal(SDL_PushEvent(&e), 1);
	deliver();
}

static void mouse(u32 kind, int x, int y)
{
	SDL_Event e = {.type = kind};

	if (kind == SDL_MOUSEMOTION) {
		e.motion.x = x;
		e.motion.y = y;
	} else {
		e.button.button = SDL_BUTTON_LEFT;
		e.button.x = x;
		e.button.y = y;
	}
	assert_int_equal(SDL_PushEvent(&e), 1);
	deliver();
}

static void drag(int x0, int x1, int y)
{
	mouse(SDL_MOUSEMOTION, x0, y);
	mouse(SDL_MOUSEBUTTONDOWN, x0, y);
	mouse(SDL_MOUSEMOTION, x1, y);
	mouse(SDL_MOUSEBUTTONUP, x1, y);
}

static void wheel(int steps)
{
	SDL_Event e = {.wheel = {.type = SDL_MOUSEWHEEL, .y = steps}};

	assert_int_equal(SDL_PushEvent(&e), 1);
	deliver();
}

/* ---- tests ---- */

static void test_steps_and_jumps(void **state)
{
	type("g");
	type("400");
	press(SDLK_RETURN);
	assert_int_equal(lead_scene(&g.view)->pos, 400);
	check_picture("moment");
	type(".");
	assert_int_equal(lead_scene(&g.view)->pos, 401);
	type(",");
	check_picture("moment");
	type("w");
	check_picture("window");
}

static void test_map_zoom_and_pan(void **state)
{
	int width, height;

	free(read_back(&width, &height));
	mouse(SDL_MOUSEMOTION, g.cells.x + 200, g.cells.y + 60);
	wheel(-4);
	check_picture("zoomed-out");
	drag(g.cells.x + 50, g.cells.x + 50, g.cells.y + 40);
	wheel(6);
	check_picture("zoomed-in");
	press(SDLK_ESCAPE);
	assert_false(g.view.selected);
}

static void test_ranges_and_scrubbing(void **state)
{
	int width, height;

	free(read_back(&width, &height));
	drag(g.plot.x + 100, g.plot.x + 300, g.plot.y + 20);
	assert_true(g.ranged);
	check_picture("range");
	type("i");
	check_picture("range-zoomed");
	press(SDLK_ESCAPE);
	type("i");
	assert_false(g.ranged);
	drag(g.line.x, g.line.x + g.line.w / 2, g.line.y + 10);
	check_picture("scrubbed");
}

static void test_presenter_help_and_themes(void **state)
{
	type("p");
	check_picture("presenter");
	press(SDLK_TAB);
	check_picture("presenter-time");
	type("p");
	type("?");
	check_picture("help");
	type("?");
	type("T");
	check_picture("light");
	for (int i = 1; theme_name(i); i++)
		type("T");
	assert_int_equal(g.view.theme, 0);
}

static void test_resize_and_scale(void **state)
{
	SDL_SetWindowSize(w.window, 1500, 900);
	w.changed = true;
	deliver();
	check_picture("large");
	type(">");
	check_picture("larger-text");
	type("<");
	SDL_SetWindowSize(w.window, 480, 320);
	w.changed = true;
	deliver();
	check_picture("small");
	SDL_SetWindowSize(w.window, W, H);
	w.changed = true;
}

/* The same moment as a file has the same pixels. */
static void test_png_is_the_window(void **state)
{
	struct gui_picture what = {.at = 123, .width = W, .height = H};
	int width, height;
	struct draw draw;
	u32 *pixels;
	FILE *f;

	gui_fini(&g);
	assert_int_equal(gui_init(&g, views_machines(), 1, &options, font, NULL), 0);
	tui_goto(&g.view, 123);
	w.changed = true;
	pixels = read_back(&width, &height);
	assert_int_equal(gui_picture(views_machines(), 1, &options, &what, font, &draw, NULL), 0);
	f = fopen("same.png", "w");
	assert_int_equal(picture_png(&draw, f), 0);
	assert_int_equal(fclose(f), 0);
	compare("same.png", pixels, width, height);
	draw_fini(&draw);
	free(pixels);
}

/* ---- the window itself ---- */

static void test_a_held_key_goes_on(void **state)
{
	SDL_Event e = {.key = {.type = SDL_KEYDOWN, .keysym = {.sym = SDLK_RIGHT}}};
	u64 page = g.view.page;

	tui_goto(&g.view, 200);
	g.view.selected = true;
	for (int i = 0; i < 5; i++) {
		e.key.repeat = i > 0;
		assert_int_equal(SDL_PushEvent(&e), 1);
	}
	deliver();
	assert_int_equal(g.view.page, page + 5);
	g.view.selected = false;
	g.view.page = page;
}

static void test_windows_open_where_they_can_be_seen(void **state)
{
	static const SDL_Rect displays[] = {{0, 0, 1920, 1080}, {1920, 200, 1280, 800}};
	static const struct {
		struct tui_window last;
		SDL_Rect want;
	} places[] = {
		{{0, 0, 0, 0}, {192, 108, 1536, 864}},		   /* never before */
		{{30, 40, 900, 700}, {30, 40, 900, 700}},	   /* as it was */
		{{2000, 300, 900, 700}, {2000, 300, 900, 700}},	   /* on the second display */
		{{2000, 300, 1800, 1000}, {2000, 300, 1280, 800}}, /* no larger than that */
		{{-800, 10, 899, 700}, {192, 108, 1536, 864}},	   /* 99 pixels to be seen */
		{{-800, 10, 900, 700}, {-800, 10, 900, 700}},
		{{5000, 10, 900, 700}, {192, 108, 1536, 864}}, /* a display that is gone */
		{{10, 10, 900, -7}, {192, 108, 1536, 864}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		SDL_Rect at = gui_place(&places[i].last, displays, 2);

		assert_memory_equal(&at, &places[i].want, sizeof(at));
	}
}

static void test_text_suits_the_display(void **state)
{
	static const int units[][2] = {{600, 1},  {800, 1},  {1080, 1}, {1200, 1}, {1440, 1},
				       {1620, 2}, {2160, 2}, {2880, 3}, {4320, 4}, {8640, 4}};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		assert_int_equal(gui_place_unit(units[i][0]), units[i][1]);
}

/* Full screen is no place to come back to. */
static void test_the_place_is_that_of_before_full_screen(void **state)
{
	struct tui_window before, full;

	gui_window_where(&w, &before);
	type("u");
	gui_window_where(&w, &full);
	assert_memory_equal(&full, &before, sizeof(full));
	type("u");
	SDL_SetWindowSize(w.window, before.width, before.height); /* which this driver forgets */
	deliver();
}

/* On HiDPI a unit of the pointer is more than a pixel. */
static void test_the_pointer_on_hidpi(void **state)
{
	u64 page;
	int width, height;

	free(read_back(&width, &height));
	w.scale = 2;
	mouse(SDL_MOUSEMOTION, (g.cells.x + g.cell_w / 2) / 2, (g.cells.y + g.cell_h / 2) / 2);
	assert_true(gui_page_at(&g, g.x, g.y, &page));
	assert_int_equal(page, g.view.map_first);
	w.scale = 1;
	mouse(SDL_MOUSEMOTION, 0, 0);
}

static void test_nothing_is_drawn_for_nothing(void **state)
{
	deliver(); /* what the resizes left */
	assert_int_equal(gui_window_frame(&w, NULL), 0);
	assert_false(w.changed);
	deliver();
	assert_false(w.changed);
}

static int setup(void **state)
{
	const struct tui_window place = {0, 0, W, H};

	setenv("SDL_VIDEODRIVER", "dummy", 1);
	font = font_builtin();
	views_record(0, "v6.12", "nvme",
		     "read 4k 100; pread 4m 64k; read 16k 40; pwrite 1m 100k; pread 8m 300k");
	if (gui_init(&g, views_machines(), 1, &options, font, NULL))
		return -1;
	return gui_window_open(&w, &g, &place, true, NULL);
}

static int teardown(void **state)
{
	gui_window_close(&w);
	gui_fini(&g);
	font_close(font);
	views_end();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps_and_jumps),
		cmocka_unit_test(test_map_zoom_and_pan),
		cmocka_unit_test(test_ranges_and_scrubbing),
		cmocka_unit_test(test_presenter_help_and_themes),
		cmocka_unit_test(test_resize_and_scale),
		cmocka_unit_test(test_png_is_the_window),
		cmocka_unit_test(test_a_held_key_goes_on),
		cmocka_unit_test(test_windows_open_where_they_can_be_seen),
		cmocka_unit_test(test_text_suits_the_display),
		cmocka_unit_test(test_the_place_is_that_of_before_full_screen),
		cmocka_unit_test(test_the_pointer_on_hidpi),
		cmocka_unit_test(test_nothing_is_drawn_for_nothing),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
