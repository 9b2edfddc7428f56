/*
 * Virtual CPUs: tasks go in the order of their clocks, locks are first come first served, waits
 * and holds are what a pencil says, what cannot go on is said, and a schedule gives one result.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fs/boot.h"
#include "machine/sched.h"

#define LINE_PS 64000ULL
#define NS	1000ULL

/* A machine of so many processors, and what its tasks write down. */
struct scene {
	struct machine *m;
	struct sched *s;
	struct lock lock, other;
	char log[400];
	u64 at[8];
};

struct actor {
	struct scene *sc;
	unsigned int nr;
	u64 begin_ns, hold_ns;
};

static void scene_open(struct scene *sc, unsigned int cpus, u64 schedule)
{
	struct machine_config config;
	struct fl_error err;

	memset(sc, 0, sizeof(*sc));
	machine_config_init(&config);
	config.memory = 16 << 20;
	config.cpus = cpus;
	assert_int_equal(machine_boot(&config, &sc->m, &err), 0);
	assert_int_equal(sc->m->cost_ps[COST_LOCK_LINE], LINE_PS);
	sc->s = sched_new(sc->m, schedule);
	assert_non_null(sc->s);
}

static void scene_close(struct scene *sc)
{
	sched_free(sc->s);
	machine_shutdown(sc->m);
}

static void spend(struct machine *m, u64 ns)
{
	m->clock_ps += ns * NS;
}

static void note(struct scene *sc, const char *fmt, unsigned int nr)
{
	size_t len = strlen(sc->log);

	snprintf(sc->log + len, sizeof(sc->log) - len, fmt, nr);
}

static const struct lock_site *site_of(struct scene *sc, const char *function)
{
	unsigned int nr;
	const struct lock_site *sites = sched_lock_sites(sc->s, &nr);

	for (unsigned int i = 0; i < nr; i++)
		if (sites[i].function && !strcmp(sites[i].function, function))
			return &sites[i];
	fail_msg("no lock was taken in %s", function);
	return NULL;
}

/* ---- order ---- */

static void three_steps(void *arg)
{
	struct actor *a = arg;

	for (unsigned int i = 0; i < 3; i++) {
		spend(a->sc->m, a->hold_ns);
		sched_point(a->sc->m);
		note(a->sc, "%u", a->nr);
	}
}

/* Steps end at 10 20 30 (task 0), 7 14 21 (task 1), 25 50 75 (task 2). */
static void test_order(void **state)
{
	struct scene sc;
	struct actor actors[] = {{&sc, 0, 0, 10}, {&sc, 1, 0, 7}, {&sc, 2, 0, 25}};

	scene_open(&sc, 3, 0);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(sched_spawn(sc.s, "t", false, three_steps, &actors[i]), 0);
	assert_int_equal(sched_run(sc.s, NULL), 0);
	assert_string_equal(sc.log, "101012022");
	assert_int_equal(sc.m->clock_ps, 75 * NS);
	assert_null(sc.m->sched);
	scene_close(&sc);
}

/* ---- spinlocks ---- */

static void hold_spinlock(void *arg)
{
	struct actor *a = arg;
	struct scene *sc = a->sc;

	spend(sc->m, a->begin_ns);
	lock_excl(sc->m, LRU_LOCK, &sc->lock);
	note(sc, "%u", a->nr);
	spend(sc->m, a->hold_ns);
	unlock_excl(sc->m, LRU_LOCK, &sc->lock);
	sc->at[a->nr] = sc->m->clock_ps;
}

/*
 * Task 2 has it from 0 to 100; task 0 came at 10, task 1 at 20. Each then pays 64 ns for the line:
 * released at 100, 264 and 428.
 */
static void test_first_come(void **state)
{
	struct scene sc;
	struct actor actors[] = {{&sc, 0, 10, 100}, {&sc, 1, 20, 100}, {&sc, 2, 0, 100}};
	const struct lock_site *site;
	struct cpu_times times;

	scene_open(&sc, 3, 0);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(sched_spawn(sc.s, "t", false, hold_spinlock, &actors[i]), 0);
	assert_int_equal(sched_run(sc.s, NULL), 0);
	assert_string_equal(sc.log, "201");
	assert_int_equal(sc.at[2], 100 * NS);
	assert_int_equal(sc.at[0], 264 * NS);
	assert_int_equal(sc.at[1], 428 * NS);
	site = site_of(&sc, "hold_spinlock");
	assert_int_equal(site->id, LOCK_LRU_LOCK);
	assert_int_equal(site->taken, 3);
	assert_int_equal(site->contended, 2);
	assert_int_equal(site->wait_ps, (90 + 244) * NS);
	assert_int_equal(site->max_wait_ps, 244 * NS);
	assert_int_equal(site->hold_ps, (100 + 164 + 164) * NS);
	times = sched_cpu_times(sc.s, 1);
	assert_int_equal(times.spin_ps, 244 * NS);
	assert_int_equal(times.run_ps, (20 + 164) * NS);
	assert_int_equal(sc.m->locks[LOCK_LRU_LOCK], 3);
	assert_int_equal(sc.m->cost_units[CONTEXT_TASK][COST_SPIN_WAIT], 90 + 244);
	scene_close(&sc);
}

