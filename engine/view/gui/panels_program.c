/* The program behind the events: calls with the line of C that raised one, values of a struct. */
#include <string.h>

#include "view/gui/internal.h"
#include "view/gui/panels.h"

#define CALLS_SHOWN  5
#define NAME_PERCENT 40

/* ---- source ---- */

static void source_row(struct gui *g, struct box box, const char *text, u32 nr, bool current)
{
	if (current)
		draw_rect(&g->draw, box, gui_fill(g, ROLE_CURRENT));
	draw_printf(&g->draw, box_inset(box, px(g, 1)), px(g, 16), 0, ALIGN_LEFT,
		    gui_ink(g, current ? ROLE_CURRENT : ROLE_TEXT), "%4u  %s", nr, text);
}

static void draw_source(struct gui *g, struct inspect *in, const struct inspect_frame *f,
			struct box box)
{
	int row = px(g, 20), rows = max(box.h / row, 0);
	u32 first = f->line > (u32)rows / 2 ? f->line - rows / 2 : 1;

	for (int i = 0; i < rows; i++) {
		const char *text = in->source(in, f, first + i);

		if (!text && !i)
			gui_line(g, box, ROLE_DIM, "the source is not here");
		if (!text)
			return;
		source_row(g, (struct box){box.x, box.y + i * row, box.w, row}, text, first + i,
			   first + i == f->line);
	}
}

void panel_source(struct gui *g, unsigned int m, struct box box)
{
	const struct tui_scene *scene = &g->view.machines[m];
	const struct inspect_frame *f;
	const char *why;
	int nr = tui_frames(scene, &f, &why);

	if (!nr) {
		gui_line(g, box, ROLE_DIM, "%s", why);
		return;
	}
	for (int i = 0; i < min(nr, CALLS_SHOWN); i++)
		box = gui_line(g, box, i ? ROLE_DIM : ROLE_VALUE, "%s%s  %s:%u", f[i].function,
			       f[i].inlined ? " (inlined)" : "", f[i].file, f[i].line);
	draw_source(g, scene->inspect, f, box);
}

/* ---- struct ---- */

void panel_struct(struct gui *g, unsigned int m, struct box box)
{
	struct tui_scene *scene = &g->view.machines[m];
	const struct inspect_value *v;
	const char *why;
	int nr = tui_values(scene, &v, &why), row = px(g, 20), name = box.w * NAME_PERCENT / 100;

	if (!nr) {
		gui_line(g, box, ROLE_DIM, "%s", why);
		return;
	}
	box = gui_line(g, box, ROLE_DIM, "%s", scene->inspect->watched(scene->inspect));
	for (int i = 0; i < nr && (i + 1) * row <= box.h; i++) {
		struct box line = {box.x, box.y + i * row, box.w, row};
		bool changed = tui_value_changed(scene, i);

		if (changed)
			draw_rect(&g->draw, line, gui_fill(g, ROLE_CURRENT));
		draw_printf(&g->draw, (struct box){line.x, line.y, name, row}, px(g, 16), 0,
			    ALIGN_LEFT, gui_ink(g, changed ? ROLE_CURRENT : ROLE_DIM), "%s",
			    v[i].name);
		draw_printf(&g->draw, (struct box){line.x + name, line.y, line.w - name, row},
			    px(g, 16), 0, ALIGN_LEFT,
			    gui_ink(g, changed ? ROLE_CURRENT : ROLE_VALUE), "%s", v[i].value);
	}
}
