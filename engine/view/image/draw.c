#include "view/image/draw.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 512

void draw_init(struct draw *d, struct font *font)
{
	*d = (struct draw){.font = font};
}

void draw_fini(struct draw *d)
{
	free(d->commands);
	free(d->texts);
	free(d->pixels);
	*d = (struct draw){0};
}

void draw_begin(struct draw *d, int width, int height, u32 ground)
{
	d->width = width;
	d->height = height;
	d->ground = ground;
	d->nr = d->text_used = d->pixels_used = 0;
	d->error = 0;
	d->clip = (struct box){0, 0, width, height};
}

struct box box_cut(struct box a, struct box b)
{
	int x = max(a.x, b.x), y = max(a.y, b.y);
	int right = min(a.x + a.w, b.x + b.w), bottom = min(a.y + a.h, b.y + b.h);

	return (struct box){x, y, max(right - x, 0), max(bottom - y, 0)};
}

struct box draw_clip(struct draw *d, struct box box)
{
	struct box before = d->clip;

	d->clip = box_cut(box, before);
	return before;
}

void draw_unclip(struct draw *d, struct box before)
{
	d->clip = before;
}

/* Room for @n more elements of @size bytes; *@at is grown. */
static bool reserve(struct draw *d, void **at, size_t used, size_t *cap, size_t n, size_t size)
{
	size_t want = *cap ? *cap : 64;
	void *p;

	if (d->error)
		return false;
	while (want < used + n)
		want *= 2;
	if (want == *cap)
		return true;
	p = realloc(*at, want * size);
	if (!p) {
		d->error = -ENOMEM;
		return false;
	}
	*at = p;
	*cap = want;
	return true;
}

/* A new command over @box (its @reach: all that it can touch), or NULL. */
static struct draw_command *add(struct draw *d, enum draw_type type, struct box box,
				struct box reach, u32 colour)
{
	struct box seen = box_cut(reach, d->clip);
	struct draw_command *c;

	if (!seen.w || !seen.h)
		return NULL;
	if (!reserve(d, (void **)&d->commands, d->nr, &d->cap, 1, sizeof(*d->commands)))
		return NULL;
	c = &d->commands[d->nr++];
	*c = (struct draw_command){.type = type, .colour = colour, .box = box, .clip = seen};
	return c;
}

void draw_rect(struct draw *d, struct box box, u32 colour)
{
	add(d, DRAW_RECT, box, box, colour);
}

void draw_frame(struct draw *d, struct box b, int width, u32 colour)
{
	if (b.w <= 2 * width || b.h <= 2 * width) {
		draw_rect(d, b, colour);
		return;
	}
	draw_rect(d, (struct box){b.x, b.y, b.w, width}, colour);
	draw_rect(d, (struct box){b.x, b.y + b.h - width, b.w, width}, colour);
	draw_rect(d, (struct box){b.x, b.y + width, width, b.h - 2 * width}, colour);
	draw_rect(d, (struct box){b.x + b.w - width, b.y + width, width, b.h - 2 * width}, colour);
}

void draw_line(struct draw *d, int x0, int y0, int x1, int y1, u32 colour)
{
	struct box reach = {min(x0, x1), min(y0, y1), abs(x1 - x0) + 1, abs(y1 - y0) + 1};

	add(d, DRAW_LINE, (struct box){x0, y0, x1 - x0, y1 - y0}, reach, colour);
}

void draw_hatch(struct draw *d, struct box box, enum draw_hatch hatch, u32 colour)
{
	struct draw_command *c = add(d, DRAW_HATCH, box, box, colour);

	if (c)
		c->detail = hatch;
}

void draw_image(struct draw *d, struct box box, const u32 *pixels, int w, int h)
{
	size_t n = (size_t)w * h;
	struct draw_command *c;

	if (w <= 0 || h <= 0 ||
	    !reserve(d, (void **)&d->pixels, d->pixels_used, &d->pixels_cap, n, sizeof(*d->pixels)))
		return;
	c = add(d, DRAW_IMAGE, box, box, 0);
	if (!c)
		return;
	c->data = d->pixels_used;
	c->image_w = w;
	c->image_h = h;
	memcpy(d->pixels + d->pixels_used, pixels, n * sizeof(*pixels));
	d->pixels_used += n;
}

