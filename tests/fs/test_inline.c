/*
 * fs/test_inline.c - data in the inode: which files stay inline, and that they need no I/O.
 *
 * What stays inline was seen with lsattr on a loop mount of mke2fs -O inline_data -I 256, kernel
 * 6.18.44, after sync.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "block/blkdev.h"
#include "fs/ext4/ext4.h"
#include "fs/files.h"
#include "lab/workload.h"

static const struct {
	const char *ops;
	bool inlined;
	s64 size;
} cases[] = {
	{"pwrite 0 60; fsync", true, 60},
	{"pwrite 0 61; fsync", true, 61},
	{"pwrite 0 128; fsync", true, 128},
	{"pwrite 0 129; fsync", false, 129},
	{"pwrite 0 40; pwrite 40 40; pwrite 80 40; fsync", true, 120},
	{"pwrite 0 127; fsync; pwrite 127 1; fsync", true, 128},
	{"pwrite 0 128; fsync; pwrite 128 1; fsync", false, 129},
	{"pwrite 100 1; fsync", true, 101},
	{"pwrite 130 1; fsync", false, 131},
	{"pwrite 0 3; fsync; ftruncate 10", true, 10},
	{"pwrite 0 3; ftruncate 60", true, 60},
	{"pwrite 0 3; ftruncate 61", false, 61},
	{"pwrite 0 100; fsync; ftruncate 110", false, 110},
	{"pwrite 0 100; fsync; ftruncate 90", true, 90},
	{"pwrite 0 100; ftruncate 0; pwrite 0 3", true, 3},
	{"ftruncate 10; pwrite 10 2; fsync", true, 12},
	{"ftruncate 5000; pwrite 2 1; fsync", true, 5000},
	{"pwrite 0 3; fallocate 0 10", false, 10},
	{"pwrite 0 6; punch 1 3", false, 6},
	{"fallocate 0 20", false, 20},
	{"pwrite 0 3; fsync; pwrite 3 5000; fsync; ftruncate 3", false, 3},
	{"pwrite 0 3; mmap; wtouch 0; fsync", false, 3},
	{"pwrite 0 3; mmap; touch 0; fsync", true, 3},
};

static void play(struct run *run, const char *ops)
{
	struct fl_error err = {0};
	struct workload w;

	assert_int_equal(workload_parse(&w, "test", ops, strlen(ops), &err), 0);
	if (run_workload(run, &w, &err))
		fail_msg("%s: %s", ops, err.text);
	workload_fini(&w);
}

static struct run *open_inline(const char *mount_options)
{
	struct run_config c = file_config("v6.18", "ext4");
	struct fl_error err = {0};
	struct run *run;

	c.features = "inline_data";
	c.mount_options = mount_options;
	c.machine.data = true;
	if (run_open(&c, &run, &err))
		fail_msg("%s", err.text);
	return run;
}

static void what_stays_inline(void **state)
{
	static const char *const mounts[] = {NULL, "nodelalloc", "data=journal"};

	(void)state;
	for (unsigned int m = 0; m < ARRAY_SIZE(mounts); m++) {
		for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
			struct run *run = open_inline(mounts[m]);
			struct bio_list bios;

			bio_list_begin(&bios, run);
			play(run, cases[i].ops);
			bio_list_end(&bios, run);
			if (ext4_has_inline_data(run->inode) != cases[i].inlined)
				fail_msg("%s: %sinline", cases[i].ops,
					 cases[i].inlined ? "not " : "");
			assert_int_equal(run->inode->i_size, cases[i].size);
			if (cases[i].inlined) {
				assert_int_equal(run->inode->i_nr_extents, 0);
				assert_int_equal(bios.nr, 0);
			}
			run_close(run);
		}
	}
}

struct text {
	char p[8192];
	size_t n;
};

static void take(void *ctx, const void *buf, size_t len)
{
	struct text *t = ctx;

	assert_true(t->n + len <= sizeof(t->p));
	memcpy(t->p + t->n, buf, len);
	t->n += len;
}

/* The cache is dropped in between: what is read comes from the inode, or from the block it became.
 */
static void bytes_come_back(void **state)
{
	static struct text t;
	char want[200] = {0};

	(void)state;
	for (int grow = 0; grow < 2; grow++) {
		struct run *run = open_inline(NULL);
		u64 before;

		play(run, "pwrite 0 50; pwrite 90 20; ftruncate 100; fsync");
		run_fill_pattern(1, 0, want, 50);
		memset(want + 50, 0, 40);
		run_fill_pattern(2, 90, want + 90, 10);
		memset(want + 100, 0, 50);
		if (grow) {
			play(run, "pwrite 150 50; fsync");
			run_fill_pattern(3, 150, want + 150, 50);
		}
		assert_int_equal(ext4_has_inline_data(run->inode), !grow);
		assert_int_equal(run_remount(run), 0);
		assert_int_equal(run->inode->i_data.nrpages, 0);
		before = run->sb->s_bdev->stats.bios;
		t.n = 0;
		run->consume = take;
		run->consume_ctx = &t;
		play(run, "read 64k");
		assert_int_equal(t.n, grow ? 200 : 100);
		assert_memory_equal(t.p, want, t.n);
		assert_int_equal(run->sb->s_bdev->stats.bios - before, grow);
		run_close(run);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_stays_inline),
		cmocka_unit_test(bytes_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
