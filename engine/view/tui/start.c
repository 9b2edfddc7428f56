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

void tui_settings_init(struct tui_settings *s)
{
	*s = (struct tui_settings){.speed = 3, .mouse = true};
}

/* A tape may begin in the middle of a recording; marks before that are none of the view's. */
static void take_settings(struct tui *t, const struct tui_settings *s)
{
	t->theme = s->theme;
	t->speed = s->speed;
	t->group = s->group % GROUP_NR;
	t->mouse = s->mouse;
	t->ascii = s->ascii;
	for (unsigned int i = 0; i < s->nr_bookmarks; i++)
		if (s->bookmarks[i] >= t->options->first_event)
			t->bookmarks[t->nr_bookmarks++] = s->bookmarks[i] - t->options->first_event;
}

void tui_keep_settings(const struct tui *t, struct tui_settings *s)
{
	unsigned int n = 0;

	s->theme = t->theme;
	s->speed = t->speed;
	s->group = t->group;
	s->mouse = t->mouse;
	s->ascii = t->ascii;
	while (n < s->nr_bookmarks && s->bookmarks[n] < t->options->first_event)
		n++;
	for (unsigned int i = 0; i < t->nr_bookmarks && n < TUI_BOOKMARKS; i++)
		s->bookmarks[n++] = t->bookmarks[i] + t->options->first_event;
	s->nr_bookmarks = n;
}

int tui_init(struct tui *t, const struct tui_machine *machines, unsigned int nr,
	     const struct tui_options *options, struct fl_error *err)
{
	struct tui_settings settings;
	int ret = 0;

	memset(t, 0, sizeof(*t));
	t->options = options;
	t->map_cell = 1;
	t->follow = true;
	t->utf8 = true;
	tui_settings_init(&settings);
	take_settings(t, options->settings ? options->settings : &settings);
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
