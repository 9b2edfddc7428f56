/* From tapes to a window, and the loop that keeps it up to date. */
#include <errno.h>
#include <signal.h>
#include <time.h>

#include "view/gui/internal.h"

#ifdef FL_NO_GUI

int gui_run(const struct tui_machine *machines, unsigned int nr, const struct tui_options *options,
	    int *signo, struct fl_error *err)
{
	(void)machines;
	(void)nr;
	(void)options;
	(void)signo;
	return fl_error_set(err, -ENOTSUP, "--view", 0,
			    "this foliolab was built without SDL (make NO_GUI=1), expected a build "
			    "with it; '--view tui' shows the same in a terminal");
}

#else

#include "view/gui/sdl/window.h"

/* The longest sleep: SDL does not notice a signal that ends the view. */
#define IDLE_MS 200

/* Signals that end the view wait until it looks; the mask before goes to @old. */
static void hold_signals(sigset_t *ends, sigset_t *old)
{
	sigemptyset(ends);
	sigaddset(ends, SIGINT);
	sigaddset(ends, SIGTERM);
	sigaddset(ends, SIGHUP);
	sigprocmask(SIG_BLOCK, ends, old);
}

static int signal_held(const sigset_t *ends)
{
	const struct timespec at_once = {0};

	return max(sigtimedwait(ends, NULL, &at_once), 0);
}

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

/* Until the person leaves or a signal comes. */
static int loop(struct gui *g, int *signo, struct fl_error *err)
{
	struct tui_settings *settings = g->view.options->settings;
	double last = tui_now_ms();
	struct tui_window first = {0};
	struct gui_window w;
	sigset_t ends, old;
	int ret;

	hold_signals(&ends, &old);
	ret = gui_window_open(&w, g, settings ? &settings->window : &first, false, err);
	if (!ret) {
		ret = gui_window_frame(&w, err);
		while (!ret && !g->view.quit && !(*signo = signal_held(&ends)))
			ret = turn(&w, &last, err);
		if (settings)
			gui_window_where(&w, &settings->window);
		gui_window_close(&w);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	return !ret && *signo ? -EINTR : ret;
}

int gui_run(const struct tui_machine *machines, unsigned int nr, const struct tui_options *options,
	    int *signo, struct fl_error *err)
{
	struct font *font = font_ttf();
	struct gui g;
	int ret;

	*signo = 0;
	if (!font)
		font = font_builtin();
	if (!font)
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	ret = gui_init(&g, machines, nr, options, font, err);
	if (!ret) {
		ret = loop(&g, signo, err);
		if (options->settings)
			tui_keep_settings(&g.view, options->settings);
	}
	gui_fini(&g);
	font_close(font);
	return ret;
}

#endif
