/*
 * fs/test_limits.c - offsets, sizes and lengths at the ends of what numbers hold.
 *
 * Proves that a call near 2^63 or past a file system's largest file does what the kernel says
 * (EFBIG, a shorter write) or its work, and never overflows: UBSan is on.
 */
#include "unit.h"

#include <errno.h>
#include <inttypes.h>

#include "fs/falloc.h"
#include "fs/files.h"
#include "fs/read_write.h"
#include "mm/internal.h"

#define EXT4_MAX_4K (((1LL << 32) - 1) << 12)

static const s64 numbers[] = {
	0,
	1,
	4095,
	4096,
	(1LL << 32) - 1,
	EXT4_MAX_4K - 4096,
	EXT4_MAX_4K - 1,
	EXT4_MAX_4K,
	EXT4_MAX_4K + 1,
	(1LL << 46) - 1,
	1LL << 46,
	1LL << 62,
	INT64_MAX - 65536,
	INT64_MAX - 4096,
	INT64_MAX - 4095,
	INT64_MAX - 1,
	INT64_MAX,
};

static void play_number_pair(struct run *run, enum wl_op_type type, s64 off, s64 len)
{
	struct wl_op op = {.type = type, .off = off, .len = len, .n = 1, .advice = WL_ADV_DONTNEED};
	struct fl_error err = {0};

	if (type == WL_PWRITE || type == WL_PREAD || type == WL_READAHEAD)
		op.len = min(len, (s64)70000);
	/* 16 TiB are a hundred thousand extents: what fits into the file need not be as long. */
	if (type == WL_FALLOCATE && off <= EXT4_MAX_4K && len <= EXT4_MAX_4K - off)
		op.len = min(len, 1LL << 30);
	if (!op.len)
		op.len = 1;
	if (run_op(run, &op, &err))
		fail_msg("%s %s %" PRId64 " %" PRId64 ": %s", run->machine->kernel,
			 workload_op_name(type), off, len, err.text);
	if (run->last_error && run->last_error != -EFBIG && run->last_error != -ENOSPC &&
	    run->last_error != -EINVAL)
		fail_msg("%s %" PRId64 " %" PRId64 " failed with %d", workload_op_name(type), off,
			 len, run->last_error);
}

static void play_all_numbers(const char *kernel, const char *fs, unsigned int page_size)
{
	static const enum wl_op_type types[] = {WL_PWRITE, WL_PREAD,	WL_FTRUNCATE, WL_PUNCH,
						WL_PWRITE, WL_FSYNC,	WL_FALLOCATE, WL_FADVISE,
						WL_PREAD,  WL_READAHEAD};
	/* Every pair in the soak, a fifth of them else: files of 16 TiB take many transactions. */
	unsigned int step = soak_count(50) == 50 ? 1 : 5;
	struct run_config config = file_config(kernel, fs);
	struct run *run;

	config.machine.page_size = page_size;
	config.machine.memory = 256ULL << 20;
	run = scene_open(&config);
	for (unsigned int i = 0; i < ARRAY_SIZE(numbers); i++)
		for (unsigned int j = i % step; j < ARRAY_SIZE(numbers); j += step)
			for (unsigned int t = 0; t < ARRAY_SIZE(types); t++)
				play_number_pair(run, types[t], numbers[i], numbers[j]);
	lru_add_drain(run->machine);
	scene_close(run);
}

static void test_numbers(void **state)
{
	static const char *const fs[] = {"ext4", "ext4-1k", "xfs"};
	static const char *const kernels[] = {"v6.1.y", "v6.12.y", "v6.18", "v7.3"};

	for (unsigned int f = 0; f < ARRAY_SIZE(fs); f++)
		for (unsigned int k = 0; k < ARRAY_SIZE(kernels); k++) {
			play_all_numbers(kernels[k], fs[f], 4096);
			play_all_numbers(kernels[k], fs[f], 65536);
		}
}

/* Proves ext4's largest file: 2^32 - 1 blocks; what a write has beyond is not written. */
static void test_largest_file(void **state)
{
	struct run_config config = file_config("v6.18", "ext4");
	struct run *run = scene_open(&config);
	struct file *file = run_file(run);

	assert_int_equal(ksys_pwrite64(file, NULL, 8192, EXT4_MAX_4K - 4096), 4096);
	assert_true(run->inode->i_size == EXT4_MAX_4K);
	assert_int_equal(ksys_pwrite64(file, NULL, 1, EXT4_MAX_4K), -EFBIG);
	assert_int_equal(do_sys_ftruncate(file, EXT4_MAX_4K + 1), -EFBIG);
	assert_int_equal(do_sys_ftruncate(file, EXT4_MAX_4K), 0);
	assert_int_equal(vfs_fallocate(file, 0, EXT4_MAX_4K - 1, 2), -EFBIG);
	assert_int_equal(vfs_fallocate(file, FALLOC_FL_PUNCH_HOLE, INT64_MAX, 1), -EFBIG);
	assert_int_equal(do_sys_ftruncate(file, 0), 0);
	lru_add_drain(run->machine);
	scene_close(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_largest_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
