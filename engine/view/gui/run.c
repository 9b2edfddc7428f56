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

/* How long to sleep where nothing is to be waited for: SDL has no way to wait for ever. */
#define IDLE_MS 1000

/* Wait for something to happen, do all that did, play on. */
static int turn(struct gui_window *w, double *last, struct fl_error *err)
{
	struct tui *t = &w->gui->view;
	int ms = tui_patience(t, tui_work_ahead(t));
	SDL_Event e;
	double now;

	if (SDL_WaitEventTimeout(&e, ms < 0 ? IDLE_MS : ms))
		do
			gui_window_event(w, &e);
		while (SDL_PollEvent(&e));
	now = tui_now_ms();
	w->changed |= tui_turn(t, now - *last);
	*last = now;
	return gui_window_frame(w, err);
}

int gui_run(const struct tui_machine *machines, unsigned int nr, const struct tui_options *options,
	    struct fl_error *err)
{
	struct font *font = font_ttf();
	struct gui_window w;
	struct gui g;
	double last = tui_now_ms();
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
