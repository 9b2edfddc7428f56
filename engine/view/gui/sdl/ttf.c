/* A real typeface through SDL_ttf, glyph by glyph. */
#include <SDL_ttf.h>
#include <stdlib.h>
#include <string.h>

#include "view/gui/sdl/window.h"

#define SIZES  8    /* different sizes in use */
#define GLYPHS 2048 /* slots of a size's table; a power of two */

/* Where packages put DejaVu Sans Mono. */
static const char *const paths[] = {
	"/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf",
	"/usr/share/fonts/dejavu-sans-mono-fonts/DejaVuSansMono.ttf",
	"/usr/share/fonts/TTF/DejaVuSansMono.ttf",
};

struct entry {
	u32 key; /* code point * 2 + bold; 0: free */
	struct glyph *glyph;
};

struct face {
	int size, advance;
	TTF_Font *font;
	struct entry *glyphs;
};

struct ttf {
	struct font font;
	struct font *fallback; /* for what the typeface lacks */
	const char *path;
	struct face faces[SIZES];
	int nr;
};

/* The largest font whose lines fit into @size pixels. */
static TTF_Font *open_fitting(const char *path, int size)
{
	for (int points = size; points > 4; points--) {
		TTF_Font *font = TTF_OpenFont(path, points);

		if (!font || TTF_FontHeight(font) <= size + 1)
			return font;
		TTF_CloseFont(font);
	}
	return NULL;
}

static struct face *face_of(struct ttf *t, int size)
{
	struct face *f;

	for (int i = 0; i < t->nr; i++)
		if (t->faces[i].size == size)
			return &t->faces[i];
	if (t->nr == SIZES)
		return NULL;
	f = &t->faces[t->nr];
	f->font = open_fitting(t->path, size);
	f->glyphs = calloc(GLYPHS, sizeof(*f->glyphs));
	if (!f->font || !f->glyphs ||
	    TTF_GlyphMetrics32(f->font, 'n', NULL, NULL, NULL, NULL, &f->advance)) {
		if (f->font)
			TTF_CloseFont(f->font);
		free(f->glyphs);
		return NULL;
	}
	f->size = size;
	t->nr++;
	return f;
}

/* A surface of 8-bit shades as coverage. */
static struct glyph *copy_shades(const SDL_Surface *s)
{
	struct glyph *g = malloc(sizeof(*g) + (size_t)s->w * s->h);
	u8 *to;

	if (!g)
		return NULL;
	to = (u8 *)(g + 1);
	*g = (struct glyph){0, 0, s->w, s->h, to};
	for (int y = 0; y < s->h; y++)
		memcpy(to + (size_t)y * s->w, (const u8 *)s->pixels + (size_t)y * s->pitch, s->w);
	return g;
}

static struct glyph *make_glyph(struct face *f, u32 ch, bool bold)
{
	static const SDL_Color white = {255, 255, 255, 255}, black = {0, 0, 0, 255};
	struct glyph *g = NULL;
	SDL_Surface *s;
	int left = 0;

	TTF_SetFontStyle(f->font, bold ? TTF_STYLE_BOLD : TTF_STYLE_NORMAL);
	s = TTF_RenderGlyph32_Shaded(f->font, ch, white, black);
	if (s)
		g = copy_shades(s);
	if (g && !TTF_GlyphMetrics32(f->font, ch, &left, NULL, NULL, NULL, NULL))
		g->left = min(left, 0);
	SDL_FreeSurface(s);
	return g;
}

static const struct glyph *ttf_glyph(struct font *font, u32 ch, int size, bool bold)
{
	struct ttf *t = container_of(font, struct ttf, font);
	struct face *f = face_of(t, size);
	u32 key = ch * 2 + bold, at = key * 2654435761u;

	if (ch == ' ' || ch == 0xa0)
		return NULL;
	if (!f || !TTF_GlyphIsProvided32(f->font, ch))
		return t->fallback->glyph(t->fallback, ch, size, bold);
	for (int i = 0; i < GLYPHS; i++) {
		struct entry *e = &f->glyphs[(at + i) & (GLYPHS - 1)];

		if (e->key == key)
			return e->glyph;
		if (e->key)
			continue;
		e->key = key;
		e->glyph = make_glyph(f, ch, bold);
		return e->glyph;
	}
	return NULL;
}

static int ttf_advance(struct font *font, int size)
{
	struct ttf *t = container_of(font, struct ttf, font);
	struct face *f = face_of(t, size);

	return f ? f->advance : t->fallback->advance(t->fallback, size);
}

static void ttf_close(struct font *font)
{
	struct ttf *t = container_of(font, struct ttf, font);

	for (int i = 0; i < t->nr; i++) {
		for (int g = 0; g < GLYPHS; g++)
			free(t->faces[i].glyphs[g].glyph);
		free(t->faces[i].glyphs);
		TTF_CloseFont(t->faces[i].font);
	}
	font_close(t->fallback);
	TTF_Quit();
	free(t);
}

static const char *find_face(void)
{
	const char *wish = getenv("FOLIOLAB_FONT");

	if (wish)
		return strcmp(wish, "builtin") ? wish : NULL;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		SDL_RWops *file = SDL_RWFromFile(paths[i], "rb");

		if (file) {
			SDL_RWclose(file);
			return paths[i];
		}
	}
	return NULL;
}

struct font *font_ttf(void)
{
	const char *path = find_face();
	struct ttf *t;

	if (!path || TTF_Init())
		return NULL;
	t = calloc(1, sizeof(*t));
	if (t) {
		t->font = (struct font){ttf_glyph, ttf_advance, ttf_close};
		t->path = path;
		t->fallback = font_builtin();
		if (t->fallback && face_of(t, 16))
			return &t->font;
		font_close(t->fallback);
		free(t);
	}
	TTF_Quit();
	return NULL;
}
