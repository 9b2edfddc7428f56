#include "view/tui/canvas.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int canvas_resize(struct canvas *c, int width, int height)
{
	struct canvas_cell *cells = calloc((size_t)max(width, 1) * max(height, 1), sizeof(*cells));

	free(c->cells);
	*c = (struct canvas){.cells = cells};
	if (!cells)
		return -ENOMEM;
	c->width = max(width, 1);
	c->height = max(height, 1);
	canvas_clear(c);
	return 0;
}

void canvas_fini(struct canvas *c)
{
	free(c->cells);
	*c = (struct canvas){0};
}

void canvas_clear(struct canvas *c)
{
	for (int i = 0; i < c->width * c->height; i++)
		c->cells[i] = (struct canvas_cell){.ch = ' ', .role = ROLE_TEXT};
}

static struct canvas_cell *cell_at(struct canvas *c, int x, int y)
{
	if (x < 0 || y < 0 || x >= c->width || y >= c->height)
		return NULL;
	return &c->cells[y * c->width + x];
}

void canvas_put(struct canvas *c, int x, int y, u32 ch, enum canvas_role role)
{
	struct canvas_cell *cell = cell_at(c, x, y);

	if (cell)
		*cell = (struct canvas_cell){.ch = ch, .role = role};
}

void canvas_attributes(struct canvas *c, int x, int y, u8 attributes)
{
	struct canvas_cell *cell = cell_at(c, x, y);

	if (cell)
		cell->attributes |= attributes;
}

/* The next character of UTF-8; what is none counts as '?'. */
static u32 next_char(const char **text)
{
	const u8 *p = (const u8 *)*text;
	int more = *p >= 0xf0 ? 3 : *p >= 0xe0 ? 2 : *p >= 0xc0 ? 1 : 0;
	u32 ch = more ? *p & (0x3f >> more) : *p;

	for (int i = 1; i <= more; i++) {
		if ((p[i] & 0xc0) != 0x80) {
			*text += i;
			return '?';
		}
		ch = ch << 6 | (p[i] & 0x3f);
	}
	*text += 1 + more;
	return ch < 0x20 || (ch >= 0x7f && ch < 0xa0) ? '?' : ch;
}

/* Two columns for East Asian and emoji characters: they are shown as '?', names stay aligned. */
static u32 narrow(u32 ch)
{
	bool wide = (ch >= 0x1100 && ch < 0x1160) || (ch >= 0x2e80 && ch < 0xd7a4) ||
		    (ch >= 0xf900 && ch < 0xfb00) || (ch >= 0xfe30 && ch < 0xfe70) ||
		    (ch >= 0xff00 && ch < 0xff61) || ch >= 0x1f000;
	bool combining = ch >= 0x300 && ch < 0x370;

	return wide || combining ? '?' : ch;
}

int canvas_text(struct canvas *c, int x, int y, int max, enum canvas_role role, const char *text)
{
	int n = 0;

	while (*text && n < max)
		canvas_put(c, x + n++, y, narrow(next_char(&text)), role);
	if (*text && n && n == max)
		canvas_put(c, x + n - 1, y, 0x2026, role);
	return n;
}

int canvas_width(const char *text)
{
	int n = 0;

	while (*text) {
		next_char(&text);
		n++;
	}
	return n;
}

