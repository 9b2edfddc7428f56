/*
 * fs/test_move_extent.c - online defragmentation.
 *
 * Proves the handles and credits of section 6 of the specification, seen on real kernels: what a
 * large folio costs while it is moved page by page, and what moving it whole saves; that the data
 * stays what it is; and what the call refuses.
 */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "block/blkdev.h"
#include "fs/ext4/ondisk.h"
#include "fs/journal_log.h"
#include "fs/read_write.h"
#include "fs/super.h"
#include "mm/internal.h"

static struct journal_log log_;

#define MB(n) ((u64)(n) << 20)

/* A file of 1 MiB, written in one call and synced, and a donor of the same size. */
static struct run *open_pair(const char *kernel, unsigned int block_size, u64 fs_bytes,
			     struct inode **donor, struct file **file)
{
	struct run_config config = file_config(kernel, "ext4");
	struct run *run;

	config.block_size = block_size;
	config.fs_bytes = fs_bytes;
	config.machine.data = true;
	config.disk = "ram";
	run = scene_open(&config);
	scene_play(run, "pwrite 0 1m; fsync");
	assert_int_equal(new_inode(run->sb, 1 << 20, true, donor), 0);
	*file = filp_open(*donor);
	return run;
}

static void close_pair(struct run *run, struct file *file)
{
	struct inode *donor = file->f_inode;

	fput(file);
	evict_inode(donor);
	scene_close(run);
}

static int move_all(struct run *run, struct inode *donor)
{
	int ret;

	journal_log_begin(&log_, run);
	ret = ext4_move_extents(run->inode, donor, 0, 0, MB(1) >> run->inode->i_blkbits);
	journal_log_end(&log_, run);
	return ret;
}

static void expect_data(struct run *run)
{
	static char got[1 << 20], want[1 << 20];

	scene_play(run, "fsync; fadvise dontneed 0 0");
	assert_int_equal(run->inode->i_data.nrpages, 0);
	run_fill_pattern(1, 0, want, sizeof(want));
	assert_int_equal(ksys_pread64(run->files[0], got, sizeof(got), 0), sizeof(got));
	assert_memory_equal(got, want, sizeof(got));
}

/* Proves: a page a handle, and one more with a commit for each further page of a large folio. */
static void test_page_by_page(void **state)
{
	static const struct {
		const char *kernel;
		unsigned int handles, commits;
	} rows[] = {{"v6.12.y", 256, 0}, {"v6.16.y", 511, 255}, {"v6.18", 511, 255}};

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct inode *donor;
		struct file *file;
		struct run *run = open_pair(rows[i].kernel, 4096, MB(2048), &donor, &file);
		u64 before = run->inode->i_extents[0].pblk, theirs = donor->i_extents[0].pblk;

		assert_int_equal(move_all(run, donor), 0);
		assert_int_equal(log_.nr_handles, rows[i].handles);
		assert_int_equal(log_.nr_commits, rows[i].commits);
		assert_int_equal(run->inode->i_nr_extents, 1);
		assert_int_equal(run->inode->i_extents[0].pblk, theirs);
		assert_int_equal(donor->i_extents[0].pblk, before);
		expect_data(run);
		close_pair(run, file);
	}
}

/* Proves: what is not cached comes in as pages, each block a read of its own. */
static void test_uncached(void **state)
{
	struct inode *donor;
	struct file *file;
	struct run *run = open_pair("v6.18", 4096, MB(2048), &donor, &file);
	struct bio_list bios;

	scene_play(run, "fadvise dontneed 0 0");
	bio_list_begin(&bios, run);
	assert_int_equal(move_all(run, donor), 0);
	assert_string_equal(bio_list_end(&bios, run), "4K*256");
	assert_int_equal(log_.nr_handles, 256);
	assert_string_equal(file_orders(run, 0, 255), "256*o0");
	expect_data(run);
	close_pair(run, file);
}

