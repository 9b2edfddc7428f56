/* Words: the reason, the events, the selected page. And the window to scale. */
#include <inttypes.h>
#include <string.h>

#include "view/gui/internal.h"
#include "view/gui/panels.h"
#include "view/narrate.h"

/* ---- why ---- */

void panel_why(struct gui *g, unsigned int m, struct box box)
{
	const struct scene *s = &g->view.machines[m].scene;
	char sentence[512] = "Nothing has happened yet.", rule[512] = "";
	int size = px(g, g->presenter ? 32 : 20), used;
	struct trace_event ev;

	if (scene_event(s, &ev)) {
		narrate_event(s, &ev, sentence, sizeof(sentence));
		narrate_rule(s, &ev, rule, sizeof(rule));
	}
	used = draw_wrap(&g->draw, box, size, 0, gui_ink(g, ROLE_WHY), sentence);
	box.y += used;
	box.h -= used;
	draw_wrap(&g->draw, box, px(g, 16), 0, gui_ink(g, ROLE_RULE_NAME), rule);
}

/* ---- events ---- */

static void event_row(struct gui *g, unsigned int m, struct box box, u64 nr)
{
	const struct scene *s = &g->view.machines[m].scene;
	bool now = nr + 1 == s->pos;
	char line[300];
	struct trace_event ev;

	tape_get(s->tape, nr, &ev);
	event_line(s, &ev, g->view.options->op_text, line, sizeof(line));
	if (now)
		draw_rect(&g->draw, box, gui_fill(g, ROLE_CURRENT));
	draw_printf(&g->draw, box_inset(box, px(g, 1)), px(g, 16), 0, ALIGN_LEFT,
		    gui_ink(g, now ? ROLE_CURRENT : ROLE_TEXT), "%06" PRIu64 " %s",
		    nr + g->view.options->first_event, line);
}

void panel_events(struct gui *g, unsigned int m, struct box box)
{
	const struct scene *s = &g->view.machines[m].scene;
	int row = px(g, 20), rows = box.h / row;
	u64 first = s->pos > (u64)rows / 2 ? s->pos - rows / 2 - 1 : 0;

	for (int i = 0; i < rows && first + i < s->tape->events; i++)
		event_row(g, m, (struct box){box.x, box.y + i * row, box.w, row}, first + i);
}

/* ---- the selected page ---- */

void panel_page(struct gui *g, unsigned int m, struct box box)
{
	const struct tui_scene *scene = &g->view.machines[m];
	const struct scene_file *f = shown_file(scene);
	u64 page = g->view.page, first, nrs[16];
	char text[300];
	struct trace_event ev;
	size_t n;
	u32 head;

	if (!g->view.selected) {
		gui_line(g, box, ROLE_DIM, "Click a page, or select one with the arrows.");
		return;
	}
	if (!f || !scene_folio(f, page, &first, &head)) {
		box = gui_line(g, box, ROLE_TEXT, "page %" PRIu64 " is not cached", page);
	} else {
		box = gui_line(g, box, ROLE_TEXT, "page %" PRIu64 ", of the folio at %" PRIu64,
			       page, first);
		box = gui_line(g, box, ROLE_TEXT, "%s",
			       narrate_cell(scene_cell(f, page), head, text, sizeof(text)));
		box = gui_line(g, box, ROLE_DIM, "brought by %s",
			       narrate_provenance(cell_provenance(scene_cell(f, page))));
	}
	n = scene_history(&scene->scene, scene->ino, page, nrs, ARRAY_SIZE(nrs));
	for (size_t i = 0; i < n && box.h; i++) {
		tape_get(scene->scene.tape, nrs[i], &ev);
		box = gui_line(g, box, ROLE_TEXT, "%06" PRIu64 " %s",
			       nrs[i] + g->view.options->first_event,
			       narrate_event(&scene->scene, &ev, text, sizeof(text)));
	}
}

/* ---- the readahead window, to scale ---- */

static int page_x(struct box ruler, const struct scene_window *w, u64 page)
{
	return ruler.x + (int)((double)(page - w->start) * ruler.w / max(w->size, 1u));
}

static void draw_ruler(struct gui *g, struct box ruler, const struct scene_window *w, u64 reader)
{
	u64 mark = w->start + w->size - min(w->async_size, w->size);
	int at = page_x(ruler, w, mark), thin = px(g, 3);
	u32 colour = gui_ink(g, ROLE_BAR), card = gui_card(g);

	draw_rect(&g->draw, ruler, gui_mix(colour, card, 55));
	if (w->async_size) {
		draw_rect(&g->draw, (struct box){at, ruler.y, ruler.x + ruler.w - at, ruler.h},
			  gui_mix(colour, card, 25));
		draw_rect(&g->draw, (struct box){at, ruler.y - thin, thin, ruler.h + 2 * thin},
			  gui_ink(g, ROLE_MARK));
	}
	if (reader - w->start <= w->size)
		draw_rect(&g->draw,
			  (struct box){page_x(ruler, w, reader), ruler.y + ruler.h / 4, px(g, 4),
				       ruler.h / 2},
			  gui_ink(g, ROLE_VALUE));
}

void panel_window(struct gui *g, unsigned int m, struct box box)
{
	const struct scene *s = &g->view.machines[m].scene;
	unsigned int fd = s->state.last_fd_window % SCENE_DESCRIPTORS;
	const struct scene_window *w = &s->state.window[fd];
	u64 reader = s->state.next_pos[fd] >> s->page_shift;
	struct box ruler;

	if (!w->valid) {
		gui_line(g, box, ROLE_DIM, "none yet");
		return;
	}
	box = gui_line(g, box, ROLE_TEXT, "start %" PRIu64 "  size %u  async %u", w->start, w->size,
		       w->async_size);
	ruler = (struct box){box.x, box.y + px(g, 4), box.w, px(g, 20)};
	if (box.h < px(g, 28))
		return;
	draw_ruler(g, ruler, w, reader);
	box.y += px(g, 30);
	box.h = max(box.h - px(g, 30), 0);
	gui_line(g, box, ROLE_DIM, "read at %" PRIu64 "%s", reader,
		 w->async_size ? "" : "  no mark");
	if (w->async_size)
		draw_printf(&g->draw, (struct box){box.x, box.y, box.w, px(g, 16)}, px(g, 16), 0,
			    ALIGN_RIGHT, gui_ink(g, ROLE_MARK), "mark %" PRIu64,
			    w->start + w->size - w->async_size);
}
