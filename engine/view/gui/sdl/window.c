#include "view/gui/sdl/window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/gui/sdl/place.h"
#include "view/image/raster.h"

#define DISPLAYS 8

static int sdl_error(struct fl_error *err, const char *what)
{
	return fl_error_set(err, -ENOTSUP, NULL, 0, "%s: %s", what, SDL_GetError());
}

/* Does the driver show nothing to anybody? */
static bool is_hidden(void)
{
	const char *driver = SDL_GetCurrentVideoDriver();

	return !driver || !strcmp(driver, "offscreen") || !strcmp(driver, "dummy");
}

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

/* SDL takes a driver nobody sees where there is no display: not without being told to. */
static int start_video(bool offscreen, struct fl_error *err)
{
	if (offscreen || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY") ||
	    is_set("SDL_VIDEODRIVER")) {
		if (SDL_Init(SDL_INIT_VIDEO))
			return sdl_error(err, "no display for a window");
		if (!is_hidden() || offscreen || is_set("SDL_VIDEODRIVER"))
			return 0;
		SDL_Quit();
	}
	return fl_error_set(err, -ENOTSUP, "--view", 0,
			    "no display for a window, expected DISPLAY or WAYLAND_DISPLAY to name "
			    "one; '--view tui' shows the same in a terminal, 'export --format "
			    "png' writes a picture");
}

/* Whatever draws; a driver without a display has only the processor. */
static SDL_Renderer *make_renderer(SDL_Window *window)
{
	SDL_Renderer *r = NULL;

	if (!is_hidden())
		r = SDL_CreateRenderer(window, -1, SDL_RENDERER_ACCELERATED);
	return r ? r : SDL_CreateRenderer(window, -1, SDL_RENDERER_SOFTWARE);
}

/* A texture of the output's size: pixels, which are more than the window's units on HiDPI. */
static int fit_texture(struct gui_window *w, struct fl_error *err)
{
	int width, height, window_width, window_height;

	if (SDL_GetRendererOutputSize(w->renderer, &width, &height))
		return sdl_error(err, "size");
	SDL_GetWindowSize(w->window, &window_width, &window_height);
	w->scale = window_width > 0 ? (double)width / window_width : 1;
	if (w->texture && width == w->width && height == w->height)
		return 0;
	if (w->texture)
		SDL_DestroyTexture(w->texture);
	w->texture = SDL_CreateTexture(w->renderer, SDL_PIXELFORMAT_RGB888,
				       SDL_TEXTUREACCESS_STREAMING, width, height);
	w->width = width;
	w->height = height;
	return w->texture ? 0 : sdl_error(err, "texture");
}

/* The parts of the displays that windows may take; at least one. */
static int find_displays(SDL_Rect *displays)
{
	int nr = 0, all = min(SDL_GetNumVideoDisplays(), DISPLAYS);

	for (int i = 0; i < all; i++)
		if (!SDL_GetDisplayUsableBounds(i, &displays[nr]) && displays[nr].w > 0)
			nr++;
	if (!nr)
		displays[nr++] = (SDL_Rect){0, 0, 1280, 800};
	return nr;
}

static SDL_Window *make_window(const struct tui_window *last)
{
	SDL_Rect displays[DISPLAYS], at = gui_place(last, displays, find_displays(displays));

	return SDL_CreateWindow("FolioLab", at.x, at.y, at.w, at.h,
				SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI);
}

/* Pixels of the display the window is on. */
static int display_height(const struct gui_window *w)
{
	SDL_Rect bounds;

	if (SDL_GetDisplayBounds(max(SDL_GetWindowDisplayIndex(w->window), 0), &bounds))
		return 0;
	return bounds.h * w->scale;
}

int gui_window_open(struct gui_window *w, struct gui *gui, const struct tui_window *last,
		    bool offscreen, struct fl_error *err)
{
	int ret;

	*w = (struct gui_window){.gui = gui, .changed = true, .scale = 1};
	SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");
	SDL_SetHint(SDL_HINT_VIDEO_ALLOW_SCREENSAVER, "1");
	ret = start_video(offscreen, err);
	if (ret)
		return ret;
	if (offscreen)
		SDL_SetHint(SDL_HINT_RENDER_DRIVER, "software");
	w->window = make_window(last);
	if (w->window)
		w->renderer = make_renderer(w->window);
	if (w->renderer)
		ret = fit_texture(w, err);
	if (!w->renderer || ret) {
		ret = sdl_error(err, "no window");
		gui_window_close(w);
		return ret;
	}
	gui->unit = gui_place_unit(display_height(w));
	SDL_SetWindowMinimumSize(w->window, 480, 320);
	SDL_StartTextInput();
	return 0;
}

void gui_window_close(struct gui_window *w)
{
	if (w->texture)
		SDL_DestroyTexture(w->texture);
	if (w->renderer)
		SDL_DestroyRenderer(w->renderer);
	if (w->window)
		SDL_DestroyWindow(w->window);
	SDL_Quit();
	*w = (struct gui_window){0};
}

