#include "view/image/font.h"

#include <stdlib.h>
#include <string.h>

#define CELL_W	  8
#define CELL_H	  16
#define ART_ROWS  13
#define ART_TOP	  2
#define SCALE_MAX 8
#define BOX	  0 /* stands for what the font lacks */

static const struct art {
	u32 ch;
	char rows[ART_ROWS * CELL_W + 1];
} arts[] = {
	{BOX, "        "
	      ".######."
	      ".#....#."
	      ".#....#."
	      ".#....#."
	      ".#....#."
	      ".#....#."
	      ".#....#."
	      ".#....#."
	      ".######."
	      "        "
	      "        "
	      "        "},
#define GLYPH(ch, ...) {ch, __VA_ARGS__},
#include "font/8x16.def"
#undef GLYPH
};

#define ARTS ARRAY_SIZE(arts)

struct builtin {
	struct font font;
	/* Made when first asked for, by scale and boldness. */
	struct glyph *scaled[SCALE_MAX][2][ARTS];
};

u32 font_next(const char **s)
{
	const unsigned char *p = (const unsigned char *)*s;
	u32 ch = *p;
	int more = ch < 0x80 ? 0 : ch >= 0xf0 ? 3 : ch >= 0xe0 ? 2 : ch >= 0xc0 ? 1 : -1;

	if (!ch)
		return 0;
	*s += 1;
	if (!more)
		return ch;
	if (more < 0)
		return 0xfffd;
	ch &= 0x3f >> more;
	for (int i = 1; i <= more; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0xfffd;
		ch = ch << 6 | (p[i] & 0x3f);
	}
	*s += more;
	return ch;
}

int font_columns(const char *text)
{
	int n = 0;

	while (font_next(&text))
		n++;
	return n;
}

int font_width(struct font *font, int size, const char *text)
{
	return font_columns(text) * font->advance(font, size);
}

static int by_code_point(const void *key, const void *art)
{
	u32 ch = *(const u32 *)key, other = ((const struct art *)art)->ch;

	return ch < other ? -1 : ch > other;
}

static int scale_of(int size)
{
	int scale = size / CELL_H;

	return scale < 1 ? 1 : min(scale, SCALE_MAX);
}

/* Is there ink at column @x of a row? Bold letters are a column wider. */
static bool has_ink(const struct art *art, int x, int y, bool bold)
{
	const char *row = &art->rows[y * CELL_W];

	return row[x] == '#' || (bold && x && row[x - 1] == '#');
}

static struct glyph *make_glyph(const struct art *art, int scale, bool bold)
{
	int w = CELL_W * scale, h = ART_ROWS * scale;
	struct glyph *g = malloc(sizeof(*g) + (size_t)w * h);
	u8 *coverage;

	if (!g)
		return NULL;
	coverage = (u8 *)(g + 1);
	*g = (struct glyph){0, ART_TOP * scale, w, h, coverage};
	for (int y = 0; y < h; y++)
		for (int x = 0; x < w; x++)
			*coverage++ = has_ink(art, x / scale, y / scale, bold) ? 255 : 0;
	return g;
}

static const struct glyph *builtin_glyph(struct font *font, u32 ch, int size, bool bold)
{
	struct builtin *b = container_of(font, struct builtin, font);
	const struct art *art;
	struct glyph **slot;

	if (ch == ' ' || ch == 0xa0)
		return NULL;
	art = bsearch(&ch, arts, ARTS, sizeof(arts[0]), by_code_point);
	if (!art)
		art = &arts[0];
	slot = &b->scaled[scale_of(size) - 1][bold][art - arts];
	if (!*slot)
		*slot = make_glyph(art, scale_of(size), bold);
	return *slot;
}

static int builtin_advance(struct font *font, int size)
{
	(void)font;
	return CELL_W * scale_of(size);
}

static void builtin_close(struct font *font)
{
	struct builtin *b = container_of(font, struct builtin, font);

	for (int scale = 0; scale < SCALE_MAX; scale++)
		for (size_t i = 0; i < ARTS; i++) {
			free(b->scaled[scale][false][i]);
			free(b->scaled[scale][true][i]);
		}
	free(b);
}

struct font *font_builtin(void)
{
	struct builtin *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->font = (struct font){builtin_glyph, builtin_advance, builtin_close};
	return &b->font;
}

void font_close(struct font *font)
{
	if (font)
		font->close(font);
}
