/* What stands around the panes: title, hints, help, and the screen as sentences. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/strutil.h"
#include "view/narrate.h"
#include "view/tui/internal.h"

/* ---- title ---- */

static void describe_machine(const struct tui *t, char *buf, size_t size)
{
	const struct recording_info *info = lead_scene(t)->info;
	char bytes[24], seed[32];

	if (t->guide && !t->guide->nr)
		return;
	snprintf(seed, sizeof(seed), "seed %" PRIu64, info->seed);
	if (t->guide && t->nr > 1)
		snprintf(buf, size, "machine %u of %u: ", t->lead + 1, t->nr);
	snprintf(buf + strlen(buf), size - strlen(buf),
		 "kernel %s   %s %s   ra %" PRIu64 " pages   %s", info->kernel, info->fs,
		 format_size(info->size, bytes, sizeof(bytes)), info->ra_pages,
		 info->source[0] ? narrate_source(info) : seed);
}

static void describe_run(const struct tui *t, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s", t->options->title ? t->options->title : "",
		 t->options->title ? "   " : "");
	describe_machine(t, buf + strlen(buf), size - strlen(buf));
}

char *tui_place(const struct tui *t, const char *of, char *buf, size_t size)
{
	const struct tui_scene *m = &t->machines[t->lead];
	u64 pos = t->options->first_event + m->scene.pos, calls;

	if (!m->live) {
		snprintf(buf, size, "%" PRIu64 "%s%" PRIu64, pos, of,
			 t->options->first_event + m->scene.tape->events);
		return buf;
	}
	calls = m->feed->calls(m->feed);
	if (calls)
		snprintf(buf, size, "%" PRIu64 " live %.0f %%", pos,
			 100.0 * min(m->scene.counts.calls, calls) / calls);
	else
		snprintf(buf, size, "%" PRIu64 " live", pos);
	return buf;
}

static void describe_moment(const struct tui *t, char *buf, size_t size)
{
	const char *how = tui_running(t) ? "\342\226\266\342\226\266 running"
			  : t->playing	 ? "\342\226\266 "
					 : "";
	char time[16], place[48];

	*buf = 0;
	if (t->guide && !t->guide->nr)
		return;
	snprintf(buf, size, "%s%s   %s   %s ", how,
		 t->playing && !tui_running(t) ? tui_speed_name(t) : "",
		 tui_place(t, "/", place, sizeof(place)),
		 short_time(scene_ns(lead_scene(t)), time, sizeof(time)));
}

void draw_title(struct tui *t)
{
	struct canvas *c = &t->canvas;
	char left[256], right[128];
	int n, width;

	describe_run(t, left, sizeof(left));
	describe_moment(t, right, sizeof(right));
	width = canvas_width(right);
	canvas_fill(c, &(struct rect){0, 0, c->width, 1}, ' ', ROLE_STATUS);
	n = canvas_text(c, 1, 0, c->width - 1, ROLE_STATUS_STRONG, "FolioLab") + 4;
	if (n + width + 4 < c->width)
		canvas_text(c, n, 0, c->width - n - width - 2, ROLE_STATUS, left);
	canvas_text(c, c->width - width, 0, width, ROLE_STATUS_STRONG, right);
}

/* ---- hints ---- */

static void add_hint(struct tui *t, int *x, enum tui_command cmd, const char *shown,
		     const char *label)
{
	int y = t->canvas.height - 1;
	int w = canvas_width(shown) + 1 + canvas_width(label);

	if (*x + w > t->canvas.width - 1 || t->nr_hints == TUI_HINTS)
		return;
	t->hints[t->nr_hints].x = *x;
	t->hints[t->nr_hints].w = w;
	t->hints[t->nr_hints++].cmd = cmd;
	*x += canvas_text(&t->canvas, *x, y, w, ROLE_KEY, shown) + 1;
	*x += canvas_text(&t->canvas, *x, y, w, ROLE_HINT, label) + 2;
}

static void add_key(struct tui *t, int *x, enum tui_command cmd)
{
	add_hint(t, x, cmd, tui_key(cmd)->shown, tui_key(cmd)->label);
}

/* While keys go to the guide; those that need no machine or question are always there. */
static void add_guide_hints(struct tui *t, int *x)
{
	if (t->guide->nr)
		add_hint(t, x, CMD_PANE, "Tab", "machine");
	if (t->guide->question) {
		add_hint(t, x, CMD_HINT, "H", "hint");
		add_hint(t, x, CMD_REVEAL, "R", "reveal");
	}
	add_hint(t, x, CMD_HELP, "F1", "help");
	add_hint(t, x, CMD_QUIT, "F10", "save and quit");
}

static void add_all_hints(struct tui *t, int *x)
{
	for (int place = 1; place <= TUI_HINTS; place++)
		for (int cmd = 0; cmd < CMD_NR; cmd++)
			if (tui_key(cmd)->hint == place)
				add_key(t, x, cmd);
}