/* Proves: from 6.19 on the shorter of two folios moves; equal ones in one step. */
static void test_folio_by_folio(void **state)
{
	struct inode *donor;
	struct file *file;
	struct run *run = open_pair("v7.3", 4096, MB(2048), &donor, &file);
	char byte;

	assert_int_equal(vfs_fadvise(file, 0, 0, POSIX_FADV_RANDOM_), 0);
	assert_int_equal(ksys_pread64(file, &byte, 1, 0), 1);
	assert_int_equal(donor->i_data.nrpages, 1);
	assert_int_equal(move_all(run, donor), 0);
	assert_int_equal(log_.nr_handles, 17);
	assert_int_equal(log_.nr_commits, 8);
	expect_data(run);
	close_pair(run, file);

	run = open_pair("v7.3", 4096, MB(2048), &donor, &file);
	assert_int_equal(move_all(run, donor), 0);
	assert_int_equal(log_.nr_handles, 1);
	expect_data(run);
	close_pair(run, file);
}

/* Proves the credits of a step. */
static void test_credits(void **state)
{
	static const struct {
		const char *kernel;
		unsigned int block_size;
		u32 credits;
	} rows[] = {
		{"v6.12.y", 4096, 56}, {"v6.16.y", 4096, 60},  {"v6.18", 4096, 60},
		{"v7.3", 4096, 60},    {"v6.12.y", 1024, 104}, {"v6.16.y", 1024, 108},
		{"v6.18", 1024, 108},  {"v7.3", 1024, 82},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct inode *donor;
		struct file *file;
		struct run *run =
			open_pair(rows[i].kernel, rows[i].block_size,
				  rows[i].block_size == 1024 ? MB(1536) : MB(2048), &donor, &file);

		assert_int_equal(move_all(run, donor), 0);
		for (unsigned int k = 0; k < log_.nr_handles; k++)
			assert_int_equal(log_.handles[k].credits, rows[i].credits);
		close_pair(run, file);
	}
}

/* Proves what is refused: other offsets in the page, itself, nothing, data that is journalled. */
static void test_refused(void **state)
{
	static const struct {
		unsigned int block_size;
		int ret;
	} rows[] = {{1024, -EINVAL}, {4096, 0}};
	struct run_config config = file_config("v6.18", "ext4");
	struct inode *donor;
	struct file *file;
	struct run *run;

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		run = open_pair("v6.18", rows[i].block_size, MB(2048), &donor, &file);
		assert_int_equal(ext4_move_extents(run->inode, donor, 0, 1, 8), rows[i].ret);
		assert_int_equal(ext4_move_extents(run->inode, run->inode, 0, 0, 8), -EINVAL);
		assert_int_equal(ext4_move_extents(run->inode, donor, 0, 0, 0), -EINVAL);
		close_pair(run, file);
	}
	config.mount_options = "data=journal";
	run = scene_open(&config);
	scene_play(run, "pwrite 0 64k; fsync; defrag");
	assert_int_equal(run->last_error, -EOPNOTSUPP);
	scene_close(run);
}

/* Proves the operation: a file in pieces becomes one extent and keeps its bytes. */
static void test_defrag(void **state)
{
	for (unsigned int i = 0; profile_info(i); i++) {
		struct run_config config = file_config(profile_info(i)->name, "ext4");
		struct run *run;
		u64 free_before;

		config.extent_blocks = 5;
		config.machine.data = true;
		config.disk = "ram";
		run = scene_open(&config);
		scene_play(run, "pwrite 0 1m; fsync");
		assert_int_equal(run->inode->i_nr_extents, 52);
		free_before = ext4_count_free_blocks(run->sb);
		scene_play(run, "defrag; fsync");
		assert_int_equal(run->errors, 0);
		assert_int_equal(run->inode->i_nr_extents, 1);
		assert_int_equal(ext4_count_free_blocks(run->sb), free_before);
		expect_data(run);
		scene_close(run);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_page_by_page),   cmocka_unit_test(test_uncached),
		cmocka_unit_test(test_folio_by_folio), cmocka_unit_test(test_credits),
		cmocka_unit_test(test_refused),	       cmocka_unit_test(test_defrag),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
