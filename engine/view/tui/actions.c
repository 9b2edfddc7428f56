/* What keys, clicks and typed lines do. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "view/tui/internal.h"

void tui_message(struct tui *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(t->message, sizeof(t->message), fmt, ap);
	va_end(ap);
}

void tui_stop(struct tui *t)
{
	t->playing = false;
	t->goal.kind = GOAL_NONE;
}

/* ---- the map ---- */

static u64 map_row(const struct tui *t)
{
	return (u64)max(t->map_columns, 1) * t->map_cell;
}

static u64 file_end(const struct tui *t)
{
	const struct scene *s = lead_scene(t);
	const struct scene_file *f = shown_file(&t->machines[t->lead]);
	u64 pages = (s->info->size + s->info->page_size - 1) >> s->page_shift;

	return max(max(pages, f ? f->end : 0), (u64)1);
}

static void scroll_map(struct tui *t, s64 rows)
{
	u64 row = map_row(t), first = t->map_first / row, last = (file_end(t) - 1) / row;

	if (rows < 0)
		first = first > (u64)-rows ? first + rows : 0;
	else
		first = min(first + rows, last);
	t->map_first = first * row;
	t->follow = false;
}

/* Move the selection; the map scrolls along. */
static void select_page(struct tui *t, s64 by)
{
	u64 rows = max(t->map_rows, 1), row = map_row(t);

	if (!t->selected)
		t->page = t->map_first;
	else if (by < 0)
		t->page = t->page > (u64)-by ? t->page + by : 0;
	else
		t->page = min(t->page + by, file_end(t) - 1);
	t->selected = true;
	t->follow = false;
	if (t->page < t->map_first)
		t->map_first = t->page - t->page % row;
	else if (t->page >= t->map_first + rows * row)
		t->map_first = t->page - t->page % row - (rows - 1) * row;
}

static void zoom(struct tui *t, bool out)
{
	u64 all = (u64)max(t->map_columns, 1) * max(t->map_rows, 1);

	if (out && t->map_cell * all < file_end(t))
		t->map_cell *= 2;
	else if (!out && t->map_cell > 1)
		t->map_cell /= 2;
	t->map_first -= t->map_first % map_row(t);
}

static void fit(struct tui *t)
{
	u64 all = (u64)max(t->map_columns, 1) * max(t->map_rows, 1);

	if (t->map_cell > 1) {
		t->map_cell = 1;
		return;
	}
	while (t->map_cell * all < file_end(t))
		t->map_cell *= 2;
	t->map_first = 0;
}

/* ---- bookmarks ---- */

static void bookmark(struct tui *t)
{
	u64 pos = lead_scene(t)->pos;
	unsigned int i = 0;

	while (i < t->nr_bookmarks && t->bookmarks[i] < pos)
		i++;
	if (i < t->nr_bookmarks && t->bookmarks[i] == pos) {
		memmove(&t->bookmarks[i], &t->bookmarks[i + 1],
			(--t->nr_bookmarks - i) * sizeof(*t->bookmarks));
		tui_message(t, "no longer marked");
		return;
	}
	if (t->nr_bookmarks == TUI_BOOKMARKS) {
		tui_message(t, "%u moments are marked already", TUI_BOOKMARKS);
		return;
	}
	memmove(&t->bookmarks[i + 1], &t->bookmarks[i],
		(t->nr_bookmarks++ - i) * sizeof(*t->bookmarks));
	t->bookmarks[i] = pos;
	tui_message(t, "marked; ' returns here");
}

static void next_bookmark(struct tui *t)
{
	u64 pos = lead_scene(t)->pos;

	if (!t->nr_bookmarks) {
		tui_message(t, "no moment is marked; m marks this one");
		return;
	}
	for (unsigned int i = 0; i < t->nr_bookmarks; i++)
		if (t->bookmarks[i] > pos) {
			tui_goto(t, t->bookmarks[i]);
			return;
		}
	tui_goto(t, t->bookmarks[0]);
}

/* ---- finding ---- */

static void find_next(struct tui *t, int dir)
{
	u64 pos = lead_scene(t)->pos;

	if (condition_any(&t->search))
		tui_message(t, "nothing to find; / asks what");
	else
		tui_aim(t, &(struct tui_goal){
				   .kind = GOAL_FIND, .nr = pos + dir, .dir = dir, .start = pos});
}

