#include "lab/plot.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Okabe and Ito's colours, told apart by everybody; lines also differ in their marks. */
static const char *const colours[PLOT_SERIES] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
						 "#e69f00", "#56b4e9", "#000000", "#888888"};
static const char marks[PLOT_SERIES + 1] = "*o+x#@%&";

void plot_init(struct plot *p, enum plot_kind kind)
{
	memset(p, 0, sizeof(*p));
	p->kind = kind;
}

void plot_fini(struct plot *p)
{
	free(p->bars);
	for (unsigned int i = 0; i < p->nr_series; i++)
		free(p->series[i].points);
	p->bars = NULL;
	p->nr_bars = p->nr_series = 0;
}

/* Room for one more where the capacity is the next power of two. */
static int grow(void **array, size_t nr, size_t size)
{
	void *bigger;

	if (nr >= PLOT_MAX)
		return -E2BIG;
	if (nr & (nr - 1))
		return 0;
	bigger = realloc(*array, (nr ? nr * 2 : 1) * size);
	if (!bigger)
		return -ENOMEM;
	*array = bigger;
	return 0;
}

int plot_add_bar(struct plot *p, const char *label, double value)
{
	int ret = grow((void **)&p->bars, p->nr_bars, sizeof(*p->bars));

	if (ret)
		return ret;
	snprintf(p->bars[p->nr_bars].label, sizeof(p->bars[0].label), "%s", label);
	p->bars[p->nr_bars++].value = isfinite(value) ? value : 0;
	return 0;
}

int plot_add_series(struct plot *p, const char *name)
{
	struct plot_series *s;

	if (p->nr_series == PLOT_SERIES)
		return -E2BIG;
	s = &p->series[p->nr_series++];
	memset(s, 0, sizeof(*s));
	snprintf(s->name, sizeof(s->name), "%s", name);
	return 0;
}

int plot_add_point(struct plot *p, double x, double y)
{
	struct plot_series *s = &p->series[p->nr_series - 1];
	int ret = grow((void **)&s->points, s->nr, sizeof(*s->points));

	if (ret)
		return ret;
	s->points[s->nr++] = (struct plot_point){isfinite(x) ? x : 0, isfinite(y) ? y : 0};
	return 0;
}

char *plot_number(double v, char *buf, size_t n)
{
	if (v == floor(v) && fabs(v) < 1e15)
		snprintf(buf, n, "%.0f", v);
	else
		snprintf(buf, n, "%.4g", v);
	return buf;
}

