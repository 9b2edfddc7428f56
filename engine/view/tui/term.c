#include "view/tui/term.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "view/tui/tui.h"

#include <curses.h>
#include <term.h>

/* curses keeps one terminal for the process, and signal handlers need it: so do we. */
static struct {
	SCREEN *screen;
	bool utf8; /* the locale's */
	bool ascii;
	int colours; /* 0, 8, 256, 1 << 24 */
	volatile sig_atomic_t signal;
	struct termios saved;
	char restore[128]; /* what a crash handler writes */
	size_t restore_len;
} term;

/* ---- signals ---- */

static void on_end(int signo)
{
	term.signal = signo;
}

/* Only what is safe in a handler; then the signal takes its course. */
static void on_crash(int signo)
{
	(void)!write(STDOUT_FILENO, term.restore, term.restore_len);
	tcsetattr(STDIN_FILENO, TCSANOW, &term.saved);
	signal(signo, SIG_DFL);
	raise(signo);
}

static void handle(int signo, void (*handler)(int))
{
	struct sigaction sa = {.sa_handler = handler};

	sigemptyset(&sa.sa_mask);
	sigaction(signo, &sa, NULL);
}

static void remember_restore(void)
{
	const char *names[] = {"rmcup", "cnorm", "sgr0"};

	tcgetattr(STDIN_FILENO, &term.saved);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *s = tigetstr(names[i]);

		if (s && s != (char *)-1 && term.restore_len + strlen(s) < sizeof(term.restore)) {
			memcpy(term.restore + term.restore_len, s, strlen(s));
			term.restore_len += strlen(s);
		}
	}
}

static void catch_signals(void)
{
	handle(SIGTERM, on_end);
	handle(SIGINT, on_end);
	handle(SIGHUP, on_end);
#ifndef __SANITIZE_ADDRESS__
	handle(SIGSEGV, on_crash);
	handle(SIGBUS, on_crash);
#endif
	handle(SIGABRT, on_crash);
}

/* ---- opening ---- */

static int no_terminal(struct fl_error *err, const char *what)
{
	return fl_error_set(err, -ENOTTY, NULL, 0,
			    "%s, expected a terminal of at least %dx%d (without --view tui "
			    "everything is plain text)",
			    what, TUI_MIN_WIDTH, TUI_MIN_HEIGHT);
}

static int check_terminal(struct fl_error *err)
{
	const char *name = getenv("TERM");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return no_terminal(err, "the view has no terminal");
	if (!name || !*name || !strcmp(name, "dumb"))
		return no_terminal(err, "this terminal is dumb (TERM)");
	return 0;
}

static void start_colours(void)
{
	const char *no_color = getenv("NO_COLOR");

	term.colours = 0;
	if ((no_color && *no_color) || !has_colors())
		return;
	start_color();
	use_default_colors();
	term.colours = COLORS >= 1 << 24 ? 1 << 24 : COLORS >= 256 ? 256 : 8;
}

int term_open(struct fl_error *err)
{
	int width, height, known = 0, ret = check_terminal(err);

	if (ret)
		return ret;
	setlocale(LC_ALL, "");
	term.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	if (setupterm(NULL, STDOUT_FILENO, &known) != OK || known != 1)
		return no_terminal(err, "curses does not know this terminal (TERM)");
	del_curterm(cur_term); /* it was only a question; newterm() leaks on a wrong answer */
	term.screen = newterm(NULL, stdout, stdin);
	if (!term.screen)
		return no_terminal(err, "curses cannot drive this terminal (TERM)");
	set_term(term.screen);
	term_size(&width, &height);
	if (width < TUI_MIN_WIDTH || height < TUI_MIN_HEIGHT) {
		char what[64];

		term_close();
		snprintf(what, sizeof(what), "this terminal is %dx%d", width, height);
		return no_terminal(err, what);
	}
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	set_escdelay(25);
	curs_set(0);
	nodelay(stdscr, TRUE);
	start_colours();
	remember_restore();
	catch_signals();
	term_theme(0);
	term_mouse(true);
	term_ascii(false);
	return 0;
}

void term_close(void)
{
	if (!term.screen)
		return;
	term_mouse(false);
	endwin();
	delscreen(term.screen);
	term.screen = NULL;
	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
}

void term_size(int *width, int *height)
{
	getmaxyx(stdscr, *height, *width);
}

bool term_is_utf8(void)
{
	return term.utf8;
}

int term_colours(void)
{
	return term.colours;
}

int term_signal(void)
{
	return term.signal;
}

void term_ascii(bool on)
{
	term.ascii = on || !term.utf8;
}

void term_mouse(bool on)
{
	mousemask(on ? BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON4_PRESSED | BUTTON5_PRESSED : 0,
		  NULL);
	mouseinterval(0);
}

/* ---- colours ---- */

static unsigned int level(unsigned int v)
{
	return v < 48 ? 0 : v < 115 ? 1 : (v - 35) / 40;
}

static unsigned int distance(u32 a, u32 b)
{
	unsigned int sum = 0;

	for (int shift = 0; shift < 24; shift += 8) {
		int d = (int)(a >> shift & 0xff) - (int)(b >> shift & 0xff);

		sum += d * d;
	}
	return sum;
}

