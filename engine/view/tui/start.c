/* Making a view of tapes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/tui/internal.h"

static bool is_call(u16 id)
{
	return id == EV_fl_read || id == EV_fl_write || id == EV_fl_touch;
}

static bool is_window(u16 id)
{
	return id == EV_fl_window;
}

static int list_events(struct event_list *list, const struct tape *tape, bool (*wanted)(u16 id))
{
	u64 nr = 0;

	for (int pass = 0; pass < 2; pass++) {
		nr = 0;
		list->count = 0;
		for (u64 slot = 0; slot < tape->slots; slot++) {
			u16 id = tape->records[slot].id;

			if (id == EV_CONTINUATION)
				continue;
			if (wanted(id)) {
				if (pass)
					list->nr[list->count] = nr;
				list->count++;
			}
			nr++;
		}
		if (!pass)
			list->nr = malloc((list->count + 1) * sizeof(*list->nr));
		if (!list->nr)
			return -ENOMEM;
	}
	return 0;
}

/* The file of the first operation, or of the first page. */
static u32 first_inode(const struct tape *tape)
{
	for (u64 slot = 0; slot < tape->slots; slot++)
		if (tape->records[slot].ino && tape->records[slot].id != EV_CONTINUATION)
			return tape->records[slot].ino;
	return 0;
}

static int init_machine(struct tui_scene *m, const struct tui_machine *from)
{
	int ret = scene_init(&m->scene, from->tape, from->info);

	if (!ret)
		ret = list_events(&m->calls, from->tape, is_call);
	if (!ret)
		ret = list_events(&m->windows, from->tape, is_window);
	m->ino = first_inode(from->tape);
	return ret;
}

int tui_init(struct tui *t, const struct tui_machine *machines, unsigned int nr,
	     const struct tui_options *options, struct fl_error *err)
{
	int ret = 0;

	memset(t, 0, sizeof(*t));
	t->options = options;
	t->map_cell = 1;
	t->follow = true;
	t->mouse = true;
	t->speed = 3;
	t->utf8 = true;
	condition_parse(&t->filter, "");
	condition_parse(&t->search, "");
	for (; t->nr < min(nr, (unsigned int)TUI_MACHINES) && !ret; t->nr++) {
		ret = init_machine(&t->machines[t->nr], &machines[t->nr]);
		if (!ret && options->prepare)
			ret = options->prepare(&t->machines[t->nr].scene, t->nr, options->ctx);
	}
	return ret ? fl_error_set(err, ret, NULL, 0, "out of memory") : 0;
}

void tui_fini(struct tui *t)
{
	for (unsigned int i = 0; i < t->nr; i++) {
		scene_fini(&t->machines[i].scene);
		free(t->machines[i].calls.nr);
		free(t->machines[i].windows.nr);
	}
	canvas_fini(&t->canvas);
}
