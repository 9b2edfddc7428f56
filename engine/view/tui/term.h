/*
 * view/tui/term.h - the terminal: the only file that knows curses.
 *
 * Invariant  between term_open() and term_close() nobody else writes to the terminal. Signals that
 *            end the program restore it first: TERM, INT, HUP through term_signal(), crashes in
 *            their handler; TSTP and CONT are curses' own.
 * Owner      there is one terminal a process; its state is in term.c.
 * Errors     -ENOTTY with struct fl_error: no terminal, TERM dumb or unknown, too small.
 */
#ifndef FL_VIEW_TUI_TERM_H
#define FL_VIEW_TUI_TERM_H

#include "lib/error.h"
#include "view/tui/canvas.h"

/* What term_key() returns besides characters. */
enum term_key {
	TERM_NONE = -1,
	TERM_KEYS = 0x110000,
	TERM_UP = TERM_KEYS,
	TERM_DOWN,
	TERM_LEFT,
	TERM_RIGHT,
	TERM_PAGE_UP,
	TERM_PAGE_DOWN,
	TERM_HOME,
	TERM_END,
	TERM_ENTER,
	TERM_BACKSPACE,
	TERM_ESC,
	TERM_TAB,
	TERM_BACKTAB,
	TERM_RESIZE,
	TERM_MOUSE,
	TERM_WHEEL_UP,
	TERM_WHEEL_DOWN,
	TERM_F1,
	TERM_F10,
	TERM_GONE,
	TERM_DELETE,
};

struct term_mouse {
	int x, y;
};

int term_open(struct fl_error *err);
void term_close(void);

void term_size(int *width, int *height);
bool term_is_utf8(void);
/* Colours the terminal shows: 0 with NO_COLOR. */
int term_colours(void);
void term_theme(unsigned int theme);
void term_mouse(bool on);
/* Show nothing but ASCII; without UTF-8 that cannot be helped. */
void term_ascii(bool on);

/* Show @c; the cursor stands at @cx, @cy if that is not negative. */
void term_show(const struct canvas *c, int cx, int cy);
/*
 * The next key, waiting up to @ms (-1: for ever) or until @fd (-1: none) can be read; TERM_NONE if
 * there is none.
 */
int term_key(int ms, int fd, struct term_mouse *mouse);
/* The signal that asks us to end, or 0. */
int term_signal(void);

#endif
