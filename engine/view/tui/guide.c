/* The guide of a lab: what it says, the line it asks for, and its machines that come and go. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "view/tui/internal.h"

#define CATCH_UP 200000 /* events shown between two keys while a machine tells many */

/* ---- what it says ---- */

/* Print it anew, at most @columns wide; new text is shown from its beginning. */
static void hear(struct tui *t, unsigned int columns)
{
	struct tui_said *said = &t->said;
	bool more = said->version != t->guide->version;
	char *text = NULL;
	size_t size = 0;
	FILE *f;

	if (said->text && !more && said->columns == columns)
		return;
	f = open_memstream(&text, &size);
	if (!f)
		return;
	t->guide->print(t->guide, f, columns, true);
	fclose(f);
	said_take(said, text);
	said->version = t->guide->version;
	said->columns = columns;
	if (more)
		said->scroll = said->first_new;
}

/* ---- what it asks ---- */

static void draw_more(struct tui *t, const struct rect *r, int y)
{
	const struct tui_said *said = &t->said;
	int below = said->rows - said->scroll - said->shown;
	char text[48];

	for (int x = 0; x < r->w; x++)
		canvas_put(&t->canvas, r->x + x, y, 0x2500, ROLE_RULE);
	if (below <= 0)
		return;
	snprintf(text, sizeof(text), " %d more row%s, PgDn ", below, below == 1 ? "" : "s");
	canvas_text(&t->canvas, r->x + max(r->w - canvas_width(text) - 2, 0), y, r->w, ROLE_MARK,
		    text);
}

static void put_answer(struct tui *t, const struct rect *r)
{
	t->cursor_x = line_draw(&t->canvas, r->x + 1, r->y, r->w - 2, t->guide->prompt, &t->answer);
	t->cursor_y = r->y;
}

void draw_guide_line(struct tui *t, const struct rect *r)
{
	canvas_fill(&t->canvas, r, ' ', ROLE_STATUS);
	if (!t->guide->prompt)
		canvas_text(&t->canvas, r->x + 1, r->y, r->w - 1, ROLE_STATUS,
			    t->talking ? "working... (Esc stops it)" : "working...");
	else if (t->talking)
		put_answer(t, r);
	else
		canvas_printf(&t->canvas, r->x + 1, r->y, r->w - 2, ROLE_STATUS,
			      "%s   (Tab: back to the text)", t->guide->prompt);
}

void draw_guide(struct tui *t, const struct rect *r)
{
	struct rect in = canvas_pane(&t->canvas, r, t->guide->title);
	int state = canvas_width(t->guide->state), title = canvas_width(t->guide->title);

	t->guide_rect = *r;
	if (state && title + state + 8 < r->w) {
		canvas_put(&t->canvas, r->x + r->w - state - 3, r->y, ' ', ROLE_RULE);
		canvas_text(&t->canvas, r->x + r->w - state - 2, r->y, state, ROLE_PANE,
			    t->guide->state);
		canvas_put(&t->canvas, r->x + r->w - 2, r->y, ' ', ROLE_RULE);
	}
	hear(t, max(in.w - 2, 20));
	said_draw(&t->canvas, &t->said, &(struct rect){in.x + 1, in.y, in.w - 2, max(in.h - 2, 1)});
	draw_more(t, r, r->y + r->h - 2);
	draw_guide_line(t, &(struct rect){r->x, r->y + r->h - 1, r->w, 1});
}

void twin_guide(const struct tui *t, FILE *f)
{
	fprintf(f, "%s, %s\n", t->guide->title, t->guide->state);
	t->guide->print(t->guide, f, 72, false);
	fprintf(f, "%s\n\n", t->guide->prompt ? t->guide->prompt : "working...");
}

/* ---- keys ---- */

void guide_say(struct tui *t, const char *line)
{
	if (!t->guide)
		tui_message(t, "there is no lab here; 'foliolab lab run' has one");
	else if (!t->guide->prompt || (*line && !t->guide->question))
		tui_message(t, "nothing is asked now");
	else
		t->guide->line(t->guide, line);
}

void guide_lua(struct tui *t, const char *line)
{
	if (t->guide->prompt)
		t->guide->lua(t->guide, line);
	else
		tui_message(t, "it is still working; Esc stops it");
	t->talking |= t->guide_alone;
}

static void enter(struct tui *t)
{
	if (!t->guide->prompt) {
		tui_message(t, "it is still working; Esc stops it");
		return;
	}
	t->guide->line(t->guide, t->answer.text);
	line_clear(&t->answer);
}

static void to_machine(struct tui *t)
{
	if (t->guide->nr)
		t->talking = false;
	else
		tui_message(t, "this step has no machine yet");
}

/* On an empty line some letters are commands: none of them begins an answer. */
static bool command_key(struct tui *t, int key)
{
	bool letter = key == 'H' || key == 'R' || key == '?' || key == ':';
	enum tui_command cmd = tui_command_of(key);

	if (key != TERM_F1 && key != TERM_F10 && (!letter || *t->answer.text))
		return false;
	tui_do(t, cmd);
	return true;
}

void guide_key(struct tui *t, int key)
{
	if (command_key(t, key) || said_key(&t->said, key))
		return;
	switch (key) {
	case TERM_TAB:
	case TERM_BACKTAB:
		to_machine(t);
		break;
	case TERM_ESC:
		if (t->guide->prompt)
			to_machine(t);
		else
			t->guide->stop(t->guide);
		break;
	case TERM_ENTER:
		enter(t);
		break;
	default:
		line_key(&t->answer, key);
	}
}

/* ---- its machines ---- */

/* Whoever stood at the end stays there. */
static int catch_up(struct tui_scene *m)
{
	bool at_end = m->scene.pos == m->known;
	u64 events = m->scene.tape->events;
	int ret = tui_list_events(m);

	if (at_end && !ret) {
		ret = scene_goto(&m->scene, min(events, m->scene.pos + CATCH_UP));
		events = m->scene.pos;
	}
	m->known = events;
	return ret;
}

static void mark_run(struct tui *t)
{
	u64 pos = lead_scene(t)->pos;

	t->runs = t->guide->runs;
	if (pos && !t->nr_bookmarks)
		t->bookmarks[t->nr_bookmarks++] = pos;
}

int guide_look(struct tui *t)
{
	unsigned int shown = t->machines[0].scene.tape->max_events ? t->nr : 0;
	int ret = 0;

	if (t->generation != t->guide->generation || t->guide->nr < shown) {
		t->generation = t->guide->generation;
		t->nr_bookmarks = 0;
		t->selected = false;
		t->follow = true;
		t->talking = true;
		tui_stop(t);
		ret = tui_no_machines(t);
		shown = 0;
	}
	if (!shown && t->guide->nr)
		tui_drop_machines(t);
	for (; shown < t->guide->nr && !ret; shown++)
		ret = tui_add_machine(t, &t->guide->machines[shown]);
	if (t->runs != t->guide->runs)
		mark_run(t);
	for (unsigned int i = 0; i < t->nr && !ret; i++) {
		ret = catch_up(&t->machines[i]);
		t->news |= t->machines[i].known < t->machines[i].scene.tape->events;
	}
	return ret;
}

void guide_hear_news(struct tui *t)
{
	char drain[64];

	while (read(t->guide->fd, drain, sizeof(drain)) > 0)
		t->news = true;
}

void guide_fini(struct tui *t)
{
	said_take(&t->said, NULL);
}
