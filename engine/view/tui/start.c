/* Making a view of tapes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/tui/internal.h"

static int init_machine(struct tui_scene *m, const struct tui_machine *from)
{
	int ret = scene_init(&m->scene, from->tape, from->info);

	m->feed = from->feed;
	m->live = from->feed != NULL;
	return ret ? ret : tui_list_events(m);
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
		free(t->machines[i].filtered.nr);
	}
	canvas_fini(&t->canvas);
}
