/*
 * Lanes: what the scene says every CPU does, holds and waits for, against the rules of locks (one
 * has lru_lock, and who waits says who has it) and against a fresh replay from the start. The
 * window's panel says the same in words, and Perfetto's tracks have every wait and hold of the
 * tape.
 */
#include "unit.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/run_record.h"
#include "lab/run_tasks.h"
#include "mm/internal.h"
#include "view/gui/internal.h"
#include "view/perfetto.h"
#include "view/scene.h"

#define LRU_BIT (1u << LOCK_LRU_LOCK)

struct recorded {
	struct run *run;
	struct recording_info info;
	struct tape tape;
	struct tasks_report tasks;
};

static struct recorded rec;

static int record(void **state)
{
	static const char ops[] = "read 4k 256; pread 0 1m; fadvise dontneed 0 0; read 64k 4";
	struct run_config config;
	struct workload w;
	struct fl_error err = {0};

	run_config_init(&config);
	config.machine.kernel = "ab4443fe3ca6";
	config.machine.memory = 4 << 20;
	config.machine.cpus = 8;
	config.disk = "nvme";
	config.size = 2 << 20;
	config.schedule = 3;
	assert_int_equal(workload_parse(&w, "-e", ops, strlen(ops), &err), 0);
	assert_int_equal(run_open(&config, &rec.run, &err), 0);
	assert_int_equal(run_recording_info(rec.run, &w, &rec.info), 0);
	assert_int_equal(tape_init(&rec.tape, 1 << 20), 0);
	trace_add_sink(&rec.run->machine->trace, &rec.tape.sink);
	if (run_tasks(rec.run, &w, &rec.tasks, &err))
		fail_msg("%s", err.text);
	trace_remove_sink(&rec.run->machine->trace, &rec.tape.sink);
	assert_int_equal(rec.tape.refused, 0);
	assert_int_equal(rec.info.cpus, 8);
	workload_fini(&w);
	return 0;
}

static int forget(void **state)
{
	tape_fini(&rec.tape);
	recording_info_fini(&rec.info);
	run_close(rec.run);
	return 0;
}

static void check_lru(const struct scene *s)
{
	unsigned int holders = 0, waiting = 0;

	for (unsigned int i = 0; i < SCENE_CPUS; i++) {
		const struct scene_cpu *cpu = &s->state.cpu[i];

		holders += (cpu->held & LRU_BIT) != 0;
		waiting += cpu->does == SCENE_WAITS && cpu->lock == LOCK_LRU_LOCK;
	}
	assert_true(holders <= 1);
	assert_int_equal(holders, s->state.lock[LOCK_LRU_LOCK].holders);
	assert_int_equal(waiting, s->state.lock[LOCK_LRU_LOCK].waiting);
}

/* At every moment; a CPU that begins to wait names the one that has the lock. */
static void test_one_has_lru_lock(void **state)
{
	struct trace_event ev;
	u64 waits = 0, waited = 0;
	struct scene s;

	assert_int_equal(scene_init(&s, &rec.tape, &rec.info), 0);
	while (scene_forward(&s)) {
		check_lru(&s);
		assert_true(scene_event(&s, &ev));
		if (ev.id == EV_fl_lock_wait && ev.a == LOCK_LRU_LOCK) {
			const struct scene_cpu *cpu = &s.state.cpu[ev.cpu];

			assert_int_equal(cpu->does, SCENE_WAITS);
			assert_int_not_equal(cpu->holder, ev.cpu);
			waits++;
		}
	}
	/* Nobody has or wants anything at the end, and the accounts are the scheduler's. */
	for (unsigned int i = 0; i < 9; i++) {
		assert_int_equal(s.state.cpu[i].does, SCENE_ENDED);
		assert_int_equal(s.state.cpu[i].held, 0);
	}
	for (unsigned int i = 0; i < rec.tasks.nr_sites; i++)
		if (rec.tasks.sites[i].id == LOCK_LRU_LOCK) {
			waited += rec.tasks.sites[i].contended;
		}
	assert_true(waits > 20);
	assert_int_equal(waits, waited);
	scene_fini(&s);
}

