/* Making a view of tapes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/tui/internal.h"

void tui_drop_machines(struct tui *t)
{
	t->lead = 0;
	for (; t->nr; t->nr--) {
		struct tui_scene *m = &t->machines[t->nr - 1];

		scene_fini(&m->scene);
		free(m->calls.nr);
		free(m->windows.nr);
		free(m->filtered.nr);
	}
}

int tui_add_machine(struct tui *t, const struct tui_machine *from)
{
	struct tui_scene *m = &t->machines[t->nr];
	int ret;

	if (t->nr == TUI_MACHINES)
		return 0;
	t->nr++;
	memset(m, 0, sizeof(*m));
	ret = scene_init(&m->scene, from->tape, from->info);
	m->feed = from->feed;
	m->inspect = from->inspect;
	m->live = from->feed != NULL;
	if (!ret)
		ret = tui_list_events(m);
	if (!ret && t->options->prepare)
		ret = t->options->prepare(&m->scene, t->nr - 1, t->options->ctx);
	return ret;
}

int tui_no_machines(struct tui *t)
{
	static const struct tape tape;
	static const struct recording_info info = {.page_size = 4096};
	const struct tui_machine none = {.tape = &tape, .info = &info};

	tui_drop_machines(t);
	return tui_add_machine(t, &none);
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
	t->guide = options->guide;
	t->talking = t->guide != NULL;
	if (!nr)
		ret = tui_no_machines(t);
	for (unsigned int i = 0; i < nr && !ret; i++)
		ret = tui_add_machine(t, &machines[i]);
	return ret ? fl_error_set(err, ret, NULL, 0, "out of memory") : 0;
}

void tui_fini(struct tui *t)
{
	tui_drop_machines(t);
	guide_fini(t);
	canvas_fini(&t->canvas);
}
