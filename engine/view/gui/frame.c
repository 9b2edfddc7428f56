/* Around the panels: title, keys, help, and what is under the pointer. */
#include "view/gui/internal.h"
#include "view/narrate.h"

/* "FolioLab  title                    kernel  fs  size  event 12 of 40" */
void gui_draw_head(struct gui *g, struct box box)
{
	const struct scene *s = lead_scene(&g->view);
	const char *title = g->view.options->title;
	char now[16];
	struct box in = box_inset(box, px(g, 8));

	draw_printf(&g->draw, in, px(g, 16), DRAW_BOLD, ALIGN_LEFT, gui_ink(g, ROLE_TITLE),
		    "FolioLab  %s", title ? title : "");
	draw_printf(&g->draw, in, px(g, 16), 0, ALIGN_RIGHT, gui_ink(g, ROLE_TEXT),
		    "%s  %s%s%s  ra %llu pages   %s   event %llu of %llu   %s%s", s->info->kernel,
		    s->info->fs, s->info->source[0] ? "  " : "", narrate_source(s->info),
		    (unsigned long long)s->info->ra_pages,
		    short_time(scene_ns(s), now, sizeof(now)),
		    (unsigned long long)(s->pos + g->view.options->first_event),
		    (unsigned long long)(s->tape->events + g->view.options->first_event),
		    g->view.playing ? "\u25b8 " : "", tui_speed_name(&g->view));
}

/* The keys, or what was asked for, or what happened. */
void gui_draw_foot(struct gui *g, struct box box)
{
	const struct tui *t = &g->view;
	int x = box.x + px(g, 8), size = px(g, 16);

	if (t->mode == MODE_PROMPT) {
		draw_printf(&g->draw, (struct box){x, box.y, box.w, box.h}, size, DRAW_BOLD,
			    ALIGN_LEFT, gui_ink(g, ROLE_VALUE), "%s: %s_",
			    tui_key(t->prompt)->label, t->line.text);
		return;
	}
	if (*t->message) {
		draw_text(&g->draw, (struct box){x, box.y, box.w, box.h}, size, DRAW_BOLD,
			  ALIGN_LEFT, gui_ink(g, ROLE_MATCH), t->message);
		return;
	}
	for (int place = 1; place < CMD_NR; place++)
		for (unsigned int cmd = 0; cmd < CMD_NR; cmd++) {
			const struct tui_key *key = tui_key(cmd);
			struct box room = {x, box.y, box.x + box.w - x, box.h};

			if (key->hint != place)
				continue;
			x += draw_text(&g->draw, room, size, DRAW_BOLD, ALIGN_LEFT,
				       gui_ink(g, ROLE_KEY), key->shown) +
			     px(g, 4);
			room.x = x;
			x += draw_text(&g->draw, room, size, 0, ALIGN_LEFT, gui_ink(g, ROLE_HINT),
				       key->label) +
			     px(g, 12);
			if (x > box.x + box.w - px(g, 120))
				return;
		}
}

/* What is under the pointer, beside it. */
void gui_draw_tip(struct gui *g)
{
	const struct tui_scene *m = &g->view.machines[g->view.lead];
	const struct scene_file *f = shown_file(m);
	u64 page, first;
	char text[200], what[120];
	struct box box;
	u32 head = 0;

	if (!g->hover || !gui_page_at(g, g->x, g->y, &page))
		return;
	if (f && scene_folio(f, page, &first, &head))
		snprintf(text, sizeof(text), "page %llu: %s", (unsigned long long)page,
			 narrate_cell(scene_cell(f, page), head, what, sizeof(what)));
	else
		snprintf(text, sizeof(text), "page %llu: not cached", (unsigned long long)page);
	box.w = font_width(g->draw.font, px(g, 16), text) + px(g, 16);
	box.h = px(g, 28);
	box.x = max(min(g->x + px(g, 14), g->draw.width - box.w), 0);
	box.y = g->y + px(g, 18) + box.h > g->draw.height ? g->y - px(g, 34) : g->y + px(g, 18);
	draw_rect(&g->draw, box, gui_fill(g, ROLE_STATUS));
	draw_text(&g->draw, box, px(g, 16), 0, ALIGN_MIDDLE, gui_ink(g, ROLE_STATUS), text);
}

/* Line @n of two columns; nothing where it has no room. */
static void help_line(struct gui *g, struct box box, int n, const char *shown, const char *help)
{
	int row = px(g, 20), rows = max(box.h / row, 1), name = px(g, 92);
	struct box line;

	if (n / rows > 1)
		return;
	line = gui_part(g, box, 2, n / rows);
	line.y += n % rows * row;
	line.h = row;
	draw_text(&g->draw, line, px(g, 16), DRAW_BOLD, ALIGN_LEFT, gui_ink(g, ROLE_KEY), shown);
	line.x += name;
	line.w -= name;
	draw_text(&g->draw, line, px(g, 16), 0, ALIGN_LEFT, gui_ink(g, ROLE_STATUS), help);
}

void gui_draw_help(struct gui *g, struct box all)
{
	struct box box = box_inset(all, px(g, 20));
	int n = 0;

	draw_rect(&g->draw, box, gui_fill(g, ROLE_STATUS));
	box = box_inset(box, px(g, 16));
	for (unsigned int cmd = 0; cmd < CMD_NR; cmd++)
		help_line(g, box, n++, tui_key(cmd)->shown, tui_key(cmd)->help);
	for (unsigned int own = 0; own < OWN_NR; own++)
		help_line(g, box, n++, gui_own_key(own)->shown, gui_own_key(own)->help);
}
