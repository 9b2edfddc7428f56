/*
 * view/gui/sdl/place.h - where a window opens and how large things in it are.
 *
 * Invariant  a window opens on a display that is there, no larger than it.
 * Owner      nothing is kept.
 * Errors     none.
 */
#ifndef FL_VIEW_GUI_SDL_PLACE_H
#define FL_VIEW_GUI_SDL_PLACE_H

#include <SDL.h>

#include "view/tui/tui.h"

/*
 * Where a window is to be that was at @last (no width: nobody knows) on @nr displays, the first of
 * which is the main one: there if at least a corner of it can still be seen, else in the middle of
 * the main one, at 80 % of its width and height. Units are the window system's.
 */
SDL_Rect gui_place(const struct tui_window *last, const SDL_Rect *displays, int nr);

/* How many times larger than 16-pixel text things are on a display of @height pixels, 1 to 4. */
int gui_place_unit(int height);

#endif