/* Nobody else there: no wait, no line, whatever the number of processors. */
static void test_alone(void **state)
{
	struct scene sc;
	struct actor a = {&sc, 0, 5, 100};

	scene_open(&sc, 8, 0);
	assert_int_equal(sched_spawn(sc.s, "t", false, hold_spinlock, &a), 0);
	assert_int_equal(sched_run(sc.s, NULL), 0);
	assert_int_equal(sc.m->clock_ps, 105 * NS);
	assert_int_equal(site_of(&sc, "hold_spinlock")->contended, 0);
	scene_close(&sc);
}

/* ---- sleeping locks ---- */

static void hold_shared(void *arg)
{
	struct actor *a = arg;
	struct scene *sc = a->sc;

	spend(sc->m, a->begin_ns);
	lock_shared(sc->m, INVALIDATE_LOCK, &sc->lock);
	note(sc, "r%u", a->nr);
	spend(sc->m, a->hold_ns);
	unlock_shared(sc->m, INVALIDATE_LOCK, &sc->lock);
}

static void hold_exclusive(void *arg)
{
	struct actor *a = arg;
	struct scene *sc = a->sc;

	lock_excl(sc->m, INVALIDATE_LOCK, &sc->other); /* the lock is known to have writers */
	unlock_excl(sc->m, INVALIDATE_LOCK, &sc->other);
	spend(sc->m, a->begin_ns);
	lock_excl(sc->m, INVALIDATE_LOCK, &sc->lock);
	note(sc, "w%u", a->nr);
	sc->at[a->nr] = sc->m->clock_ps;
	spend(sc->m, a->hold_ns);
	unlock_excl(sc->m, INVALIDATE_LOCK, &sc->lock);
}

/* Two readers share, the writer waits for both, a reader that comes later waits behind him. */
static void test_readers_and_writer(void **state)
{
	struct scene sc;
	struct actor readers[] = {{&sc, 0, 30, 1000}, {&sc, 1, 20, 2000}, {&sc, 3, 300, 10}};
	struct actor writer = {&sc, 2, 50, 500};
	const struct lock_site *site;

	scene_open(&sc, 4, 0);
	assert_int_equal(sched_spawn(sc.s, "w", false, hold_exclusive, &writer), 0);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(sched_spawn(sc.s, "r", false, hold_shared, &readers[i]), 0);
	assert_int_equal(sched_run(sc.s, NULL), 0);
	assert_string_equal(sc.log, "r1r0w2r3");
	/* Reader 1 took it at 20 and reader 0 behind it pays for the line; 2020 is the later end.
	 */
	site = site_of(&sc, "hold_exclusive");
	assert_int_equal(site->wait_ps, (2020 - 50) * NS);
	assert_int_equal(sched_cpu_times(sc.s, 0).sleep_ps, (2020 - 50) * NS);
	assert_int_equal(sched_cpu_times(sc.s, 0).spin_ps, 0);
	scene_close(&sc);
}

/* ---- what cannot go on ---- */

static void ab(void *arg)
{
	struct actor *a = arg;
	struct scene *sc = a->sc;
	struct lock *first = a->nr ? &sc->other : &sc->lock;
	struct lock *second = a->nr ? &sc->lock : &sc->other;

	lock_excl(sc->m, XA_LOCK, first);
	spend(sc->m, 10);
	lock_excl(sc->m, LRU_LOCK, second);
}

static void test_deadlock(void **state)
{
	struct scene sc;
	struct actor actors[] = {{&sc, 0, 0, 0}, {&sc, 1, 0, 0}};
	struct fl_error err = {0};

	scene_open(&sc, 2, 0);
	assert_int_equal(sched_spawn(sc.s, "task 0", false, ab, &actors[0]), 0);
	assert_int_equal(sched_spawn(sc.s, "task 1", false, ab, &actors[1]), 0);
	assert_int_equal(sched_run(sc.s, &err), -EDEADLK);
	assert_string_equal(err.text,
			    "deadlock: task 0 waits for lru_lock, task 1 waits for lru_lock");
	scene_close(&sc);
}

