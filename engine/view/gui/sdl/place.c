#include "view/gui/sdl/place.h"

#define PERCENT	    80
#define CORNER	    100 /* so much has to be seen each way */
#define UNIT_HEIGHT 1080
#define UNIT_MOST   4

static SDL_Rect middle_of(const SDL_Rect *display)
{
	int w = display->w * PERCENT / 100, h = display->h * PERCENT / 100;

	return (SDL_Rect){display->x + (display->w - w) / 2, display->y + (display->h - h) / 2, w,
			  h};
}

SDL_Rect gui_place(const struct tui_window *last, const SDL_Rect *displays, int nr)
{
	const SDL_Rect was = {last->x, last->y, last->width, last->height};

	for (int i = 0; i < nr && last->width > 0; i++) {
		SDL_Rect seen, place = was;

		if (!SDL_IntersectRect(&was, &displays[i], &seen) || min(seen.w, seen.h) < CORNER)
			continue;
		place.w = min(place.w, displays[i].w);
		place.h = min(place.h, displays[i].h);
		return place;
	}
	return middle_of(&displays[0]);
}

int gui_place_unit(int height)
{
	int unit = (height + UNIT_HEIGHT / 2) / UNIT_HEIGHT;

	return min(max(unit, 1), UNIT_MOST);
}
