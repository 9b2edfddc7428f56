/* SVG: one element for each command, images as PNG inside of it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/encode.h"
#include "view/image/picture.h"

static const char *const hatch_paths[HATCH_NR] = {
	[HATCH_RISING] = "M-1 1l2-2M0 6l6-6M5 7l2-2",
	[HATCH_FALLING] = "M-1 5l2 2M0 0l6 6M5-1l2 2",
	[HATCH_CROSS] = "M-1 1l2-2M0 6l6-6M5 7l2-2M-1 5l2 2M0 0l6 6M5-1l2 2",
	[HATCH_DOTS] = "M0 0h1M3 0h1M0 3h1M3 3h1",
};

static void put_box(FILE *f, struct box b)
{
	fprintf(f, " x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"", b.x, b.y, b.w, b.h);
}

static void put_rect(const struct draw_command *c, FILE *f)
{
	fputs("<rect", f);
	put_box(f, c->clip);
	fprintf(f, " fill=\"#%06x\"/>\n", c->colour);
}

static void put_line(const struct draw_command *c, FILE *f)
{
	fprintf(f, "<line x1=\"%d.5\" y1=\"%d.5\" x2=\"%d.5\" y2=\"%d.5\" stroke=\"#%06x\"/>\n",
		c->box.x, c->box.y, c->box.x + c->box.w, c->box.y + c->box.h, c->colour);
}

static void put_text(const struct draw *d, const struct draw_command *c, FILE *f)
{
	const char *text = draw_text_of(d, c);

	fprintf(f,
		"<text x=\"%d\" y=\"%d\" font-size=\"%d\" textLength=\"%d\" fill=\"#%06x\"%s "
		"xml:space=\"preserve\">",
		c->box.x, c->box.y + c->box.h * 3 / 4, c->box.h * 13 / 16,
		font_width(d->font, c->box.h, text), c->colour,
		c->detail & DRAW_BOLD ? " font-weight=\"bold\"" : "");
	encode_entities(f, text);
	fputs("</text>\n", f);
}

static void put_hatch(const struct draw_command *c, size_t nr, FILE *f)
{
	fprintf(f,
		"<pattern id=\"h%zu\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
		"<path d=\"%s\" stroke=\"#%06x\" fill=\"none\"/></pattern>\n<rect",
		nr, hatch_paths[c->detail], c->colour);
	put_box(f, c->clip);
	fprintf(f, " fill=\"url(#h%zu)\"/>\n", nr);
}

static int put_image(const struct draw *d, const struct draw_command *c, FILE *f)
{
	char *bytes = NULL;
	size_t n = 0;
	FILE *mem = open_memstream(&bytes, &n);
	int ret;

	if (!mem)
		return -ENOMEM;
	ret = picture_png_pixels(d->pixels + c->data, c->image_w, c->image_h, mem);
	if ((ferror(mem) | fclose(mem)) && !ret)
		ret = -ENOMEM;
	if (!ret) {
		fputs("<image", f);
		put_box(f, c->box);
		fputs(" preserveAspectRatio=\"none\" image-rendering=\"pixelated\" "
		      "href=\"data:image/png;base64,",
		      f);
		ret = encode_base64(f, bytes, n);
		fputs("\"/>\n", f);
	}
	free(bytes);
	return ret;
}

static int put_command(const struct draw *d, size_t nr, FILE *f)
{
	const struct draw_command *c = &d->commands[nr];

	switch (c->type) {
	case DRAW_RECT:
		put_rect(c, f);
		return 0;
	case DRAW_LINE:
		put_line(c, f);
		return 0;
	case DRAW_HATCH:
		put_hatch(c, nr, f);
		return 0;
	case DRAW_TEXT:
		put_text(d, c, f);
		return 0;
	default:
		return put_image(d, c, f);
	}
}

int picture_svg(const struct draw *d, FILE *f)
{
	int ret = 0;

	fprintf(f,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"viewBox=\"0 0 %d %d\" font-family=\"DejaVu Sans Mono,Consolas,monospace\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#%06x\"/>\n",
		d->width, d->height, d->width, d->height, d->ground);
	for (size_t i = 0; i < d->nr && !ret; i++)
		ret = put_command(d, i, f);
	fputs("</svg>\n", f);
	return ret;
}
