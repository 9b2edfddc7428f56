/* A canvas as an SVG picture: rectangles for grounds, a text element for each run of a role. */
#include <string.h>

#include "view/tui/canvas.h"

#define CELL_W	 8
#define CELL_H	 17
#define BASELINE 13

static u32 or_ground(u32 colour, u32 ground)
{
	return colour == COLOUR_NONE ? ground : colour;
}

static void put_escaped(FILE *f, u32 ch)
{
	char buf[5];

	switch (ch) {
	case '&':
		fputs("&amp;", f);
		break;
	case '<':
		fputs("&lt;", f);
		break;
	case '>':
		fputs("&gt;", f);
		break;
	case ' ':
		fputs("\302\240", f);
		break;
	default:
		canvas_utf8(ch, buf);
		fputs(buf, f);
	}
}

static bool same_look(const struct canvas_cell *a, const struct canvas_cell *b)
{
	return a->role == b->role && a->attributes == b->attributes;
}

static void put_run(const struct canvas_cell *row, int x, int n, int y, unsigned int theme, FILE *f)
{
	struct colour look = theme_colour(theme, row[x].role);
	bool light = !strcmp(theme_name(theme), "light");
	u32 fg = or_ground(look.fg, light ? 0x101418 : 0xd8dee4);

	if (look.bg != COLOUR_NONE)
		fprintf(f, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#%06x\"/>\n",
			x * CELL_W, y * CELL_H, n * CELL_W, CELL_H, look.bg);
	while (n && row[x].ch == ' ') {
		x++;
		n--;
	}
	while (n && row[x + n - 1].ch == ' ')
		n--;
	if (!n)
		return;
	fprintf(f, "<text x=\"%d\" y=\"%d\" textLength=\"%d\" fill=\"#%06x\"%s%s>", x * CELL_W,
		y * CELL_H + BASELINE, n * CELL_W, fg,
		(look.attributes | row[x].attributes) & CANVAS_BOLD ? " font-weight=\"bold\"" : "",
		row[x].attributes & CANVAS_UNDERLINE ? " text-decoration=\"underline\"" : "");
	for (int i = 0; i < n; i++)
		put_escaped(f, row[x + i].ch);
	fputs("</text>\n", f);
}

void canvas_svg(const struct canvas *c, FILE *f, const char *theme)
{
	int nr = theme_by_name(theme);
	bool light = !strcmp(theme, "light");

	if (nr < 0)
		nr = 0;
	fprintf(f,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"font-family=\"DejaVu Sans Mono,Consolas,monospace\" font-size=\"13\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"%s\"/>\n",
		c->width * CELL_W, c->height * CELL_H, light ? "#ffffff" : "#101418");
	for (int y = 0; y < c->height; y++) {
		const struct canvas_cell *row = &c->cells[y * c->width];

		for (int x = 0, n; x < c->width; x += n) {
			for (n = 1; x + n < c->width && same_look(&row[x], &row[x + n]); n++)
				;
			put_run(row, x, n, y, nr, f);
		}
	}
	fputs("</svg>\n", f);
}
