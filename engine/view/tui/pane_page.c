/* What is known of one page: its folio, why it is here, what happened to it. */
#include <inttypes.h>

#include "view/narrate.h"
#include "view/tui/internal.h"

#define HISTORY_MAX 64

static u64 page_shown(const struct tui *t, const struct tui_scene *m)
{
	const struct scene_state *state = &m->scene.state;

	if (t->selected)
		return t->page;
	return state->call.bytes ? (state->call.pos + state->call.bytes - 1) >> m->scene.page_shift
				 : 0;
}

static int draw_state(struct tui *t, const struct tui_scene *m, const struct rect *in, u64 page)
{
	const struct scene_file *f = shown_file(m);
	u32 cell = f ? scene_cell(f, page) : 0, head = 0;
	u64 first = page;
	char text[160];
	struct rect r = *in;
	int y;

	if (f)
		scene_folio(f, page, &first, &head);
	y = canvas_wrap(&t->canvas, &r, ROLE_TEXT, narrate_cell(cell, head, text, sizeof(text)));
	if (!(cell & CELL_PRESENT) || y >= in->h)
		return y;
	snprintf(text, sizeof(text), "pages %" PRIu64 "-%" PRIu64 ", on the %s list", first,
		 first + ((u64)1 << cell_order(cell)) - 1,
		 cell_lru(head) ? narrate_list(cell_lru(head) - 1) : "no");
	canvas_text(&t->canvas, in->x, in->y + y++, in->w, ROLE_TEXT, text);
	snprintf(text, sizeof(text), "brought by: %s; %s",
		 narrate_provenance(cell_provenance(cell)),
		 cell & CELL_USED ? "used" : "not used yet");
	if (y < in->h)
		canvas_text(&t->canvas, in->x, in->y + y++, in->w, ROLE_TEXT, text);
	return y;
}

static void draw_history(struct tui *t, const struct tui_scene *m, const struct rect *in, u64 page)
{
	u64 nrs[HISTORY_MAX];
	size_t n = scene_history(&m->scene, m->ino, page, nrs, min(max(in->h, 0), HISTORY_MAX));
	struct trace_event ev;
	char text[400];

	for (size_t i = 0; i < n; i++) {
		tape_get(m->scene.tape, nrs[i], &ev);
		narrate_event(&m->scene, &ev, text, sizeof(text));
		canvas_printf(&t->canvas, in->x, in->y + i, 8, ROLE_DIM, "%6" PRIu64,
			      t->options->first_event + nrs[i] + 1);
		canvas_text(&t->canvas, in->x + 8, in->y + i, in->w - 8, ROLE_TEXT, text);
	}
}

static void draw(struct tui *t, struct tui_scene *m, const struct rect *r)
{
	u64 page = page_shown(t, m);
	char title[80];
	struct rect in;
	int y;

	snprintf(title, sizeof(title), "page %" PRIu64 "%s", page,
		 t->selected ? "" : " (read last; arrows select)");
	in = canvas_pane(&t->canvas, r, title);
	in.x++;
	in.w--;
	y = draw_state(t, m, &in, page);
	if (y + 2 > in.h)
		return;
	canvas_text(&t->canvas, in.x, in.y + y, in.w, ROLE_DIM, "last events, newest first:");
	in.y += y + 1;
	in.h -= y + 1;
	draw_history(t, m, &in, page);
}

static void twin(const struct tui *t, const struct tui_scene *m, FILE *f)
{
	const struct scene_file *file = shown_file(m);
	u64 page = page_shown(t, m), first = page, nrs[HISTORY_MAX];
	u32 head = 0, cell = file ? scene_cell(file, page) : 0;
	struct trace_event ev;
	char text[400];
	size_t n;

	if (file)
		scene_folio(file, page, &first, &head);
	fprintf(f, "Page %" PRIu64 ": %s", page, narrate_cell(cell, head, text, sizeof(text)));
	if (cell & CELL_PRESENT)
		fprintf(f, ", brought by %s, %s", narrate_provenance(cell_provenance(cell)),
			cell & CELL_USED ? "used" : "not used yet");
	fprintf(f, ".\n");
	n = scene_history(&m->scene, m->ino, page, nrs, 20);
	for (size_t i = 0; i < n; i++) {
		tape_get(m->scene.tape, nrs[i], &ev);
		fprintf(f, "  event %" PRIu64 ": %s\n", t->options->first_event + nrs[i] + 1,
			narrate_event(&m->scene, &ev, text, sizeof(text)));
	}
}

const struct tui_pane pane_page = {"page", draw, twin};
