/*
 * view/gui/sdl/window.h - an SDL window that shows a struct gui: the only files that know SDL.
 *
 * The picture is drawn by view/image/raster.h and handed to SDL_Renderer as one texture, so that
 * a window shows the pixels a PNG has.
 *
 * Invariant  nothing is drawn while nothing changed.
 * Owner      the window belongs to its opener; gui and font outlive it.
 * Errors     negative errno with struct fl_error; -ENOTSUP: no display.
 */
#ifndef FL_VIEW_GUI_SDL_WINDOW_H
#define FL_VIEW_GUI_SDL_WINDOW_H

#include <SDL.h>

#include "view/gui/internal.h"

struct gui_window {
	struct gui *gui;
	SDL_Window *window;
	SDL_Renderer *renderer;
	SDL_Texture *texture;
	int width, height;	 /* pixels of the texture */
	double scale;		 /* pixels of it for one of the pointer's */
	bool changed;		 /* the picture is not what is shown */
	struct tui_window place; /* while it is not the whole screen */
};

/*
 * Open a window where it was (@last, of no width the first time: 80 % of the display), with text
 * that suits the display. @offscreen: a driver without a display is fine.
 */
int gui_window_open(struct gui_window *w, struct gui *gui, const struct tui_window *last,
		    bool offscreen, struct fl_error *err);
void gui_window_close(struct gui_window *w);
/* Where it is, but for full screen: where it was before. */
void gui_window_where(const struct gui_window *w, struct tui_window *place);

/* Do what an event asks for. */
void gui_window_event(struct gui_window *w, const SDL_Event *event);
/* Draw if something changed. 0 or what SDL or memory had to say. */
int gui_window_frame(struct gui_window *w, struct fl_error *err);

/* The typeface of the system, or NULL where there is none (or FOLIOLAB_FONT says builtin). */
struct font *font_ttf(void);

#endif
