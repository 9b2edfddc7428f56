/* The values in a struct of the miniature at this moment; what the last move changed stands out. */
#include <inttypes.h>
#include <string.h>

#include "view/tui/internal.h"

#define NAME_COLUMNS 18

static void draw(struct tui *t, struct tui_scene *m, const struct rect *r)
{
	const struct inspect_value *v;
	const char *why;
	int nr = tui_values(m, &v, &why);
	char title[200];
	struct rect in;

	snprintf(title, sizeof(title), "struct%s%.150s", m->inspect ? " \302\267 " : "",
		 m->inspect ? m->inspect->watched(m->inspect) : "");
	in = canvas_pane(&t->canvas, r, title);
	in.x++;
	in.w--;
	if (!nr) {
		canvas_wrap(&t->canvas, &in, ROLE_DIM, why);
		return;
	}
	for (int i = 0; i < nr && i < in.h; i++) {
		bool changed = tui_value_changed(m, i);

		canvas_printf(&t->canvas, in.x, in.y + i, NAME_COLUMNS + 1,
			      changed ? ROLE_CURRENT : ROLE_DIM, "%c%-*.*s", changed ? '*' : ' ',
			      NAME_COLUMNS, NAME_COLUMNS, v[i].name);
		canvas_text(&t->canvas, in.x + NAME_COLUMNS + 2, in.y + i, in.w - NAME_COLUMNS - 2,
			    changed ? ROLE_CURRENT : ROLE_VALUE, v[i].value);
	}
}

static void twin(const struct tui *t, const struct tui_scene *m, FILE *f)
{
	const struct inspect_value *v;
	const char *why;
	int nr;

	(void)t;
	if (!m->inspect)
		return;
	nr = m->scene.pos ? m->inspect->values(m->inspect, m->scene.pos - 1, &v, &why) : 0;
	if (!m->scene.pos)
		why = "before the first event";
	fprintf(f, "%s:%s%s\n", m->inspect->watched(m->inspect), nr ? "" : " ", nr ? "" : why);
	for (int i = 0; i < nr; i++)
		fprintf(f, "  %s is %s%s\n", v[i].name, v[i].value,
			tui_value_changed(m, i) ? ", changed by the last move" : "");
}

const struct tui_pane pane_struct = {"struct", draw, twin};
