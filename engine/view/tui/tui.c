/* The loop: draw, wait for a key, do what it says. */
#include "view/tui/tui.h"

#include <errno.h>

#include "view/tui/internal.h"

#define TOGETHER_AHEAD 8192 /* events a machine may go on for whom it waits */
#define FRAME_MS       33
#define WAIT_MS	       5     /* between two looks at whether a machine told something */
#define AHEAD_AT_ONCE  10000 /* events between two keys while nothing else is to be done */

static int resize(struct tui *t)
{
	int w, h;

	term_size(&w, &h);
	if (t->canvas.cells && t->canvas.width == w && t->canvas.height == h)
		return 0;
	return canvas_resize(&t->canvas, w, h);
}

/* In help and text twin arrows scroll and Esc, the same key again, or any other returns. */
static void reading_key(struct tui *t, int key)
{
	enum tui_command cmd = tui_command_of(key);

	switch (key) {
	case TERM_UP:
	case TERM_WHEEL_UP:
	case 'k':
		t->scroll -= t->scroll > 0;
		return;
	case TERM_DOWN:
	case TERM_WHEEL_DOWN:
	case 'j':
		t->scroll++;
		return;
	case TERM_PAGE_UP:
		t->scroll = max(t->scroll - 10, 0);
		return;
	case TERM_PAGE_DOWN:
		t->scroll += 10;
		return;
	case TERM_ESC:
	case TERM_ENTER:
		t->mode = MODE_VIEW;
		return;
	default:
		break;
	}
	if (cmd == CMD_STEP || cmd == CMD_BACK || cmd == CMD_CALL || cmd == CMD_CALL_BACK ||
	    cmd == CMD_WINDOW || cmd == CMD_WINDOW_BACK || cmd == CMD_TWIN || cmd == CMD_HELP) {
		tui_do(t, cmd);
		return;
	}
	t->mode = MODE_VIEW;
	t->quit = cmd == CMD_QUIT && key == TERM_F10;
}

static void leave(struct tui *t)
{
	t->talking = t->guide && !t->selected;
	t->selected = false;
}

static void handle_key(struct tui *t, int key, const struct term_mouse *mouse)
{
	unsigned int theme = t->theme;
	bool mouse_on = t->mouse, ascii = t->ascii;

	if (key == TERM_NONE || key == TERM_RESIZE)
		return;
	t->message[0] = 0;
	if (key == TERM_GONE)
		t->quit = true;
	else if (t->mode == MODE_PROMPT)
		tui_prompt_key(t, key);
	else if (key == TERM_MOUSE)
		tui_click(t, mouse);
	else if (t->mode != MODE_VIEW)
		reading_key(t, key);
	else if (t->talking)
		guide_key(t, key);
	else if (key == TERM_WHEEL_UP || key == TERM_WHEEL_DOWN)
		tui_do(t, key == TERM_WHEEL_UP ? CMD_BACK : CMD_STEP);
	else if (key == TERM_ESC)
		leave(t);
	else
		tui_do(t, tui_command_of(key));
	if (t->theme != theme)
		term_theme(t->theme);
	if (t->mouse != mouse_on)
		term_mouse(t->mouse);
	if (t->ascii != ascii)
		term_ascii(t->ascii);
}

static void show(struct tui *t)
{
	tui_draw(t);
	term_show(&t->canvas, t->cursor_x, t->cursor_y);
}

/* What the guide did meanwhile is known before anything else is looked at. */
static int hold(struct tui *t)
{
	if (!t->guide)
		return 0;
	t->guide->hold(t->guide);
	guide_hear_news(t);
	t->quit |= t->guide->over;
	return guide_look(t);
}

static void release(struct tui *t)
{
	if (t->guide)
		t->guide->release(t->guide);
}

bool tui_work_ahead(struct tui *t)
{
	bool more = tui_filter_on(t, tui_lead(t), AHEAD_AT_ONCE);

	for (unsigned int i = 0; i < t->nr; i++)
		if (!t->machines[i].live)
			more |= scene_look_ahead(&t->machines[i].scene, AHEAD_AT_ONCE);
	return more;
}

int tui_patience(const struct tui *t, bool work)
{
	if (tui_running(t) || work)
		return 0;
	if (t->playing || t->options->link)
		return FRAME_MS;
	return tui_waiting(t) ? WAIT_MS : -1;
}

static bool same_place(const struct link_place *a, const struct link_place *b)
{
	return a->pos == b->pos && a->lead == b->lead;
}

