#include "view/image/raster.h"

#include <stdlib.h>
#include <string.h>

#define HATCH_STEP 6

/* Where the pixels go. */
struct target {
	const struct draw *draw;
	u32 *pixels;
	size_t stride;
};

static u32 *at(const struct target *t, int x, int y)
{
	return t->pixels + (size_t)y * t->stride + x;
}

static void fill(const struct target *t, struct box b, u32 colour)
{
	for (int y = b.y; y < b.y + b.h; y++) {
		u32 *row = at(t, b.x, y);

		for (int x = 0; x < b.w; x++)
			row[x] = colour;
	}
}

static void rect(const struct target *t, const struct draw_command *c)
{
	fill(t, c->clip, c->colour);
}

static void put(const struct target *t, const struct draw_command *c, int x, int y)
{
	if (box_has(c->clip, x, y))
		*at(t, x, y) = c->colour;
}

/* A step along the longer side a pixel, rounded along the other. */
static void line(const struct target *t, const struct draw_command *c)
{
	int dx = c->box.w, dy = c->box.h, steps = max(abs(dx), abs(dy));

	if (!dx || !dy) {
		fill(t, c->clip, c->colour);
		return;
	}
	for (int i = 0; i <= steps; i++)
		put(t, c, c->box.x + (s64)dx * i / steps, c->box.y + (s64)dy * i / steps);
}

static bool hatched(unsigned int hatch, int x, int y)
{
	switch (hatch) {
	case HATCH_RISING:
		return (x + y) % HATCH_STEP == 0;
	case HATCH_FALLING:
		return (x - y + (1 << 20) * HATCH_STEP) % HATCH_STEP == 0;
	case HATCH_CROSS:
		return hatched(HATCH_RISING, x, y) || hatched(HATCH_FALLING, x, y);
	default:
		return x % (HATCH_STEP / 2) == 0 && y % (HATCH_STEP / 2) == 0;
	}
}

static void hatch(const struct target *t, const struct draw_command *c)
{
	for (int y = c->clip.y; y < c->clip.y + c->clip.h; y++)
		for (int x = c->clip.x; x < c->clip.x + c->clip.w; x++)
			if (hatched(c->detail, x, y))
				*at(t, x, y) = c->colour;
}

/* @colour at @coverage of 255 over @under. */
static u32 blend(u32 colour, u32 under, unsigned int coverage)
{
	u32 rb = (colour & 0xff00ff) * coverage + (under & 0xff00ff) * (255 - coverage);
	u32 g = (colour & 0xff00) * coverage + (under & 0xff00) * (255 - coverage);

	/* Exact for 0 and 255: (v + 128 + v/256) / 256 as in v/255 rounded. */
	rb += 0x800080 + ((rb >> 8) & 0xff00ff);
	g += 0x8000 + ((g >> 8) & 0xff00);
	return (rb >> 8 & 0xff00ff) | (g >> 8 & 0xff00);
}

static void glyph(const struct target *t, const struct draw_command *c, const struct glyph *g,
		  int x, int y)
{
	struct box ink = box_cut((struct box){x + g->left, y + g->top, g->w, g->h}, c->clip);

	for (int row = ink.y; row < ink.y + ink.h; row++) {
		const u8 *coverage =
			g->coverage + (size_t)(row - y - g->top) * g->w - (x + g->left);
		u32 *to = at(t, 0, row);

		for (int col = ink.x; col < ink.x + ink.w; col++)
			if (coverage[col])
				to[col] = blend(c->colour, to[col], coverage[col]);
	}
}

static void text(const struct target *t, const struct draw_command *c)
{
	struct font *font = t->draw->font;
	int x = c->box.x, advance = font->advance(font, c->box.h);
	const char *s = draw_text_of(t->draw, c);
	u32 ch;

	for (; (ch = font_next(&s)); x += advance) {
		const struct glyph *g = font->glyph(font, ch, c->box.h, c->detail & DRAW_BOLD);

		if (g)
			glyph(t, c, g, x, c->box.y);
	}
}

static void image(const struct target *t, const struct draw_command *c)
{
	const u32 *from = t->draw->pixels + c->data;

	for (int y = c->clip.y; y < c->clip.y + c->clip.h; y++) {
		const u32 *row = from + (s64)(y - c->box.y) * c->image_h / c->box.h * c->image_w;
		u32 *to = at(t, 0, y);
		int right = c->clip.x + c->clip.w;

		if (c->image_w == c->box.w)
			memcpy(to + c->clip.x, row + (c->clip.x - c->box.x),
			       c->clip.w * sizeof(*to));
		else
			for (int x = c->clip.x; x < right; x++)
				to[x] = row[(s64)(x - c->box.x) * c->image_w / c->box.w];
	}
}

void raster(const struct draw *d, u32 *pixels, size_t stride)
{
	static void (*const how[])(const struct target *t, const struct draw_command *c) = {
		[DRAW_RECT] = rect, [DRAW_LINE] = line,	  [DRAW_HATCH] = hatch,
		[DRAW_TEXT] = text, [DRAW_IMAGE] = image,
	};
	const struct target t = {d, pixels, stride};

	fill(&t, (struct box){0, 0, d->width, d->height}, d->ground);
	for (size_t i = 0; i < d->nr; i++)
		how[d->commands[i].type](&t, &d->commands[i]);
}