/* Columns of an UTF-8 string, one a code point. */
static int columns(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

/* ---- text ---- */

static double largest_bar(const struct plot *p)
{
	double top = 0;

	for (size_t i = 0; i < p->nr_bars; i++)
		top = max(top, p->bars[i].value);
	return top;
}

static void text_bars(const struct plot *p, FILE *f, unsigned int width)
{
	int label = 0, number = 0, room;
	double top = largest_bar(p);
	char text[40];

	for (size_t i = 0; i < p->nr_bars; i++) {
		label = max(label, columns(p->bars[i].label));
		number = max(number, columns(plot_number(p->bars[i].value, text, sizeof(text))));
	}
	room = max(8, (int)width - label - number - 6);
	for (size_t i = 0; i < p->nr_bars; i++) {
		const struct plot_bar *b = &p->bars[i];
		int stars = top > 0 && b->value > 0 ? (int)(b->value / top * room) : 0;

		fprintf(f, "  %*s%s  %*s%s", label - columns(b->label), "", b->label, number,
			plot_number(b->value, text, sizeof(text)), b->value > 0 ? "  " : "");
		for (int s = 0; s < stars; s++)
			fputc('#', f);
		if (!stars && b->value > 0)
			fputc(':', f);
		fputc('\n', f);
	}
}

struct range {
	double x0, x1, y0, y1;
};

static struct range line_range(const struct plot *p)
{
	struct range r = {INFINITY, -INFINITY, 0, -INFINITY};

	for (unsigned int s = 0; s < p->nr_series; s++)
		for (size_t i = 0; i < p->series[s].nr; i++) {
			const struct plot_point *pt = &p->series[s].points[i];

			r.x0 = min(r.x0, pt->x);
			r.x1 = max(r.x1, pt->x);
			r.y0 = min(r.y0, pt->y);
			r.y1 = max(r.y1, pt->y);
		}
	if (r.x0 > r.x1)
		r = (struct range){0, 1, 0, 1};
	if (r.x0 == r.x1)
		r.x1 = r.x0 + 1;
	if (r.y0 >= r.y1)
		r.y1 = r.y0 + 1;
	return r;
}

#define LINE_ROWS	 14
#define LINE_COLUMNS_MAX 100

static void text_line(const struct plot *p, FILE *f, unsigned int width)
{
	char grid[LINE_ROWS][LINE_COLUMNS_MAX], top[40], bottom[40], left[40], right[40];
	struct range r = line_range(p);
	int label, cols;

	plot_number(r.y1, top, sizeof(top));
	plot_number(r.y0, bottom, sizeof(bottom));
	label = max((int)strlen(top), (int)strlen(bottom));
	cols = min(LINE_COLUMNS_MAX, max(20, (int)width - label - 6));
	memset(grid, ' ', sizeof(grid));
	for (unsigned int s = 0; s < p->nr_series; s++)
		for (size_t i = 0; i < p->series[s].nr; i++) {
			const struct plot_point *pt = &p->series[s].points[i];
			int x = (int)((pt->x - r.x0) / (r.x1 - r.x0) * (cols - 1) + 0.5);
			int y = (int)((pt->y - r.y0) / (r.y1 - r.y0) * (LINE_ROWS - 1) + 0.5);

			grid[LINE_ROWS - 1 - y][x] = marks[s];
		}
	if (*p->y)
		fprintf(f, "  %s\n", p->y);
	for (int row = 0; row < LINE_ROWS; row++)
		fprintf(f, "  %*s |%.*s\n", label,
			!row		       ? top
			: row == LINE_ROWS - 1 ? bottom
					       : "",
			cols, grid[row]);
	plot_number(r.x0, left, sizeof(left));
	plot_number(r.x1, right, sizeof(right));
	fprintf(f, "  %*s +", label, "");
	for (int i = 0; i < cols; i++)
		fputc('-', f);
	fprintf(f, "\n  %*s  %s%*s  %s\n", label, "", left, cols - (int)strlen(left), right, p->x);
	for (unsigned int s = 0; s < p->nr_series; s++)
		fprintf(f, "  %c %s\n", marks[s], p->series[s].name);
}

void plot_text(const struct plot *p, FILE *f, unsigned int width)
{
	if (*p->title)
		fprintf(f, "  %s%s%s%s\n", p->title, *p->unit ? " (" : "", p->unit,
			*p->unit ? ")" : "");
	if (p->kind == PLOT_BARS)
		text_bars(p, f, width);
	else
		text_line(p, f, width);
}

/* ---- SVG ---- */

#define SVG_WIDTH 720

static void svg_text(FILE *f, double x, double y, const char *anchor, const char *text)
{
	fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
	for (; *text; text++) {
		if (*text == '<')
			fputs("&lt;", f);
		else if (*text == '>')
			fputs("&gt;", f);
		else if (*text == '&')
			fputs("&amp;", f);
		else if ((unsigned char)*text >= 0x20)
			fputc(*text, f);
	}
	fputs("</text>\n", f);
}

static void svg_start(const struct plot *p, FILE *f, double height)
{
	char title[140];

	snprintf(title, sizeof(title), "%s%s%s%s", p->title, *p->unit ? " (" : "", p->unit,
		 *p->unit ? ")" : "");
	fprintf(f,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
		"viewBox=\"0 0 %d %.0f\" font-family=\"sans-serif\" font-size=\"13\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
		SVG_WIDTH, height, SVG_WIDTH, height);
	svg_text(f, SVG_WIDTH / 2.0, 22, "middle", title);
}

static void svg_bars(const struct plot *p, FILE *f)
{
	double top = largest_bar(p), y = 40;
	char text[40];

	svg_start(p, f, 56.0 + 22.0 * p->nr_bars);
	for (size_t i = 0; i < p->nr_bars; i++, y += 22) {
		double w = top > 0 && p->bars[i].value > 0 ? p->bars[i].value / top * 440 : 0;

		svg_text(f, 170, y + 14, "end", p->bars[i].label);
		fprintf(f,
			"<rect x=\"180\" y=\"%.1f\" width=\"%.1f\" height=\"16\" fill=\"%s\"/>\n",
			y, w, colours[0]);
		svg_text(f, 186 + w, y + 14, "start",
			 plot_number(p->bars[i].value, text, sizeof(text)));
	}
}

static void svg_axes(const struct plot *p, FILE *f, const struct range *r)
{
	char text[40];

	fputs("<path d=\"M70 40V360H690\" fill=\"none\" stroke=\"#000000\"/>\n", f);
	svg_text(f, 64, 45, "end", plot_number(r->y1, text, sizeof(text)));
	svg_text(f, 64, 360, "end", plot_number(r->y0, text, sizeof(text)));
	svg_text(f, 70, 378, "start", plot_number(r->x0, text, sizeof(text)));
	svg_text(f, 690, 378, "end", plot_number(r->x1, text, sizeof(text)));
	svg_text(f, 380, 392, "middle", p->x);
	svg_text(f, 74, 34, "start", p->y);
}

static void svg_line(const struct plot *p, FILE *f)
{
	struct range r = line_range(p);

	svg_start(p, f, 410.0 + 20.0 * p->nr_series);
	svg_axes(p, f, &r);
	for (unsigned int s = 0; s < p->nr_series; s++) {
		const struct plot_series *line = &p->series[s];

		fprintf(f, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"",
			colours[s]);
		for (size_t i = 0; i < line->nr; i++)
			fprintf(f, "%s%.1f,%.1f", i ? " " : "",
				70 + (line->points[i].x - r.x0) / (r.x1 - r.x0) * 620,
				360 - (line->points[i].y - r.y0) / (r.y1 - r.y0) * 320);
		fprintf(f,
			"\"/>\n<rect x=\"70\" y=\"%u\" width=\"20\" height=\"4\" fill=\"%s\"/>\n",
			406 + 20 * s, colours[s]);
		svg_text(f, 96, 412 + 20.0 * s, "start", line->name);
	}
}

void plot_svg(const struct plot *p, FILE *f)
{
	if (p->kind == PLOT_BARS)
		svg_bars(p, f);
	else
		svg_line(p, f);
	fputs("</svg>\n", f);
}
