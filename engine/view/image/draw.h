/*
 * view/image/draw.h - a picture as a list of what is drawn, in order.
 *
 * Panels write the list; a window, a PNG, an SVG and a text dump show it, so that all of them are
 * the same picture.
 *
 * Invariant  a command is cut to the clip that held when it was added; what lies outside of it
 *            altogether is not added.
 * Owner      texts and pixels are copied into the list; draw_begin() forgets them.
 * Errors     -ENOMEM is kept in draw->error; commands are left out from then on.
 */
#ifndef FL_VIEW_IMAGE_DRAW_H
#define FL_VIEW_IMAGE_DRAW_H

#include <stdio.h>

#include "view/image/font.h"

/* Pixels, from the upper left corner. */
struct box {
	int x, y, w, h;
};

enum draw_type {
	DRAW_RECT,  /* filled */
	DRAW_LINE,  /* from (x, y) to (x + w, y + h), a pixel wide */
	DRAW_HATCH, /* enum draw_hatch over the box */
	DRAW_TEXT,  /* in the cell line at (x, y), h pixels high */
	DRAW_IMAGE, /* pixels stretched over the box without smoothing */
};

enum draw_hatch {
	HATCH_RISING,  /* writeback */
	HATCH_FALLING, /* order groups in print */
	HATCH_CROSS,
	HATCH_DOTS,
	HATCH_NR,
};

#define DRAW_BOLD 1u

struct draw_command {
	u8 type;    /* enum draw_type */
	u8 detail;  /* enum draw_hatch, or DRAW_BOLD */
	u32 colour; /* 0xRRGGBB */
	struct box box, clip;
	u32 data; /* offset of its text or pixels */
	int image_w, image_h;
};

struct draw {
	int width, height;
	u32 ground; /* what is there before the first command */
	struct font *font;
	struct draw_command *commands;
	size_t nr, cap;
	char *texts;
	size_t text_used, text_cap;
	u32 *pixels;
	size_t pixels_used, pixels_cap;
	struct box clip;
	int error;
};

/* An empty list that measures text with @font, which outlives it. */
void draw_init(struct draw *d, struct font *font);
void draw_fini(struct draw *d);
/* Start over with a picture of that size. */
void draw_begin(struct draw *d, int width, int height, u32 ground);

/* From now on only what lies in @box and the clip so far; returns the clip so far. */
struct box draw_clip(struct draw *d, struct box box);
/* Back to a clip that draw_clip() returned. */
void draw_unclip(struct draw *d, struct box before);

void draw_rect(struct draw *d, struct box box, u32 colour);
/* The outline of @box, @width pixels inside of it. */
void draw_frame(struct draw *d, struct box box, int width, u32 colour);
void draw_line(struct draw *d, int x0, int y0, int x1, int y1, u32 colour);
void draw_hatch(struct draw *d, struct box box, enum draw_hatch hatch, u32 colour);
/* @w * @h pixels 0xRRGGBB over @box. */
void draw_image(struct draw *d, struct box box, const u32 *pixels, int w, int h);

/* How a text lies in its box. */
enum draw_align { ALIGN_LEFT, ALIGN_MIDDLE, ALIGN_RIGHT };

/*
 * UTF-8 @text, one line of it, @size pixels high, in the middle of @box's height. Too long a text
 * ends in "…". Returns the pixels it took.
 */
int draw_text(struct draw *d, struct box box, int size, unsigned int flags, enum draw_align align,
	      u32 colour, const char *text);
/* The same with printf's rules; cut at 512 bytes. */
int draw_printf(struct draw *d, struct box box, int size, unsigned int flags, enum draw_align align,
		u32 colour, const char *fmt, ...) __attribute__((format(printf, 7, 8)));
/* Words of @text in lines of @box; returns the height used. */
int draw_wrap(struct draw *d, struct box box, int size, unsigned int flags, u32 colour,
	      const char *text);

/* A command a line, for tests and for reading. */
void draw_dump(const struct draw *d, FILE *f);

static inline const char *draw_text_of(const struct draw *d, const struct draw_command *c)
{
	return d->texts + c->data;
}

/* What is in both. */
struct box box_cut(struct box a, struct box b);

static inline bool box_has(struct box b, int x, int y)
{
	return x >= b.x && y >= b.y && x < b.x + b.w && y < b.y + b.h;
}

/* @b with @margin pixels less at every side. */
static inline struct box box_inset(struct box b, int margin)
{
	return (struct box){b.x + margin, b.y + margin, max(b.w - 2 * margin, 0),
			    max(b.h - 2 * margin, 0)};
}

#endif
