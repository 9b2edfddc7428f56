/* From tapes to a window, and the loop that keeps it up to date. */
#include <errno.h>

#include "view/gui/internal.h"

#ifdef FL_NO_GUI

int gui_run(const struct tui_machine *machines, unsigned int nr, const struct tui_options *options,
	    struct fl_error *err)
{
	(void)machines;
	(void)nr;
	(void)options;
	return fl_error_set(err, -ENOTSUP, "--view", 0,
			    "this foliolab was built without SDL (make NO_GUI=1), expected a build "
			    "with it; '--view tui' shows the same in a terminal");
}

#else

#include "view/gui/sdl/window.h"

#define FRAME_MS 16

/* Wait for something to happen, do all that did, play on. */
static int turn(struct gui_window *w, u32 *last, struct fl_error *err)
{
	struct tui *t = &w->gui->view;
	bool moving = t->playing || t->running;
	SDL_Event e;
	u32 now;

	if (SDL_WaitEventTimeout(&e, moving ? FRAME_MS : 1000))
		do
			gui_window_event(w, &e);
		while (SDL_PollEvent(&e));
	now = SDL_GetTicks();
	if (moving && (t->playing || t->running)) {
		tui_advance(t, now - *last);
		w->changed = true;
	}
	*last = now;
	return gui_window_frame(w, err);
}

int gui_run(const struct tui_machine *machines, unsigned int nr, const struct tui_options *options,
	    struct fl_error *err)
{
	struct font *font = font_ttf();
	struct gui_window w;
	struct gui g;
	u32 last = 0;
	int ret;

	if (!font)
		font = font_builtin();
	if (!font)
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	ret = gui_init(&g, machines, nr, options, font, err);
	if (!ret)
		ret = gui_window_open(&w, &g, 0, 0, false, err);
	if (!ret) {
		ret = gui_window_frame(&w, err);
		while (!ret && !g.view.quit)
			ret = turn(&w, &last, err);
		gui_window_close(&w);
	}
	gui_fini(&g);
	font_close(font);
	return ret;
}

#endif
