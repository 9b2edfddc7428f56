/* Colours and the small pieces that all panels are made of. */
#include <stdarg.h>
#include <string.h>

#include "view/gui/internal.h"

#define TEXT 16

static bool is_theme(const struct gui *g, const char *name)
{
	const char *theme = theme_name(g->view.theme);

	return theme && !strcmp(theme, name);
}

bool gui_prints(const struct gui *g)
{
	return is_theme(g, "print");
}

static bool is_light(const struct gui *g)
{
	return is_theme(g, "light") || gui_prints(g);
}

u32 gui_ground(const struct gui *g)
{
	return gui_prints(g) ? 0xffffff : is_light(g) ? 0xeef1f4 : 0x0c1014;
}

u32 gui_card(const struct gui *g)
{
	return is_light(g) ? 0xffffff : 0x151b21;
}

u32 gui_ink(const struct gui *g, enum canvas_role role)
{
	u32 fg = theme_colour(g->view.theme, role).fg;

	return fg != COLOUR_NONE ? fg : is_light(g) ? 0x101418 : 0xd8dee4;
}

u32 gui_fill(const struct gui *g, enum canvas_role role)
{
	u32 bg = theme_colour(g->view.theme, role).bg;

	return bg != COLOUR_NONE ? bg : gui_card(g);
}

u32 gui_mix(u32 colour, u32 under, unsigned int percent)
{
	u32 ret = 0;

	for (int shift = 0; shift < 24; shift += 8) {
		u32 a = colour >> shift & 0xff, b = under >> shift & 0xff;

		ret |= ((a * percent + b * (100 - percent)) / 100) << shift;
	}
	return ret;
}

static struct box below(struct box box, int h)
{
	h = min(h, box.h);
	return (struct box){box.x, box.y + h, box.w, box.h - h};
}

struct box gui_line(struct gui *g, struct box box, enum canvas_role role, const char *fmt, ...)
{
	char text[256];
	va_list args;

	if (box.h < px(g, TEXT))
		return (struct box){box.x, box.y, box.w, 0};
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	draw_text(&g->draw, (struct box){box.x, box.y, box.w, px(g, TEXT)}, px(g, TEXT), 0,
		  ALIGN_LEFT, gui_ink(g, role), text);
	return below(box, px(g, TEXT + 4));
}

struct box gui_bar(struct gui *g, struct box box, int name_columns, const char *name, u64 value,
		   u64 most, u32 colour, const char *text)
{
	int size = px(g, TEXT), column = g->draw.font->advance(g->draw.font, size);
	int left = (name_columns + 1) * column, right = 7 * column;
	struct box bar = {box.x + left, box.y + px(g, 3), max(box.w - left - right, 0),
			  size - px(g, 6)};
	struct box line = {box.x, box.y, box.w, size};

	if (box.h < size)
		return (struct box){box.x, box.y, box.w, 0};
	draw_text(&g->draw, line, size, 0, ALIGN_LEFT, gui_ink(g, ROLE_DIM), name);
	draw_rect(&g->draw, bar, gui_mix(colour, gui_card(g), 12));
	bar.w = most ? (u64)bar.w * value / most : 0;
	if (value)
		bar.w = max(bar.w, px(g, 2));
	draw_rect(&g->draw, bar, colour);
	draw_text(&g->draw, line, size, 0, ALIGN_RIGHT, gui_ink(g, value ? ROLE_TEXT : ROLE_DIM),
		  text);
	return below(box, px(g, TEXT + 2));
}

struct box gui_part(const struct gui *g, struct box box, unsigned int nr, unsigned int i)
{
	int gap = px(g, 12), w = (box.w - gap * ((int)nr - 1)) / (int)nr;

	return (struct box){box.x + (int)i * (w + gap), box.y, w, box.h};
}

int gui_x_of(const struct gui *g, struct box plot, u64 ns)
{
	u64 length = max(g->to_ns - g->from_ns, (u64)1);

	if (ns <= g->from_ns)
		return plot.x;
	return plot.x + min_t(u64, (double)(ns - g->from_ns) * plot.w / length, plot.w);
}

u64 gui_ns_at(const struct gui *g, struct box plot, int x)
{
	double at = (double)(x - plot.x) / max(plot.w, 1);

	at = at < 0 ? 0 : min(at, 1.0);
	return g->from_ns + at * (g->to_ns - g->from_ns);
}

void gui_plot_marks(struct gui *g, unsigned int m, struct box plot)
{
	u64 now = scene_ns(&g->view.machines[m].scene);
	struct box line = {gui_x_of(g, plot, now), plot.y, px(g, 1), plot.h};

	if (g->ranged) {
		int x0 = gui_x_of(g, plot, g->range.from_ns),
		    x1 = gui_x_of(g, plot, g->range.to_ns);
		u32 ink = gui_ink(g, ROLE_MATCH);

		draw_frame(&g->draw, (struct box){x0, plot.y, max(x1 - x0, px(g, 2)), plot.h},
			   px(g, 1), ink);
	}
	if (now >= g->from_ns && now <= g->to_ns)
		draw_rect(&g->draw, line, gui_ink(g, ROLE_VALUE));
}