static void for_ever(void *arg)
{
	struct scene *sc = arg;

	sched_op_begin(sc->m);
	for (;;) {
		spend(sc->m, 1000000000);
		sc->at[0]++;
		sched_point(sc->m);
	}
}

/* kernel/watchdog.c: 22 seconds with the default threshold of 10. */
static void test_soft_lockup(void **state)
{
	struct scene sc;
	struct fl_error err = {0};

	scene_open(&sc, 2, 0);
	assert_int_equal(sched_spawn(sc.s, "task 0", false, for_ever, &sc), 0);
	assert_int_equal(sched_run(sc.s, &err), -ETIME);
	assert_string_equal(err.text, "soft lockup: CPU 0 stuck in one call of task 0");
	assert_int_equal(sc.at[0], 22);
	scene_close(&sc);
}

/* ---- daemons, sleepers ---- */

static void daemon_counts(void *arg)
{
	struct scene *sc = arg;

	while (!sched_should_stop(sc->m)) {
		sched_wait(sc->m, &sc->log);
		sc->at[1] = sc->m->clock_ps;
		sc->at[0]++;
	}
}

static void wake_twice(void *arg)
{
	struct scene *sc = arg;

	for (unsigned int i = 0; i < 2; i++) {
		spend(sc->m, 100);
		sched_point(sc->m);
		sched_wake(sc->m, &sc->log);
	}
}

/* Woken at 100 and 200, then asked to stop; its clock never runs ahead of who wakes it. */
static void test_daemon(void **state)
{
	struct scene sc;

	scene_open(&sc, 1, 0);
	assert_int_equal(sched_spawn(sc.s, "worker", false, wake_twice, &sc), 0);
	assert_int_equal(sched_spawn(sc.s, "daemon", true, daemon_counts, &sc), 0);
	assert_int_equal(sched_run(sc.s, NULL), 0);
	assert_int_equal(sc.at[0], 2);
	assert_int_equal(sc.at[1], 200 * NS);
	assert_int_equal(sched_cpu_times(sc.s, 1).sleep_ps, 200 * NS);
	scene_close(&sc);
}

/* ---- schedules ---- */

static void play_schedule(u64 schedule, char *log, u64 *clock)
{
	struct scene sc;
	struct actor actors[5];

	scene_open(&sc, 5, schedule);
	for (unsigned int i = 0; i < 5; i++) {
		actors[i] = (struct actor){&sc, i, 10 * i, 40 + i};
		assert_int_equal(sched_spawn(sc.s, "t", false, i % 2 ? hold_spinlock : three_steps,
					     &actors[i]),
				 0);
	}
	assert_int_equal(sched_run(sc.s, NULL), 0);
	strcpy(log, sc.log);
	*clock = sc.m->clock_ps;
	scene_close(&sc);
}

static void test_schedules(void **state)
{
	char calm[400], a[400], b[400];
	u64 calm_clock, clock_a, clock_b;
	unsigned int others = 0;

	play_schedule(0, calm, &calm_clock);
	for (u64 schedule = 1; schedule <= 20; schedule++) {
		play_schedule(schedule, a, &clock_a);
		play_schedule(schedule, b, &clock_b);
		assert_string_equal(a, b);
		assert_int_equal(clock_a, clock_b);
		assert_true(clock_a >= calm_clock);
		others += strcmp(a, calm) != 0;
	}
	assert_in_range(others, 4, 20);
}

/* As many as there may be; the one past that is refused. */
static void test_most(void **state)
{
	struct scene sc;
	struct actor a = {&sc, 0, 0, 1};

	scene_open(&sc, MACHINE_MAX_CPUS, 0);
	for (unsigned int i = 0; i < SCHED_MAX_CPUS; i++)
		assert_int_equal(sched_spawn(sc.s, "t", false, hold_spinlock, &a), 0);
	assert_int_equal(sched_spawn(sc.s, "t", false, hold_spinlock, &a), -E2BIG);
	assert_int_equal(sched_run(sc.s, NULL), 0);
	assert_int_equal(sc.m->clock_ps, (255 + 254 * 64) * NS);
	scene_close(&sc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),	 cmocka_unit_test(test_first_come),
		cmocka_unit_test(test_alone),	 cmocka_unit_test(test_readers_and_writer),
		cmocka_unit_test(test_deadlock), cmocka_unit_test(test_soft_lockup),
		cmocka_unit_test(test_daemon),	 cmocka_unit_test(test_schedules),
		cmocka_unit_test(test_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
