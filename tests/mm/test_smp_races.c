/*
 * Famous meetings of tasks, each as schedules that can be played again: threads that read through
 * one descriptor, a reader and a truncation, a split and a fault, readahead and reclaim, and the
 * split of a shadow entry that left a freed folio in the tree up to v6.9 (6758c1128ceb).
 */
#include "unit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lab/run_tasks.h"
#include "mm/internal.h"
#include "mm/mm.h"

#define SCHEDULES 25

static struct tasks_report report;

static struct run *open_run(const char *kernel, const char *fs, s64 size, u64 memory,
			    unsigned int cpus)
{
	struct run_config config;
	struct fl_error err = {0};
	struct run *run;

	run_config_init(&config);
	config.machine.kernel = kernel;
	config.machine.memory = memory;
	config.machine.cpus = cpus;
	config.machine.data = true;
	config.fs = fs;
	config.disk = "nvme";
	config.size = size;
	if (run_open(&config, &run, &err))
		fail_msg("%s", err.text);
	return run;
}

static void play(struct run *run, enum run_sharing sharing, u64 schedule, const char *ops)
{
	struct fl_error err = {0};
	struct workload w;

	run->config.sharing = sharing;
	run->config.schedule = schedule;
	assert_int_equal(workload_parse(&w, "ops", ops, strlen(ops), &err), 0);
	if (run_tasks(run, &w, &report, &err))
		fail_msg("schedule %" PRIu64 ": %s", schedule, err.text);
	workload_fini(&w);
}

/*
 * read(2) takes f_pos_lock where the descriptor is shared: together two threads get every byte
 * once, whoever gets which. Descriptors of their own: each gets all of them.
 */
static void test_one_descriptor(void **state)
{
	u64 first_got_most = 0;

	for (u64 schedule = 1; schedule <= SCHEDULES; schedule++) {
		struct run *run = open_run("v6.18", "ext4", 1 << 20, 64 << 20, 2);

		play(run, TASKS_THREADS, schedule, "task 0; read 4k 200; task 1; read 4k 200");
		assert_int_equal(report.bytes, 1 << 20);
		assert_int_equal(run->machine->mm->pages.brought[PROVENANCE_FORCED], 0);
		first_got_most += report.task[0].bytes > report.task[1].bytes;
		run_close(run);
	}
	assert_in_range(first_got_most, 1, SCHEDULES - 1);
}

/*
 * Everything, or what the truncation left, or (a read goes batch by batch) something in between;
 * never less, and the bytes are the file's: run_tasks() has looked at each.
 */
static void test_reader_and_truncation(void **state)
{
	const u64 whole = 2 * 4096 + (256 << 10), cut = 2 * 4096 + 100000;
	unsigned int shorter = 0;

	for (u64 schedule = 1; schedule <= SCHEDULES; schedule++) {
		struct run *run = open_run("v6.18", "ext4", 256 << 10, 64 << 20, 2);

		play(run, TASKS_SAME, schedule,
		     "pread 0 256k; task 0; pread 0 4k; pread 0 4k; pread 0 256k; "
		     "task 1; pread 0 4k; pread 0 4k; ftruncate 100000");
		assert_in_range(report.task[0].bytes, cut, whole);
		shorter += report.task[0].bytes < whole;
		assert_int_equal(run->inode->i_size, 100000);
		assert_null(filemap_get_folio(run->inode->i_mapping, 25));
		run_close(run);
	}
	assert_in_range(shorter, 1, SCHEDULES - 1);
}

/* A fault that waits for the lock holds the folio together; without one the split goes through. */
static void test_split_and_fault(void **state)
{
	unsigned int splits = 0, kept = 0;

	for (u64 schedule = 1; schedule <= SCHEDULES; schedule++) {
		struct run *run = open_run("v6.16", "ext4", 256 << 10, 64 << 20, 3);
		u64 n;

		play(run, TASKS_SAME, schedule,
		     "pread 0 256k; task 0; mmap; touch 80k; touch 96k 4k 20; task 1; punch 92k 4k; "
		     "task 2; mmap; touch 88k; touch 100k 8k 8");
		n = trace_total(&run->machine->trace, EV_fl_folio_split);
		splits += n != 0;
		kept += n == 0;
		run_close(run);
	}
	assert_true(splits > 0);
	assert_int_equal(splits + kept, SCHEDULES);
}