static void set_break(struct tui *t, const char *text)
{
	if (!*text) {
		t->nr_breaks = 0;
		tui_message(t, "no breakpoints");
	} else if (t->nr_breaks == TUI_BREAKS) {
		tui_message(t, "%u breakpoints are set already", TUI_BREAKS);
	} else {
		condition_parse(&t->breaks[t->nr_breaks++], text);
		tui_message(t, "breakpoint %u: %s; r runs there", t->nr_breaks, text);
	}
}

static void go_to_event(struct tui *t, u64 pos)
{
	tui_aim(t, &(struct tui_goal){.kind = GOAL_EVENT, .nr = pos});
}

static void go_to(struct tui *t, const char *text)
{
	bool call = *text == 'c';
	char *end;
	u64 nr;

	text += call;
	nr = strtoull(text, &end, 10);
	if (end == text || *end) {
		tui_message(t, "'%s' is no event; a number, or c and the number of a call", text);
		return;
	}
	if (call)
		tui_goto_call(t, nr);
	else
		go_to_event(t, nr > t->options->first_event ? nr - t->options->first_event : 0);
}

/* ---- files ---- */

static void export_screen(struct tui *t, bool svg)
{
	const char *theme = theme_name(t->theme);
	char path[80];
	FILE *f;

	snprintf(path, sizeof(path), "foliolab-%" PRIu64 ".%s",
		 t->options->first_event + lead_scene(t)->pos, svg ? "svg" : "txt");
	f = fopen(path, "we");
	if (!f) {
		tui_message(t, "%s: %s", path, strerror(errno));
		return;
	}
	t->message[0] = 0;
	tui_draw(t);
	if (svg)
		canvas_svg(&t->canvas, f, theme);
	else
		canvas_dump(&t->canvas, f, t->utf8 && !t->ascii);
	if (fclose(f))
		tui_message(t, "%s: %s", path, strerror(errno));
	else
		tui_message(t, "written to %s", path);
}

/* ---- settings ---- */

static void set_theme(struct tui *t, int theme)
{
	if (theme < 0 || !theme_name(theme))
		theme = 0;
	t->theme = theme;
	tui_message(t, "theme %s", theme_name(theme));
}

static void set_mode(struct tui *t, enum tui_mode mode)
{
	t->mode = t->mode == mode ? MODE_VIEW : mode;
	t->scroll = 0;
}

static void prompt(struct tui *t, enum tui_command what)
{
	t->mode = MODE_PROMPT;
	t->prompt = what;
	line_clear(&t->line);
}

static bool at_end(const struct tui *t)
{
	return lead_scene(t)->pos == lead_scene(t)->tape->events && !t->machines[t->lead].live;
}

static void play(struct tui *t)
{
	t->playing = !t->playing && !tui_running(t);
	t->goal.kind = GOAL_NONE;
	t->due = 0;
	if (t->playing && at_end(t))
		tui_goto(t, 0);
}

static void run(struct tui *t)
{
	bool stop = tui_running(t);

	tui_stop(t);
	if (!stop)
		tui_aim(t, &(struct tui_goal){.kind = GOAL_BREAK});
}

static void do_moving(struct tui *t, enum tui_command cmd)
{
	struct tui_scene *m = tui_lead(t);

	tui_stop(t);
	switch (cmd) {
	case CMD_STEP:
		tui_step(t, 1);
		break;
	case CMD_BACK:
		tui_step(t, -1);
		break;
	case CMD_CALL:
		tui_seek(t, &m->calls, 1);
		break;
	case CMD_CALL_BACK:
		tui_seek(t, &m->calls, -1);
		break;
	case CMD_WINDOW:
		tui_seek(t, &m->windows, 1);
		break;
	case CMD_WINDOW_BACK:
		tui_seek(t, &m->windows, -1);
		break;
	case CMD_FIRST:
		tui_goto(t, 0);
		break;
	case CMD_LAST:
		go_to_event(t, ~0ull);
		break;
	case CMD_NEXT:
		find_next(t, 1);
		break;
	case CMD_PREVIOUS:
		find_next(t, -1);
		break;
	default:
		next_bookmark(t);
	}
}