int canvas_printf(struct canvas *c, int x, int y, int max, enum canvas_role role, const char *fmt,
		  ...)
{
	char buf[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	return canvas_text(c, x, y, max, role, buf);
}

/* Bytes and columns of the words that fit in @width columns. */
static size_t line_of(const char *text, int width)
{
	const char *p = text, *fit = text;
	int n = 0;

	while (*p && n <= width) {
		if (*p == ' ')
			fit = p;
		if (*p == '\n')
			return p - text;
		next_char(&p);
		n++;
	}
	if (n <= width)
		return p - text;
	return fit > text ? (size_t)(fit - text) : (size_t)(p - text - 1);
}

int canvas_wrap(struct canvas *c, const struct rect *r, enum canvas_role role, const char *text)
{
	char line[1024];
	int y = 0;

	for (; *text && y < r->h; y++) {
		size_t len = min(line_of(text, r->w), sizeof(line) - 1);

		memcpy(line, text, len);
		line[len] = 0;
		canvas_text(c, r->x, r->y + y, r->w, role, line);
		text += len;
		while (*text == ' ' || *text == '\n')
			text++;
	}
	return y;
}

void canvas_fill(struct canvas *c, const struct rect *r, u32 ch, enum canvas_role role)
{
	for (int y = 0; y < r->h; y++)
		for (int x = 0; x < r->w; x++)
			canvas_put(c, r->x + x, r->y + y, ch, role);
}

struct rect canvas_pane(struct canvas *c, const struct rect *r, const char *title)
{
	int n;

	for (int x = 0; x < r->w; x++)
		canvas_put(c, r->x + x, r->y, 0x2500, ROLE_RULE);
	if (*title && r->w > 6) {
		n = canvas_text(c, r->x + 2, r->y, r->w - 5, ROLE_PANE, title);
		canvas_put(c, r->x + 1, r->y, ' ', ROLE_RULE);
		canvas_put(c, r->x + 2 + n, r->y, ' ', ROLE_RULE);
	}
	return (struct rect){r->x, r->y + 1, r->w, max(r->h - 1, 0)};
}

void canvas_bar(struct canvas *c, int x, int y, int width, u64 value, u64 max,
		enum canvas_role role)
{
	u64 halves = max ? (u64)((unsigned __int128)min(value, max) * width * 2 / max) : 0;

	if (value && !halves)
		halves = 1;
	for (int i = 0; i < width && halves; i++) {
		canvas_put(c, x + i, y, halves > 1 ? 0x2501 : 0x2578, role);
		halves -= min(halves, (u64)2);
	}
}

/* ---- other forms ---- */

int canvas_utf8(u32 ch, char *buf)
{
	int n = 0;

	if (ch < 0x80) {
		buf[n++] = ch;
	} else if (ch < 0x800) {
		buf[n++] = 0xc0 | ch >> 6;
		buf[n++] = 0x80 | (ch & 0x3f);
	} else {
		buf[n++] = 0xe0 | ch >> 12;
		buf[n++] = 0x80 | (ch >> 6 & 0x3f);
		buf[n++] = 0x80 | (ch & 0x3f);
	}
	buf[n] = 0;
	return n;
}

char canvas_ascii(u32 ch)
{
	static const struct {
		u16 ch;
		char ascii;
	} table[] = {
		{0x2500, '-'}, {0x2502, '|'}, {0x2501, '='}, {0x2504, '-'}, {0x00b7, '.'},
		{0x25b8, '>'}, {0x25b6, '>'}, {0x2717, 'X'}, {0x2026, '~'}, {0x2248, '~'},
		{0x2591, ':'}, {0x25cf, '*'}, {0x25c2, '<'}, {0x2014, '-'}, {0x2013, '-'},
		{0x2194, '-'}, {0x2192, '>'}, {0x251c, '|'}, {0x2524, '|'}, {0x25b2, '^'},
		{0x2578, '-'},
	};

	if (ch < 0x80)
		return ch;
	if (ch >= 0x2581 && ch <= 0x2588)
		return ".:-=+*##"[ch - 0x2581];
	if (ch > 0x2588 && ch <= 0x258f)
		return ch < 0x258c ? '#' : '+';
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].ch == ch)
			return table[i].ascii;
	return '?';
}

void canvas_dump(const struct canvas *c, FILE *f, bool utf8)
{
	for (int y = 0; y < c->height; y++) {
		const struct canvas_cell *row = &c->cells[y * c->width];
		int n = c->width;
		char buf[5];

		while (n && row[n - 1].ch == ' ')
			n--;
		for (int x = 0; x < n; x++) {
			if (utf8)
				canvas_utf8(row[x].ch, buf);
			else
				snprintf(buf, sizeof(buf), "%c", canvas_ascii(row[x].ch));
			fputs(buf, f);
		}
		fputc('\n', f);
	}
}