void gui_window_where(const struct gui_window *w, struct tui_window *place)
{
	*place = w->place;
	if (w->gui->full_screen)
		return;
	SDL_GetWindowPosition(w->window, &place->x, &place->y);
	SDL_GetWindowSize(w->window, &place->width, &place->height);
}

/* ---- drawing ---- */

int gui_window_frame(struct gui_window *w, struct fl_error *err)
{
	void *pixels;
	int pitch, ret;

	if (!w->changed)
		return 0;
	ret = fit_texture(w, err);
	if (!ret)
		ret = gui_update(w->gui);
	if (ret)
		return ret == -ENOMEM ? fl_error_set(err, ret, NULL, 0, "out of memory") : ret;
	gui_draw(w->gui, w->width, w->height);
	if (w->gui->draw.error)
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	if (SDL_LockTexture(w->texture, NULL, &pixels, &pitch))
		return sdl_error(err, "texture");
	raster(&w->gui->draw, pixels, pitch / sizeof(u32));
	SDL_UnlockTexture(w->texture);
	SDL_RenderCopy(w->renderer, w->texture, NULL, NULL);
	SDL_RenderPresent(w->renderer);
	w->changed = false;
	return 0;
}

/* ---- events ---- */

/* Keys that are no text, as the terminal view calls them. */
static int special_key(const SDL_Keysym *sym)
{
	static const struct {
		SDL_Keycode from;
		int to;
	} keys[] = {
		{SDLK_UP, TERM_UP},
		{SDLK_DOWN, TERM_DOWN},
		{SDLK_LEFT, TERM_LEFT},
		{SDLK_RIGHT, TERM_RIGHT},
		{SDLK_PAGEUP, TERM_PAGE_UP},
		{SDLK_PAGEDOWN, TERM_PAGE_DOWN},
		{SDLK_HOME, TERM_HOME},
		{SDLK_END, TERM_END},
		{SDLK_RETURN, TERM_ENTER},
		{SDLK_KP_ENTER, TERM_ENTER},
		{SDLK_BACKSPACE, TERM_BACKSPACE},
		{SDLK_DELETE, TERM_DELETE},
		{SDLK_ESCAPE, TERM_ESC},
		{SDLK_F1, TERM_F1},
		{SDLK_F10, TERM_F10},
	};

	if (sym->sym == SDLK_TAB)
		return sym->mod & KMOD_SHIFT ? TERM_BACKTAB : TERM_TAB;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].from == sym->sym)
			return keys[i].to;
	return TERM_NONE;
}

static void text_typed(struct gui *g, const char *text)
{
	u32 ch;

	while ((ch = font_next(&text)))
		gui_key(g, ch);
}

static void mouse_event(struct gui_window *w, const SDL_Event *e)
{
	bool shift = SDL_GetModState() & KMOD_SHIFT;
	struct gui *g = w->gui;

	switch (e->type) {
	case SDL_MOUSEMOTION:
		gui_move(g, e->motion.x * w->scale, e->motion.y * w->scale);
		break;
	case SDL_MOUSEBUTTONDOWN:
		if (e->button.button == SDL_BUTTON_LEFT)
			gui_press(g, e->button.x * w->scale, e->button.y * w->scale, shift);
		break;
	case SDL_MOUSEBUTTONUP:
		gui_release(g, e->button.x * w->scale, e->button.y * w->scale);
		break;
	default:
		gui_wheel(g, g->x, g->y, e->wheel.y, shift);
	}
}

static void set_full_screen(struct gui_window *w)
{
	if (w->gui->full_screen) {
		SDL_GetWindowPosition(w->window, &w->place.x, &w->place.y);
		SDL_GetWindowSize(w->window, &w->place.width, &w->place.height);
	}
	SDL_SetWindowFullscreen(w->window, w->gui->full_screen ? SDL_WINDOW_FULLSCREEN_DESKTOP : 0);
}

void gui_window_event(struct gui_window *w, const SDL_Event *e)
{
	struct gui *g = w->gui;
	bool full = g->full_screen;
	int key;

	w->changed = true;
	switch (e->type) {
	case SDL_QUIT:
		g->view.quit = true;
		break;
	case SDL_TEXTINPUT:
		text_typed(g, e->text.text);
		break;
	case SDL_KEYDOWN:
		key = special_key(&e->key.keysym);
		if (key != TERM_NONE)
			gui_key(g, key);
		break;
	case SDL_MOUSEMOTION:
	case SDL_MOUSEBUTTONDOWN:
	case SDL_MOUSEBUTTONUP:
	case SDL_MOUSEWHEEL:
		mouse_event(w, e);
		break;
	case SDL_WINDOWEVENT:
		if (e->window.event == SDL_WINDOWEVENT_LEAVE)
			g->hover = false;
		break;
	default:
		w->changed = false;
	}
	if (g->full_screen != full)
		set_full_screen(w);
}