static void do_map(struct tui *t, enum tui_command cmd)
{
	switch (cmd) {
	case CMD_UP:
		select_page(t, -(s64)map_row(t));
		break;
	case CMD_DOWN:
		select_page(t, map_row(t));
		break;
	case CMD_LEFT:
		select_page(t, -(s64)t->map_cell);
		break;
	case CMD_RIGHT:
		select_page(t, t->map_cell);
		break;
	case CMD_PAGE_UP:
		scroll_map(t, -max(t->map_rows, 1));
		break;
	case CMD_PAGE_DOWN:
		scroll_map(t, max(t->map_rows, 1));
		break;
	case CMD_ZOOM_OUT:
	case CMD_ZOOM_IN:
		zoom(t, cmd == CMD_ZOOM_OUT);
		break;
	case CMD_FIT:
		fit(t);
		break;
	default:
		t->follow = !t->follow;
		tui_message(t, t->follow ? "the map follows the events" : "the map stays");
	}
}

static void next_machine(struct tui *t)
{
	t->lead = (t->lead + 1) % t->nr;
	if (t->nr > 1)
		tui_message(t, "machine %u of %u: %s", t->lead + 1, t->nr,
			    lead_scene(t)->info->kernel);
}

/* Points are lost for good: asked twice. */
static void reveal(struct tui *t)
{
	bool sure = t->sure;

	t->sure = t->guide && t->guide->question && !sure;
	if (t->sure)
		tui_message(t, "R once more reveals the answer, for no points");
	else
		guide_say(t, "r");
}

static void do_look(struct tui *t, enum tui_command cmd)
{
	switch (cmd) {
	case CMD_PAGE:
		t->group = t->group == GROUP_PAGE ? GROUP_MAIN : GROUP_PAGE;
		break;
	case CMD_PANE:
		t->group = (t->group + 1) % GROUP_NR;
		t->talking = t->guide && t->group == GROUP_MAIN;
		break;
	case CMD_PANE_BACK:
		t->talking = t->guide && t->group == GROUP_MAIN;
		t->group = (t->group + GROUP_NR - 1) % GROUP_NR;
		break;
	case CMD_MACHINE:
		next_machine(t);
		break;
	case CMD_HINT:
		guide_say(t, "h");
		break;
	case CMD_REVEAL:
		reveal(t);
		break;
	case CMD_TWIN:
		set_mode(t, MODE_TWIN);
		break;
	case CMD_HELP:
		set_mode(t, MODE_HELP);
		break;
	case CMD_THEME:
		set_theme(t, t->theme + 1);
		break;
	case CMD_MOUSE:
		t->mouse = !t->mouse;
		tui_message(t, "mouse %s", t->mouse ? "on" : "off");
		break;
	case CMD_GLYPHS:
		t->ascii = !t->ascii;
		tui_message(t, "glyphs of %s", t->ascii ? "ASCII" : "Unicode");
		break;
	case CMD_FASTER:
		t->speed = min(t->speed + 1, TUI_SPEEDS - 1u);
		tui_message(t, "speed %s events", tui_speed_name(t));
		break;
	case CMD_SLOWER:
		t->speed -= t->speed > 0;
		tui_message(t, "speed %s events", tui_speed_name(t));
		break;
	default:
		export_screen(t, cmd == CMD_SVG);
	}
}

void tui_do(struct tui *t, enum tui_command cmd)
{
	t->sure &= cmd == CMD_REVEAL;
	switch (cmd) {
	case CMD_PLAY:
		play(t);
		break;
	case CMD_RUN:
		run(t);
		break;
	case CMD_STEP:
	case CMD_BACK:
	case CMD_CALL:
	case CMD_CALL_BACK:
	case CMD_WINDOW:
	case CMD_WINDOW_BACK:
	case CMD_FIRST:
	case CMD_LAST:
	case CMD_NEXT:
	case CMD_PREVIOUS:
	case CMD_RETURN:
		do_moving(t, cmd);
		break;
	case CMD_BOOKMARK:
		bookmark(t);
		break;
	case CMD_GOTO:
	case CMD_SEARCH:
	case CMD_FILTER:
	case CMD_BREAK:
	case CMD_COMMAND:
		prompt(t, cmd);
		break;
	case CMD_UP:
	case CMD_DOWN:
	case CMD_LEFT:
	case CMD_RIGHT:
	case CMD_PAGE_UP:
	case CMD_PAGE_DOWN:
	case CMD_ZOOM_OUT:
	case CMD_ZOOM_IN:
	case CMD_FIT:
	case CMD_FOLLOW:
		do_map(t, cmd);
		break;
	case CMD_QUIT:
		t->quit = true;
		break;
	case CMD_NONE:
		break;
	default:
		do_look(t, cmd);
	}
}

