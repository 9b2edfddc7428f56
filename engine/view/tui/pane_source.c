/* The calls that led to the event, and the line of C that raised it. */
#include <inttypes.h>
#include <string.h>

#include "view/tui/internal.h"

#define CALLS_SHOWN 4

static void draw_why(struct tui *t, const struct rect *in, const char *why)
{
	struct rect r = *in;

	canvas_wrap(&t->canvas, &r, ROLE_DIM, why);
}

static int draw_calls(struct tui *t, const struct rect *in, const struct inspect_frame *f, int nr)
{
	int shown = min(min(nr, CALLS_SHOWN), in->h);

	for (int i = 0; i < shown; i++)
		canvas_printf(&t->canvas, in->x, in->y + i, in->w, i ? ROLE_DIM : ROLE_VALUE,
			      "%s%s  %s:%u", f[i].function, f[i].inlined ? " (inlined)" : "",
			      f[i].file, f[i].line);
	return shown;
}

/* The source around the line, which is marked. */
static void draw_source(struct tui *t, struct tui_scene *m, const struct rect *in,
			const struct inspect_frame *f)
{
	u32 first = f->line > (u32)in->h / 2 ? f->line - in->h / 2 : 1;

	for (int y = 0; y < in->h; y++) {
		u32 nr = first + y;
		const char *text = m->inspect->source(m->inspect, f, nr);
		enum canvas_role role = nr == f->line ? ROLE_CURRENT : ROLE_TEXT;

		if (!text) {
			if (!y)
				draw_why(t, in, "the source is not here");
			return;
		}
		if (nr == f->line)
			canvas_fill(&t->canvas, &(struct rect){in->x, in->y + y, in->w, 1}, ' ',
				    role);
		canvas_printf(&t->canvas, in->x, in->y + y, 6, nr == f->line ? role : ROLE_DIM,
			      "%c%4u", nr == f->line ? '>' : ' ', nr);
		canvas_text(&t->canvas, in->x + 6, in->y + y, in->w - 6, role, text);
	}
}

static void draw(struct tui *t, struct tui_scene *m, const struct rect *r)
{
	const struct inspect_frame *f;
	const char *why;
	int nr = tui_frames(m, &f, &why), calls;
	char title[200];
	struct rect in;

	snprintf(title, sizeof(title), "source%s%.150s", nr ? " \302\267 " : "",
		 nr ? f->function : "");
	in = canvas_pane(&t->canvas, r, title);
	in.x++;
	in.w--;
	if (!nr) {
		draw_why(t, &in, why);
		return;
	}
	calls = draw_calls(t, &in, f, nr);
	in.y += calls + 1;
	in.h -= calls + 1;
	draw_source(t, m, &in, f);
}

static void twin(const struct tui *t, const struct tui_scene *m, FILE *out)
{
	const struct inspect_frame *f;
	const char *why;
	int nr = tui_frames(m, &f, &why);

	(void)t;
	if (!m->inspect)
		return;
	fprintf(out, "Calls that led here:%s%s\n", nr ? "" : " ", nr ? "" : why);
	for (int i = 0; i < nr; i++)
		fprintf(out, "  %s at %s:%u%s\n", f[i].function, f[i].file, f[i].line,
			f[i].inlined ? ", inlined" : "");
}

const struct tui_pane pane_source = {"source", draw, twin};
