/*
 * view/image/font.h - glyphs as coverage: how much of each pixel is ink.
 *
 * Two makers: the built-in 8x16 font (assets/font/8x16.def), the same pixels on every machine, and
 * gui/ttf.h for a real typeface where there is one. Whoever draws knows only this.
 *
 * Invariant  every letter of a size has the same advance; a glyph without ink is an advance only.
 * Owner      glyphs belong to the font and live as long as it.
 * Errors     a code point the font lacks comes out as a box; no memory: no ink.
 */
#ifndef FL_VIEW_IMAGE_FONT_H
#define FL_VIEW_IMAGE_FONT_H

#include "lib/types.h"

struct glyph {
	int left, top;	    /* of the ink, from the cell's upper left corner */
	int w, h;	    /* of the ink, in pixels */
	const u8 *coverage; /* w * h, 255: all ink */
};

/* A typeface. Embed it. */
struct font {
	/* The glyph of @ch in cells @size pixels high; NULL: nothing to draw. */
	const struct glyph *(*glyph)(struct font *font, u32 ch, int size, bool bold);
	/* Pixels from one letter to the next. */
	int (*advance)(struct font *font, int size);
	void (*close)(struct font *font);
};

/* The built-in font; sizes are cut to whole multiples of 16. NULL without memory. */
struct font *font_builtin(void);
/* NULL is fine. */
void font_close(struct font *font);

/* Columns of UTF-8 @text, a code point each. */
int font_columns(const char *text);
/* Its pixels at @size. */
int font_width(struct font *font, int size, const char *text);

/* The next code point of *@s, which moves behind it; broken bytes are U+FFFD. 0 at the end. */
u32 font_next(const char **s);

#endif