/* ---- the prompt ---- */

static void run_line(struct tui *t, enum tui_command what, const char *text);

/* Another struct for the struct pane, of every machine. */
static void watch(struct tui *t, const char *expression)
{
	for (unsigned int i = 0; i < t->nr; i++) {
		struct tui_scene *m = &t->machines[i];

		if (!m->inspect || !*expression)
			continue;
		m->inspect->watch(m->inspect, expression);
		m->values.pos = 0;
	}
	t->group = GROUP_STRUCT;
}

/* "find WORDS": a command's first letters and what it takes. */
static void run_command(struct tui *t, const char *text)
{
	static const struct {
		const char *name;
		enum tui_command cmd;
	} commands[] = {
		{"goto", CMD_GOTO},   {"find", CMD_SEARCH}, {"filter", CMD_FILTER},
		{"break", CMD_BREAK}, {"theme", CMD_THEME}, {"zoom", CMD_FIT},
		{"quit", CMD_QUIT},
	};
	size_t len = strcspn(text, " ");
	const char *rest = text + len + strspn(text + len, " ");

	if (!*text)
		return;
	if (*text >= '0' && *text <= '9') {
		go_to(t, text);
		return;
	}
	if (!strncmp("watch", text, len) && len > 1) {
		watch(t, rest);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strncmp(commands[i].name, text, len)) {
			run_line(t, commands[i].cmd, rest);
			return;
		}
	if (t->guide) {
		guide_lua(t, text);
		return;
	}
	tui_message(t,
		    "unknown command '%.*s'; goto, find, filter, break, theme, zoom, watch, quit",
		    (int)len, text);
}

static void run_line(struct tui *t, enum tui_command what, const char *text)
{
	switch (what) {
	case CMD_GOTO:
		if (*text)
			go_to(t, text);
		break;
	case CMD_SEARCH:
		condition_parse(&t->search, text);
		if (*text)
			find_next(t, 1);
		break;
	case CMD_FILTER:
		condition_parse(&t->filter, text);
		tui_refilter(t);
		break;
	case CMD_BREAK:
		set_break(t, text);
		break;
	case CMD_THEME:
		set_theme(t, *text ? theme_by_name(text) : (int)t->theme + 1);
		break;
	case CMD_FIT:
		fit(t);
		break;
	case CMD_QUIT:
		t->quit = true;
		break;
	default:
		run_command(t, text);
	}
}

void tui_prompt_key(struct tui *t, int key)
{
	switch (key) {
	case TERM_ESC:
		t->mode = MODE_VIEW;
		return;
	case TERM_ENTER:
		t->mode = MODE_VIEW;
		tui_stop(t);
		run_line(t, t->prompt, t->line.text);
		return;
	default:
		if (key == TERM_BACKSPACE && !*t->line.text)
			t->mode = MODE_VIEW;
		line_key(&t->line, key);
	}
}

/* ---- the mouse ---- */

static bool inside(const struct rect *r, const struct term_mouse *m)
{
	return m->x >= r->x && m->x < r->x + r->w && m->y >= r->y && m->y < r->y + r->h;
}

static void click_hint(struct tui *t, int x)
{
	for (int i = 0; i < t->nr_hints; i++)
		if (x >= t->hints[i].x && x < t->hints[i].x + t->hints[i].w) {
			tui_do(t, t->hints[i].cmd);
			return;
		}
}

void tui_click(struct tui *t, const struct term_mouse *m)
{
	if (m->y == t->canvas.height - 1) {
		click_hint(t, m->x);
	} else if (t->guide && inside(&t->guide_rect, m)) {
		t->talking = true;
	} else if (inside(&t->map_rect, m)) {
		int x = m->x - t->map_rect.x, cell = x - x / (TUI_MAP_GROUP + 1);

		t->page = t->map_first +
			  ((u64)(m->y - t->map_rect.y) * t->map_columns + cell) * t->map_cell;
		t->page = min(t->page, file_end(t) - 1);
		t->selected = true;
		t->group = GROUP_PAGE;
		t->talking = false;
	} else if (inside(&t->events_rect, m)) {
		int i = m->y - t->events_rect.y;

		if (i < t->nr_events_shown)
			tui_goto(t, t->events_shown[i] + 1);
	}
}
