/* What each CPU does at the moment, and who wants which lock. */
#include "machine/machine.h"
#include "view/gui/internal.h"
#include "view/gui/panels.h"

#define READERS 255 /* scene_cpu.holder: not one CPU */

unsigned int gui_lanes(const struct gui *g)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < g->view.nr; i++) {
		const struct recording_info *info = g->view.machines[i].scene.info;

		if (!info->source[0])
			n = max(n, min(info->cpus, SCENE_CPUS + 0u));
	}
	return n > 1 ? n : 0;
}

static u32 colour_of(const struct gui *g, const struct scene_cpu *cpu)
{
	switch (cpu->does) {
	case SCENE_RUNS:
		return gui_fill(g, ROLE_READER);
	case SCENE_WAITS:
		return gui_ink(g, ROLE_DIRTY);
	default:
		return gui_ink(g, ROLE_ABSENT);
	}
}

/* "waits for lru_lock, CPU 3 has it, 1.2 us". */
static void describe(const struct scene *s, const struct scene_cpu *cpu, char *text, size_t n)
{
	static const char *const does[] = {
		[SCENE_ABSENT] = "has no task yet",
		[SCENE_RUNS] = "runs",
		[SCENE_SLEEPS] = "sleeps",
		[SCENE_ENDED] = "is done",
		[SCENE_WAITS] = "",
	};
	char since[16];

	if (cpu->does != SCENE_WAITS) {
		snprintf(text, n, "%s", does[cpu->does]);
		return;
	}
	short_time(scene_ns(s) - min(cpu->since, scene_ns(s)), since, sizeof(since));
	if (cpu->holder == READERS)
		snprintf(text, n, "waits for %s, readers have it, %s", lock_name(cpu->lock), since);
	else
		snprintf(text, n, "waits for %s, CPU %u has it, %s", lock_name(cpu->lock),
			 cpu->holder, since);
}

static struct box draw_cpus(struct gui *g, const struct scene *s, struct box box)
{
	unsigned int cpus = min(s->info->cpus, SCENE_CPUS + 0u);
	char text[120];

	for (unsigned int i = 0; i < cpus && box.h >= px(g, 18); i++) {
		const struct scene_cpu *cpu = &s->state.cpu[i];
		struct box swatch = {box.x, box.y + px(g, 3), px(g, 10), px(g, 10)}, line = box;

		describe(s, cpu, text, sizeof(text));
		draw_rect(&g->draw, swatch, colour_of(g, cpu));
		line.x += px(g, 16);
		line.w -= px(g, 16);
		line = gui_line(g, line, cpu->does == SCENE_WAITS ? ROLE_TEXT : ROLE_DIM,
				"CPU %-2u %s", i, text);
		box.h -= line.y - box.y;
		box.y = line.y;
	}
	return box;
}

void panel_lanes(struct gui *g, unsigned int m, struct box box)
{
	const struct scene *s = &g->view.machines[m].scene;
	char waited[16];
	u64 most = 1;

	box = draw_cpus(g, s, box);
	box = gui_line(g, box, ROLE_DIM, "all waits so far, by lock");
	for (unsigned int id = 0; id < SCENE_LOCKS; id++)
		most = max(most, s->state.lock[id].waited);
	for (unsigned int id = 0; id < SCENE_LOCKS && box.h >= px(g, 18); id++) {
		const struct scene_lock *lock = &s->state.lock[id];

		if (!lock->waited)
			continue;
		box = gui_bar(g, box, 15, lock_name(id), lock->waited, most, gui_ink(g, ROLE_DIRTY),
			      short_time(lock->waited, waited, sizeof(waited)));
	}
}
