/*
 * Lanes: what the scene says every CPU does, holds and waits for, against the rules of locks (one
 * has lru_lock, and who waits says who has it) and against a fresh replay from the start.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "lab/run_record.h"
#include "lab/run_tasks.h"
#include "mm/internal.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_has_lru_lock),
		cmocka_unit_test(test_time_travel),
	};

	return cmocka_run_group_tests(tests, record, forget);
}
