/*
 * fs/test_dirty_limits.c - when dirty data goes to disk unasked.
 *
 * Proves the limits of Documentation/admin-guide/sysctl/vm.rst as they are by default: from a tenth
 * of memory on the flusher writes, no more than a fifth is dirty or on its way, and what has been
 * dirty for 30 seconds goes out within the next 5; on ext4 and on XFS.
 */
#include "unit.h"

#include "block/blkdev.h"
#include "fs/files.h"
#include "mm/internal.h"

static const char *const fs[] = {"ext4", "xfs"};

static struct run *open_small(const char *name)
{
	struct run_config config = file_config("v6.18", name);

	config.machine.memory = 256 << 20;
	config.disk = "nvme";
	config.size = 0;
	return scene_open(&config);
}

static void test_limits(void **state)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(fs); i++) {
		struct run *run = open_small(fs[i]);
		const struct vm_counters *vm = &run->machine->mm->vm;
		const unsigned long pages = (256 << 20) / 4096;

		scene_play(run, "pwrite 0 1m 20");
		assert_int_equal(vm->nr_dirty, 20 * 256);
		assert_int_equal(run->sb->s_bdev->stats.bios, 0);
		scene_play(run, "pwrite 20m 1m 80");
		assert_true(run->sb->s_bdev->stats.bios > 0);
		assert_true(vm->nr_dirty <= pages / 10 + 512);
		assert_true(vm->nr_dirty + vm->nr_writeback <= pages / 5 + 512);
		scene_close(run);
	}
}

static void test_old_data(void **state)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(fs); i++) {
		struct run *run = open_small(fs[i]);
		const struct vm_counters *vm = &run->machine->mm->vm;

		scene_play(run, "pwrite 0 1m");
		run->machine->clock_ps += 29 * 1000000000000ULL;
		scene_play(run, "pwrite 1m 4k");
		assert_int_equal(vm->nr_dirty, 257);
		run->machine->clock_ps += 6 * 1000000000000ULL;
		scene_play(run, "pwrite 2m 4k");
		assert_int_equal(vm->nr_dirty, 1);
		scene_close(run);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_old_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