/* Anywhere by any way: the same lanes. */
static void test_time_travel(void **state)
{
	struct scene s, fresh;
	u64 n = rec.tape.events;

	assert_int_equal(scene_init(&s, &rec.tape, &rec.info), 0);
	for (unsigned int i = 0; i < 60; i++) {
		u64 pos = (i * 7919ull * 31) % n;

		assert_int_equal(scene_goto(&s, pos), 0);
		for (unsigned int back = 0; back < 5 && s.pos; back++)
			assert_true(scene_back(&s));
		assert_int_equal(scene_init(&fresh, &rec.tape, &rec.info), 0);
		while (fresh.pos < s.pos)
			assert_true(scene_forward(&fresh));
		assert_memory_equal(s.state.cpu, fresh.state.cpu, sizeof(s.state.cpu));
		assert_memory_equal(s.state.lock, fresh.state.lock, sizeof(s.state.lock));
		scene_fini(&fresh);
	}
	scene_fini(&s);
}

/* Is there a text in the panel that begins so? */
static bool says(const struct gui *g, const char *start)
{
	for (size_t i = 0; i < g->draw.nr; i++) {
		const struct draw_command *c = &g->draw.commands[i];

		if (c->type == DRAW_TEXT && box_has(g->boxes[PANEL_LANES], c->box.x, c->box.y) &&
		    !strncmp(draw_text_of(&g->draw, c), start, strlen(start)))
			return true;
	}
	return false;
}

static void test_the_window_says_it(void **state)
{
	static const struct tui_options options;
	const struct tui_machine machine = {.tape = &rec.tape, .info = &rec.info};
	struct font *font = font_builtin();
	unsigned int waits = 0;
	struct gui g;

	assert_non_null(font);
	assert_int_equal(gui_init(&g, &machine, 1, &options, font, NULL), 0);
	assert_int_equal(gui_lanes(&g), 8);
	for (u64 pos = 100; pos < rec.tape.events; pos += rec.tape.events / 40) {
		tui_goto(&g.view, pos);
		gui_draw(&g, 1600, 1000);
		for (unsigned int i = 0; i < 8; i++) {
			const struct scene_cpu *cpu = &g.view.machines[0].scene.state.cpu[i];
			char want[60];

			snprintf(want, sizeof(want), "CPU %-2u %s%s", i,
				 cpu->does == SCENE_WAITS    ? "waits for "
				 : cpu->does == SCENE_RUNS   ? "runs"
				 : cpu->does == SCENE_SLEEPS ? "sleeps"
				 : cpu->does == SCENE_ENDED  ? "is done"
							     : "has no task yet",
				 cpu->does == SCENE_WAITS ? lock_name(cpu->lock) : "");
			assert_true(says(&g, want));
			waits += cpu->does == SCENE_WAITS;
		}
	}
	assert_true(waits);
	gui_fini(&g);
	font_close(font);
}

/* Slices of locks on the tracks of @pid: how many, and how long in all. */
static void sum_slices(const cJSON *events, int pid, u64 *nr, u64 *ns)
{
	const cJSON *e;

	*nr = *ns = 0;
	cJSON_ArrayForEach(e, events)
	{
		const cJSON *cat = cJSON_GetObjectItem(e, "cat");

		if (!cJSON_IsString(cat) || strcmp(cat->valuestring, "lock") ||
		    cJSON_GetObjectItem(e, "pid")->valueint != pid)
			continue;
		++*nr;
		*ns += (u64)(cJSON_GetObjectItem(e, "dur")->valuedouble * 1000 + 0.5);
	}
}

static void test_perfetto_has_them(void **state)
{
	u64 waits = 0, waited = 0, holds = 0, held = 0, nr, ns;
	struct trace_event ev;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	cJSON *file;

	for (u64 i = 0; i < rec.tape.events; i++) {
		tape_get(&rec.tape, i, &ev);
		if (ev.id == EV_fl_lock_taken && ev.c) {
			waits++;
			waited += ev.c;
		} else if (ev.id == EV_fl_lock_released) {
			holds++;
			held += ev.c;
		}
	}
	assert_int_equal(perfetto_write(&rec.tape, &rec.info, f), 0);
	fclose(f);
	file = cJSON_Parse(text);
	assert_non_null(file);
	sum_slices(cJSON_GetObjectItem(file, "traceEvents"), 1, &nr, &ns);
	assert_true(nr);
	assert_int_equal(nr, waits);
	assert_int_equal(ns, waited);
	sum_slices(cJSON_GetObjectItem(file, "traceEvents"), 4, &nr, &ns);
	assert_int_equal(nr, holds);
	assert_int_equal(ns, held);
	cJSON_Delete(file);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_has_lru_lock),
		cmocka_unit_test(test_time_travel),
		cmocka_unit_test(test_the_window_says_it),
		cmocka_unit_test(test_perfetto_has_them),
	};

	return cmocka_run_group_tests(tests, record, forget);
}