static struct link_place place_of(const struct tui *t)
{
	return (struct link_place){lead_scene(t)->pos, t->lead};
}

/* Go where the others went, as far as there are events, and tell them where we went. */
static bool keep_together(struct tui *t)
{
	struct link_place here = place_of(t);
	bool went = !same_place(&here, &t->stood);

	if (went)
		t->together = here;
	if (t->options->link->turn(t->options->link, &t->together)) {
		tui_stop(t);
		t->lead = min(t->together.lead, t->nr - 1);
		went = true;
	}
	/* Somebody stands at the end of what there is, maybe on the way to more. */
	if (t->together.pos >= lead_scene(t)->tape->events)
		tui_pull(t, tui_lead(t), t->together.pos + TOGETHER_AHEAD, 0);
	if (lead_scene(t)->pos != min(t->together.pos, lead_scene(t)->tape->events)) {
		tui_goto(t, t->together.pos);
		went = true;
	}
	t->stood = place_of(t);
	return went;
}

bool tui_turn(struct tui *t, double ms)
{
	bool changed = tui_pull_all(t);

	if (t->options->link)
		changed |= keep_together(t);

	if (t->lagging) {
		tui_follow_lead(t);
		changed = true;
	}
	if (t->playing || tui_running(t))
		changed |= tui_advance(t, min(ms, 4.0 * FRAME_MS));
	return changed;
}

/* @key and all others there are. */
static void take_keys(struct tui *t, int key, struct term_mouse *mouse)
{
	for (int n = 0; key != TERM_NONE && n < 64; n++) {
		handle_key(t, key, mouse);
		if (key == TERM_RESIZE || t->quit)
			return;
		key = term_key(0, -1, mouse);
	}
}

/* Draw if that is due; how long to wait for a key, or an error. */
static int look(struct tui *t, bool changed, double *drawn)
{
	bool work = tui_work_ahead(t);
	int ret = resize(t);

	if (ret)
		return ret;
	if (changed || ((work || t->news) && tui_now_ms() - *drawn > FRAME_MS)) {
		t->news = false;
		show(t);
		*drawn = tui_now_ms();
	}
	ret = tui_patience(t, work);
	return ret < 0 && t->news ? FRAME_MS : ret;
}

/* Draws when something changed, at most once a frame while only its own work goes on. */
static int loop(struct tui *t, int *signo)
{
	double last = tui_now_ms(), drawn = 0;
	bool changed = true;

	for (;;) {
		struct term_mouse mouse = {0};
		int ms, key;

		ms = hold(t);
		if (!ms)
			ms = look(t, changed, &drawn);
		release(t);
		if (t->quit || ms < -1)
			return t->quit ? 0 : ms;
		key = term_key(ms, t->guide ? t->guide->fd : -1, &mouse);
		if (term_signal()) {
			*signo = term_signal();
			return -EINTR;
		}
		if (!hold(t)) {
			take_keys(t, key, &mouse);
			changed = tui_turn(t, tui_now_ms() - last) || key != TERM_NONE;
		}
		last = tui_now_ms();
		release(t);
	}
}

/* A terminal that cannot has the last word. */
static void show_settings(struct tui *t)
{
	t->utf8 = term_is_utf8();
	term_theme(t->theme);
	term_mouse(t->mouse);
	term_ascii(t->ascii);
}

int tui_run(const struct tui_machine *machines, unsigned int nr, const struct tui_options *options,
	    int *signo, struct fl_error *err)
{
	struct tui t;
	int ret = tui_init(&t, machines, nr, options, err);

	*signo = 0;
	if (!ret)
		ret = term_open(err);
	if (!ret) {
		show_settings(&t);
		ret = loop(&t, signo);
		term_close();
		if (options->settings)
			tui_keep_settings(&t, options->settings);
		if (ret && ret != -EINTR)
			fl_error_set(err, ret, NULL, 0, "out of memory");
	}
	tui_fini(&t);
	return ret;
}

int tui_picture(const struct tui_machine *machines, unsigned int nr,
		const struct tui_options *options, u64 at, int width, int height,
		struct canvas *canvas, struct fl_error *err)
{
	struct tui t;
	int ret = tui_init(&t, machines, nr, options, err);

	if (!ret && canvas_resize(&t.canvas, width, height))
		ret = fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	if (!ret) {
		tui_draw(&t); /* the first one tells how large the map is */
		tui_goto(&t, at);
		tui_draw(&t);
		*canvas = t.canvas;
		t.canvas = (struct canvas){0};
	}
	tui_fini(&t);
	return ret;
}