/* What is read ahead for one task goes for another before it was used: read again, never wrong. */
static void test_readahead_and_reclaim(void **state)
{
	unsigned int lost = 0;

	for (u64 schedule = 1; schedule <= SCHEDULES; schedule++) {
		struct run *run = open_run("v6.18", "xfs", 2 << 20, 1 << 20, 4);

		play(run, TASKS_OWN, schedule, "read 4k 512");
		assert_int_equal(report.bytes, 4 * (2 << 20));
		lost += run->machine->mm->pages.evicted_unused != 0;
		run_close(run);
	}
	assert_true(lost > 0);
}

/* ---- the split of a shadow entry ---- */

struct adding {
	struct run *run;
	struct folio *large;
	int ret;
	bool evicted, found;
};

/* Wants page 5, and prepares the split of the large folio it sees there. */
static void add_small(void *arg)
{
	struct adding *a = arg;
	struct machine *m = a->run->machine;
	struct folio *folio = filemap_alloc_folio(m, GFP_KERNEL, 0);

	m->clock_ps += 100000000; /* 100 us: the other task comes while the nodes are allocated */
	a->ret = filemap_add_folio(a->run->inode->i_mapping, folio, 5, GFP_KERNEL, PROVENANCE_SYNC);
	if (!a->ret)
		folio_end_read(folio, true);
	folio_put(folio);
	sched_op_begin(m);
	folio = filemap_get_folio(a->run->inode->i_mapping, 40);
	a->found = folio != NULL;
}

/* Reclaims the large folio meanwhile: its place gets a shadow entry of the same order. */
static void evict_large(void *arg)
{
	struct adding *a = arg;

	a->run->machine->clock_ps += 50000000;
	sched_point(a->run->machine);
	folio_get(a->large);
	a->evicted = reclaim_folio(a->large) != 0;
	folio_put(a->large);
}

static int race_for_split(const char *kernel, struct adding *a, struct fl_error *err)
{
	struct machine *m;
	struct sched *s;
	int ret;

	memset(a, 0, sizeof(*a));
	a->run = open_run(kernel, "xfs", 1 << 20, 64 << 20, 2);
	m = a->run->machine;
	a->large = filemap_alloc_folio(m, GFP_KERNEL, 6);
	assert_int_equal(filemap_add_folio(a->run->inode->i_mapping, a->large, 0, GFP_KERNEL,
					   PROVENANCE_SYNC),
			 0);
	folio_end_read(a->large, true);
	folio_put(a->large);
	s = sched_new(m, 0);
	assert_int_equal(sched_spawn(s, "adds", false, add_small, a), 0);
	assert_int_equal(sched_spawn(s, "reclaims", false, evict_large, a), 0);
	ret = sched_run(s, err);
	sched_free(s);
	assert_true(a->evicted);
	return ret;
}

/* Page 40 was never read again. v6.9 and before find the freed folio there, and look for ever. */
static void test_stale_siblings(void **state)
{
	struct fl_error err = {0};
	struct adding a;

	assert_int_equal(race_for_split("v6.12", &a, &err), 0);
	assert_int_equal(a.ret, 0);
	assert_false(a.found);
	run_close(a.run);

	assert_int_equal(race_for_split("v6.12-ADD_SPLIT_RECHECK", &a, &err), -ETIME);
	assert_string_equal(err.text, "soft lockup: CPU 0 stuck in one call of adds");
	a.run->broken = true;
	run_close(a.run);

	assert_int_equal(race_for_split("v6.7", &a, &err), -ETIME);
	a.run->broken = true;
	run_close(a.run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_descriptor),
		cmocka_unit_test(test_reader_and_truncation),
		cmocka_unit_test(test_split_and_fault),
		cmocka_unit_test(test_readahead_and_reclaim),
		cmocka_unit_test(test_stale_siblings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
