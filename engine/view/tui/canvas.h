/*
 * view/tui/canvas.h - a picture of character cells, before any terminal.
 *
 * Panes draw here; a terminal, a text file, a test and an SVG show it.
 *
 * Invariant  what lies outside is not drawn; every cell holds one column.
 * Owner      canvas_resize() allocates, canvas_fini() releases.
 * Errors     -ENOMEM from canvas_resize(); the canvas is then empty.
 */
#ifndef FL_VIEW_TUI_CANVAS_H
#define FL_VIEW_TUI_CANVAS_H

#include <stdio.h>

#include "lib/types.h"

#define CANVAS_BOLD	 1
#define CANVAS_DIM	 2
#define CANVAS_REVERSE	 4
#define CANVAS_UNDERLINE 8

enum canvas_role {
#define ROLE(name, fg, bg, fg8, bg8, attributes) ROLE_##name,
#include "view/tui/roles.def"
#undef ROLE
	ROLE_NR,
};

struct canvas_cell {
	u32 ch;	       /* Unicode */
	u8 role;       /* enum canvas_role */
	u8 attributes; /* CANVAS_*, besides the role's */
};

struct canvas {
	struct canvas_cell *cells;
	int width, height;
};

struct rect {
	int x, y, w, h;
};

int canvas_resize(struct canvas *c, int width, int height);
void canvas_fini(struct canvas *c);
void canvas_clear(struct canvas *c);

void canvas_put(struct canvas *c, int x, int y, u32 ch, enum canvas_role role);
/* Add CANVAS_* to what is there. */
void canvas_attributes(struct canvas *c, int x, int y, u8 attributes);
/* UTF-8 @text, at most @max columns; returns the columns drawn. */
int canvas_text(struct canvas *c, int x, int y, int max, enum canvas_role role, const char *text);
int canvas_printf(struct canvas *c, int x, int y, int max, enum canvas_role role, const char *fmt,
		  ...) __attribute__((format(printf, 6, 7)));
/* Words of @text in lines of @r; returns the lines used. */
int canvas_wrap(struct canvas *c, const struct rect *r, enum canvas_role role, const char *text);
void canvas_fill(struct canvas *c, const struct rect *r, u32 ch, enum canvas_role role);
/* "── title ─────" over the width of @r's first row; returns the rect below it. */
struct rect canvas_pane(struct canvas *c, const struct rect *r, const char *title);
/* A bar of @width columns for @value of @max, in half columns. */
void canvas_bar(struct canvas *c, int x, int y, int width, u64 value, u64 max,
		enum canvas_role role);

/* Every column as text, a line a row, trailing blanks cut. */
void canvas_dump(const struct canvas *c, FILE *f, bool utf8);
/* The same as a picture. */
void canvas_svg(const struct canvas *c, FILE *f, const char *theme);

/* The ASCII character that stands for a Unicode one of ours. */
char canvas_ascii(u32 ch);
/* Write @ch as UTF-8; returns the bytes, buf needs 5. */
int canvas_utf8(u32 ch, char *buf);
/* The columns of @text if it were drawn. */
int canvas_width(const char *text);

/* ---- themes ---- */

#define COLOUR_NONE 0xff000000u

struct colour {
	u32 fg, bg; /* 0xRRGGBB or COLOUR_NONE */
	int8_t fg8, bg8;
	u8 attributes;
};

/* How a role looks in theme @theme (theme_name()). */
struct colour theme_colour(unsigned int theme, enum canvas_role role);
/* NULL past the last. */
const char *theme_name(unsigned int theme);
/* -ENOENT for an unknown name. */
int theme_by_name(const char *name);

static inline enum canvas_role role_order(unsigned int order, bool used)
{
	return (used ? ROLE_ORDER0 : ROLE_UNUSED0) + (order > 9 ? 9 : order);
}

#endif