/* The nearest of xterm's 6x6x6 cube and 24 greys. */
static int nearest_256(u32 rgb)
{
	static const u8 steps[] = {0, 95, 135, 175, 215, 255};
	unsigned int r = level(rgb >> 16 & 0xff), g = level(rgb >> 8 & 0xff), b = level(rgb & 0xff);
	u32 cube = (u32)steps[r] << 16 | (u32)steps[g] << 8 | steps[b];
	unsigned int mean = ((rgb >> 16 & 0xff) + (rgb >> 8 & 0xff) + (rgb & 0xff)) / 3;
	unsigned int grey = mean < 8 ? 0 : min((mean - 8) / 10, 23u);
	u32 grey_rgb = (8 + 10 * grey) * 0x010101;

	return distance(rgb, grey_rgb) < distance(rgb, cube) ? (int)(232 + grey)
							     : (int)(16 + 36 * r + 6 * g + b);
}

static int colour_number(u32 rgb, int of8)
{
	if (term.colours == 8)
		return of8;
	if (rgb == COLOUR_NONE)
		return -1;
	return term.colours == 256 ? nearest_256(rgb) : (int)rgb;
}

static attr_t curses_attributes(u8 a)
{
	return (a & CANVAS_BOLD ? A_BOLD : 0) | (a & CANVAS_DIM ? A_DIM : 0) |
	       (a & CANVAS_REVERSE ? A_REVERSE : 0) | (a & CANVAS_UNDERLINE ? A_UNDERLINE : 0);
}

static attr_t role_attributes[ROLE_NR];

void term_theme(unsigned int theme)
{
	if (!term.colours)
		theme = theme_by_name("mono");
	for (int role = 0; role < ROLE_NR; role++) {
		struct colour c = theme_colour(theme, role);
		u8 a = c.attributes;

		if (term.colours && role == ROLE_SELECT)
			a &= ~CANVAS_REVERSE;
		if (term.colours > 8)
			a &= ~CANVAS_DIM;
		role_attributes[role] = curses_attributes(a);
		if (term.colours)
			init_extended_pair(role + 1, colour_number(c.fg, c.fg8),
					   colour_number(c.bg, c.bg8));
	}
}

/* ---- showing ---- */

static void show_cell(const struct canvas_cell *cell, int x, int y)
{
	attr_t attributes = role_attributes[cell->role] | curses_attributes(cell->attributes);
	int pair = term.colours ? cell->role + 1 : 0;
	wchar_t text[2] = {term.ascii ? canvas_ascii(cell->ch) : (wchar_t)cell->ch, 0};
	cchar_t out;

	setcchar(&out, text, attributes, 0, &pair);
	mvadd_wch(y, x, &out);
}

void term_show(const struct canvas *c, int cx, int cy)
{
	for (int y = 0; y < c->height; y++)
		for (int x = 0; x < c->width; x++)
			show_cell(&c->cells[y * c->width + x], x, y);
	if (cx >= 0 && cy >= 0)
		move(cy, cx);
	curs_set(cx >= 0 && cy >= 0);
	refresh();
}

/* ---- keys ---- */

static int mouse_key(struct term_mouse *mouse)
{
	MEVENT ev;

	if (getmouse(&ev) != OK)
		return TERM_NONE;
	mouse->x = ev.x;
	mouse->y = ev.y;
	if (ev.bstate & BUTTON4_PRESSED)
		return TERM_WHEEL_UP;
	if (ev.bstate & BUTTON5_PRESSED)
		return TERM_WHEEL_DOWN;
	return TERM_MOUSE;
}

static int function_key(wint_t key, struct term_mouse *mouse)
{
	static const struct {
		int curses, ours;
	} keys[] = {
		{KEY_UP, TERM_UP},	   {KEY_DOWN, TERM_DOWN},
		{KEY_LEFT, TERM_LEFT},	   {KEY_RIGHT, TERM_RIGHT},
		{KEY_PPAGE, TERM_PAGE_UP}, {KEY_NPAGE, TERM_PAGE_DOWN},
		{KEY_HOME, TERM_HOME},	   {KEY_END, TERM_END},
		{KEY_ENTER, TERM_ENTER},   {KEY_BACKSPACE, TERM_BACKSPACE},
		{KEY_BTAB, TERM_BACKTAB},  {KEY_RESIZE, TERM_RESIZE},
		{KEY_F(1), TERM_F1},	   {KEY_F(10), TERM_F10},
		{KEY_DC, TERM_DELETE},
	};

	if (key == KEY_MOUSE)
		return mouse_key(mouse);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].curses == (int)key)
			return keys[i].ours;
	return TERM_NONE;
}

static int plain_key(wint_t key)
{
	switch (key) {
	case '\r':
	case '\n':
		return TERM_ENTER;
	case '\t':
		return TERM_TAB;
	case 27:
		return TERM_ESC;
	case 127:
	case 8:
		return TERM_BACKSPACE;
	default:
		return key;
	}
}

int term_key(int ms, int fd, struct term_mouse *mouse)
{
	struct pollfd p[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
	wint_t key;
	int ret = get_wch(&key);

	if (ret == ERR && !term.signal) {
		if (poll(p, 2, ms) > 0 && p[0].revents & (POLLHUP | POLLERR | POLLNVAL))
			return TERM_GONE;
		ret = get_wch(&key);
		if (ret == ERR && p[0].revents & POLLIN && errno == EIO)
			return TERM_GONE;
	}
	if (ret == ERR)
		return TERM_NONE;
	return ret == KEY_CODE_YES ? function_key(key, mouse) : plain_key(key);
}