/* Bytes of the first @columns of @text. */
static size_t bytes_of(const char *text, int columns)
{
	const char *s = text;

	while (columns-- > 0 && font_next(&s))
		;
	return s - text;
}

/* One line whose @len bytes fit, drawn at @box's left edge; @dots: it was cut. */
static void add_text(struct draw *d, struct box box, int size, unsigned int flags, u32 colour,
		     const char *text, size_t len, bool dots)
{
	static const char ellipsis[] = "\u2026";
	size_t total = len + (dots ? strlen(ellipsis) : 0) + 1;
	struct draw_command *c;

	if (!reserve(d, (void **)&d->texts, d->text_used, &d->text_cap, total, 1))
		return;
	c = add(d, DRAW_TEXT, (struct box){box.x, box.y + (box.h - size) / 2, box.w, size}, box,
		colour);
	if (!c)
		return;
	c->detail = flags;
	c->data = d->text_used;
	memcpy(d->texts + c->data, text, len);
	strcpy(d->texts + c->data + len, dots ? ellipsis : "");
	d->text_used += total;
}

int draw_text(struct draw *d, struct box box, int size, unsigned int flags, enum draw_align align,
	      u32 colour, const char *text)
{
	int advance = d->font->advance(d->font, size), columns = font_columns(text);
	int room = box.w / advance, width;
	bool dots = columns > room;

	if (room <= 0 || !columns)
		return 0;
	if (dots)
		columns = room - 1;
	width = (columns + dots) * advance;
	if (align == ALIGN_MIDDLE)
		box.x += (box.w - width) / 2;
	else if (align == ALIGN_RIGHT)
		box.x += box.w - width;
	box.w = width;
	add_text(d, box, size, flags, colour, text, bytes_of(text, columns), dots);
	return width;
}

int draw_printf(struct draw *d, struct box box, int size, unsigned int flags, enum draw_align align,
		u32 colour, const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return draw_text(d, box, size, flags, align, colour, text);
}

/* How many bytes of @text go into a line of @columns: up to a blank, or cut in a long word. */
static size_t line_length(const char *text, int columns)
{
	size_t all = bytes_of(text, columns), n = all;

	if (!text[all] || text[all] == ' ' || text[all] == '\n')
		return all;
	while (n && text[n - 1] != ' ')
		n--;
	return n ? n : all;
}

/* @len without the blanks at the end. */
static size_t without_blanks(const char *text, size_t len)
{
	while (len && text[len - 1] == ' ')
		len--;
	return len;
}

int draw_wrap(struct draw *d, struct box box, int size, unsigned int flags, u32 colour,
	      const char *text)
{
	int columns = box.w / d->font->advance(d->font, size), y = 0;

	while (columns > 0 && *text && y + size <= box.h) {
		const char *end = strchr(text, '\n');
		size_t len = line_length(text, columns);

		if (end && (size_t)(end - text) < len)
			len = end - text;
		add_text(d, (struct box){box.x, box.y + y, box.w, size}, size, flags, colour, text,
			 without_blanks(text, len), false);
		text += len;
		text += *text == '\n' || *text == ' ';
		y += size + size / 4;
	}
	return y;
}

static void dump_command(const struct draw *d, const struct draw_command *c, FILE *f)
{
	static const char *const names[] = {"rect", "line", "hatch", "text", "image"};

	fprintf(f, "%s %d %d %d %d", names[c->type], c->box.x, c->box.y, c->box.w, c->box.h);
	if (c->type == DRAW_IMAGE)
		fprintf(f, " %dx%d", c->image_w, c->image_h);
	else
		fprintf(f, " #%06x", c->colour);
	if (c->type == DRAW_HATCH || c->detail)
		fprintf(f, " %u", c->detail);
	if (c->type == DRAW_TEXT)
		fprintf(f, " %s", draw_text_of(d, c));
	fputc('\n', f);
}

void draw_dump(const struct draw *d, FILE *f)
{
	fprintf(f, "picture %d %d #%06x\n", d->width, d->height, d->ground);
	for (size_t i = 0; i < d->nr; i++)
		dump_command(d, &d->commands[i], f);
}