static void draw_message(struct tui *t)
{
	int y = t->canvas.height - 1;

	canvas_fill(&t->canvas, &(struct rect){0, y, t->canvas.width, 1}, ' ', ROLE_STATUS);
	canvas_text(&t->canvas, 1, y, t->canvas.width - 2, ROLE_STATUS, t->message);
}

void draw_hints(struct tui *t)
{
	/* Narrow screens keep the way out. */
	static const enum tui_command few[] = {CMD_PLAY, CMD_STEP, CMD_BACK, CMD_HELP, CMD_QUIT};
	int x = 1;

	if (t->message[0])
		draw_message(t);
	else if (t->mode == MODE_VIEW && t->talking)
		add_guide_hints(t, &x);
	else if (t->mode == MODE_VIEW && t->canvas.width >= 60)
		add_all_hints(t, &x);
	else
		for (size_t i = 0; i < ARRAY_SIZE(few); i++)
			add_key(t, &x, few[i]);
}

/* ---- help ---- */

/* What stands in that row of the help: in a lab the keys that only labs have come first. */
static enum tui_command help_row(const struct tui *t, int row)
{
	static const enum tui_command first[] = {CMD_PANE,    CMD_HINT, CMD_REVEAL, CMD_MACHINE,
						 CMD_COMMAND, CMD_HELP, CMD_QUIT};
	const int nr = t->guide ? ARRAY_SIZE(first) : 0;

	if (row < nr)
		return first[row];
	row -= nr;
	for (int cmd = 0; cmd < CMD_NR; cmd++) {
		bool above = false;

		for (int i = 0; i < nr; i++)
			above |= first[i] == (enum tui_command)cmd;
		if (!above && !row--)
			return cmd;
	}
	return CMD_QUIT;
}

void draw_help(struct tui *t, const struct rect *r)
{
	struct rect in = canvas_pane(&t->canvas, r, "keys \302\267 any key returns, arrows scroll");
	int columns = in.w >= 120 ? 2 : 1, rows = (CMD_NR + columns - 1) / columns;
	int width = in.w / columns;

	t->scroll = max(min(t->scroll, rows - in.h), 0);
	for (int i = 0; i < CMD_NR; i++) {
		int y = i % rows - t->scroll, x = in.x + 1 + i / rows * width;
		enum tui_command cmd = help_row(t, i);

		if (y < 0 || y >= in.h)
			continue;
		canvas_printf(&t->canvas, x, in.y + y, 10, ROLE_KEY, "%9s", tui_key(cmd)->shown);
		canvas_text(&t->canvas, x + 11, in.y + y, width - 13, ROLE_TEXT,
			    tui_key(cmd)->help);
	}
}

/* ---- the text twin ---- */

void tui_twin(const struct tui *t, FILE *f)
{
	static const struct tui_pane *const panes[] = {
		&pane_why,     &pane_window, &pane_map,	 &pane_orders,
		&pane_latency, &pane_memory, &pane_page, &pane_events,
	};
	char text[256], place[48];

	describe_run(t, text, sizeof(text));
	fprintf(f, "%s\n", text);
	if (t->guide)
		twin_guide(t, f);
	fprintf(f, "Event %s, %s of virtual time.\n", tui_place(t, " of ", place, sizeof(place)),
		short_time(scene_ns(lead_scene(t)), text, sizeof(text)));
	for (unsigned int i = t->guide ? t->lead : 0; i < (t->guide ? t->lead + 1 : t->nr); i++) {
		if (tui_side_by_side(t))
			fprintf(f, "\nKernel %s%s:\n", t->machines[i].scene.info->kernel,
				i == t->lead ? " (leads)" : "");
		for (size_t p = 0; p < ARRAY_SIZE(panes); p++)
			panes[p]->twin(t, &t->machines[i], f);
	}
}

/* Where the next line of at most @width columns ends; the text after it in *@next. */
static size_t wrap_line(const char *p, size_t width, const char **next)
{
	size_t len = strcspn(p, "\n"), cut = len;

	if (len > width) {
		for (cut = width; cut && p[cut] != ' '; cut--)
			;
		if (!cut)
			cut = width;
	}
	*next = p + cut + (p[cut] == ' ' || p[cut] == '\n');
	return cut;
}

void draw_twin(struct tui *t, const struct rect *r)
{
	struct rect in = canvas_pane(&t->canvas, r,
				     "this moment in words \302\267 t returns, "
				     "arrows scroll");
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	int row = 0;

	if (!f)
		return;
	tui_twin(t, f);
	fclose(f);
	for (const char *p = text, *next; p && *p; p = next, row++) {
		int len = wrap_line(p, max(in.w - 2, 8), &next), y = row - t->scroll;

		if (y >= 0 && y < in.h)
			canvas_printf(&t->canvas, in.x + 1, in.y + y, in.w - 2, ROLE_TEXT, "%.*s",
				      len, p);
	}
	free(text);
	if (t->scroll && t->scroll >= row)
		t->scroll = row - 1;
}
