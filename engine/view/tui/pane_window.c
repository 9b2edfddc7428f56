/* The readahead window of the descriptor in use, to scale. */
#include <inttypes.h>
#include <string.h>

#include "view/tui/internal.h"

static const struct scene_window *window_of(const struct tui_scene *m)
{
	const struct scene_state *state = &m->scene.state;

	return &state->window[state->last_fd_window % SCENE_DESCRIPTORS];
}

static u64 mark_of(const struct scene_window *w)
{
	return w->start + w->size - w->async_size;
}

/* The page the next read starts at. */
static u64 reader_of(const struct tui_scene *m)
{
	const struct scene_state *state = &m->scene.state;

	return state->next_pos[state->last_fd_window % SCENE_DESCRIPTORS] >> m->scene.page_shift;
}

/* Column of @page on a ruler of @w columns. */
static int column(const struct scene_window *win, u64 page, int w)
{
	u64 at = (page - win->start) * w / max(win->size, 1u);

	return min_t(u64, at, w - 1);
}

static void draw_ruler(struct canvas *c, const struct scene_window *win, u64 reader, int x, int y,
		       int w)
{
	for (int i = 0; i < w; i++) {
		u64 page = win->start + (u64)i * win->size / w;
		bool async = win->async_size && page >= mark_of(win);

		canvas_put(c, x + i, y, async ? 0x2501 : 0x2500, async ? ROLE_BAR : ROLE_DIM);
	}
	canvas_put(c, x, y, 0x251c, ROLE_BAR);
	canvas_put(c, x + w - 1, y, 0x2524, ROLE_BAR);
	if (win->async_size)
		canvas_put(c, x + column(win, mark_of(win), w), y, 0x25b8, ROLE_MARK);
	if (reader - win->start < win->size)
		canvas_put(c, x + column(win, reader, w), y, 0x25b2, ROLE_READER);
}

static void draw_line(struct tui *t, const struct tui_scene *m, const struct rect *r)
{
	const struct scene_window *win = window_of(m);
	struct canvas *c = &t->canvas;
	char text[100];
	int n;

	if (!win->valid) {
		canvas_text(c, r->x + 1, r->y, r->w - 1, ROLE_DIM, "window: none yet");
		return;
	}
	snprintf(text, sizeof(text), "window %" PRIu64 "-%" PRIu64 " (%u)", win->start,
		 win->start + max(win->size, 1u) - 1, win->size);
	n = canvas_text(c, r->x + 1, r->y, r->w, ROLE_PANE, text);
	if (r->w > 60)
		draw_ruler(c, win, reader_of(m), r->x + n + 3, r->y, 24);
	snprintf(text, sizeof(text), "mark %" PRIu64 "  read at %" PRIu64, mark_of(win),
		 reader_of(m));
	if (!win->async_size)
		snprintf(text, sizeof(text), "no mark  read at %" PRIu64, reader_of(m));
	n += r->w > 60 ? 29 : 3;
	canvas_text(c, r->x + n, r->y, r->w - n, ROLE_TEXT, text);
}

static void describe(const struct scene_window *win, u64 reader, char *buf, size_t size)
{
	u64 mark = mark_of(win);

	if (win->async_size && reader <= mark)
		snprintf(buf, size, "read at %" PRIu64 ", meets the mark in %" PRIu64, reader,
			 mark - reader);
	else if (win->async_size && reader < win->start + win->size)
		snprintf(buf, size, "read at %" PRIu64 ", past the mark", reader);
	else
		snprintf(buf, size, "read at %" PRIu64, reader);
}

static void draw(struct tui *t, struct tui_scene *m, const struct rect *r)
{
	const struct scene_window *win = window_of(m);
	struct canvas *c = &t->canvas;
	struct rect in;
	char text[100];

	if (r->h < 3) {
		draw_line(t, m, r);
		return;
	}
	snprintf(text, sizeof(text), "window of descriptor %u", m->scene.state.last_fd_window);
	in = canvas_pane(c, r, text);
	if (!win->valid) {
		canvas_text(c, in.x + 1, in.y, in.w - 1, ROLE_DIM, "none yet");
		return;
	}
	canvas_printf(c, in.x + 1, in.y, in.w - 1, ROLE_TEXT,
		      "start %" PRIu64 "  size %u  async %u", win->start, win->size,
		      win->async_size);
	draw_ruler(c, win, reader_of(m), in.x + 1, in.y + 1, max(in.w - 2, 4));
	if (in.h > 2) {
		snprintf(text, sizeof(text), "%" PRIu64, win->start + max(win->size, 1u) - 1);
		canvas_printf(c, in.x + 1, in.y + 2, in.w - 2, ROLE_DIM, "%" PRIu64, win->start);
		canvas_text(c, in.x + in.w - 1 - (int)strlen(text), in.y + 2, in.w, ROLE_DIM, text);
	}
	describe(win, reader_of(m), text, sizeof(text));
	if (in.h > 3)
		canvas_text(c, in.x + 1, in.y + 3, in.w - 1, ROLE_TEXT, text);
}

static void twin(const struct tui *t, const struct tui_scene *m, FILE *f)
{
	const struct scene_window *win = window_of(m);
	char text[100];

	(void)t;
	if (!win->valid) {
		fprintf(f, "No readahead window yet.\n");
		return;
	}
	describe(win, reader_of(m), text, sizeof(text));
	fprintf(f,
		"Readahead window: start %" PRIu64 ", size %u, the last %u ahead of the reader; "
		"%s. Chosen because %s.\n",
		win->start, win->size, win->async_size, text, trace_rule_text(win->rule));
}

const struct tui_pane pane_window = {"window", draw, twin};
