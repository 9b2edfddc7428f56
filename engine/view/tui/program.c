/* The program behind the events: what inspect knows at the moment the view shows. */
#include <string.h>

#include "view/tui/internal.h"

static bool at_event(const struct tui_scene *m, const char **why)
{
	*why = !m->inspect ? "the program cannot be seen here" : "before the first event";
	return m->inspect && m->scene.pos;
}

int tui_frames(const struct tui_scene *m, const struct inspect_frame **ret, const char **why)
{
	return at_event(m, why) ? m->inspect->frames(m->inspect, m->scene.pos - 1, ret, why) : 0;
}

/* Keep the values of each place the view stands at, so that changes can be told. */
static void remember(struct tui_values *v, u64 pos, const struct inspect_value *values, int nr)
{
	nr = min(nr, TUI_VALUES);
	if (pos == v->pos && nr == v->nr)
		return;
	v->nr_before = v->pos && nr == v->nr ? v->nr : 0;
	memcpy(v->before, v->now, sizeof(v->before));
	for (int i = 0; i < nr; i++)
		snprintf(v->now[i], sizeof(v->now[i]), "%.23s", values[i].value);
	v->nr = nr;
	v->pos = pos;
}

int tui_values(struct tui_scene *m, const struct inspect_value **ret, const char **why)
{
	int nr = at_event(m, why) ? m->inspect->values(m->inspect, m->scene.pos - 1, ret, why) : 0;

	if (nr)
		remember(&m->values, m->scene.pos, *ret, nr);
	return nr;
}

bool tui_value_changed(const struct tui_scene *m, int i)
{
	const struct tui_values *v = &m->values;

	return i < v->nr_before && strcmp(v->before[i], v->now[i]) != 0;
}
