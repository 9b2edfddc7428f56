/*
 * view/gui/gui.h - the window: the scenes of the terminal view, drawn large.
 *
 * What is shown and what a key does is the terminal view's (view/tui/tui.h); this draws it as a
 * draw list, which a window shows and a picture file holds.
 *
 * Invariant  panels only read; the same tapes, place and size give the same list.
 * Owner      tapes and infos belong to the caller and outlive the view.
 * Errors     negative errno with struct fl_error.
 */
#ifndef FL_VIEW_GUI_GUI_H
#define FL_VIEW_GUI_GUI_H

#include "view/image/draw.h"
#include "view/tui/tui.h"

#define GUI_THEMES "dark, light, contrast, mono or print"

/* What a picture shows. */
struct gui_picture {
	u64 at;		    /* stand after this event of the first tape */
	u64 from_ns, to_ns; /* virtual time of the panels over time; equal: all of it */
	int width, height;  /* pixels */
	unsigned int theme; /* theme_by_name() */
	int presenter;	    /* the panel shown alone, 1..; 0: all of them */
};

/*
 * Draw one picture without a window. @draw: made here, for draw_fini(); its font is the caller's.
 */
int gui_picture(const struct tui_machine *machines, unsigned int nr,
		const struct tui_options *options, const struct gui_picture *what,
		struct font *font, struct draw *draw, struct fl_error *err);

/*
 * Show it in a window until the person leaves. -EINTR and the signal in *@signo where one ended
 * it; -ENOTSUP with the reason where there is no display, no SDL in this build, or no way to draw.
 */
int gui_run(const struct tui_machine *machines, unsigned int nr, const struct tui_options *options,
	    int *signo, struct fl_error *err);

#endif
