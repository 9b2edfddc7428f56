/*
 * fs/test_buffer.c - the state a folio keeps for each of its blocks: buffer heads and iomap's bits.
 *
 * Proves who attaches and frees it, what a write in part leaves behind, and that a store through a
 * mapping makes a whole folio dirty (3.7 of the specification).
 */
#include "unit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "block/blkdev.h"
#include "fs/files.h"
#include "fs/iomap/ifs.h"
#include "mm/internal.h"

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct run *open_blocks(const char *kernel, const char *fs, unsigned int block_size)
{
	struct run_config config = file_config(kernel, fs);

	config.block_size = block_size;
	config.machine.data = true;
	config.machine.memory = 64 << 20;
	return scene_open(&config);
}

/* The folio at @index, which must be cached; the cache keeps it. */
static struct folio *cached(struct run *run, pgoff_t index)
{
	struct folio *folio = filemap_get_folio(run->inode->i_mapping, index);

	assert_non_null(folio);
	folio_put(folio);
	return folio;
}

/* "UD ud ..": each block's uptodate and dirty, dots for neither. */
static const char *heads(const struct folio *folio)
{
	static char text[256];
	const struct buffer_head *bh = folio_buffers(folio);
	unsigned int nr = blocks_per_folio(folio->mapping->host, folio);
	size_t len = 0;

	assert_non_null(bh);
	for (unsigned int i = 0; i < nr; i++) {
		text[len++] = buffer_uptodate(&bh[i]) ? 'U' : '.';
		text[len++] = buffer_dirty(&bh[i]) ? 'D' : '.';
		text[len++] = i + 1 < nr ? ' ' : 0;
	}
	return text;
}

/* Proves that only the blocks a write touches become uptodate and dirty, until all are. */
static void test_written_in_part(void **state)
{
	struct run *run = open_blocks("v6.18", "ext4", 1024);
	struct folio *folio;

	scene_play(run, "pwrite 1k 1k");
	folio = cached(run, 0);
	assert_string_equal(heads(folio), ".. UD .. ..");
	assert_false(folio_test_uptodate(folio));
	assert_true(block_is_partially_uptodate(folio, 1024, 1024));
	assert_false(block_is_partially_uptodate(folio, 1024, 1025));
	assert_false(block_is_partially_uptodate(folio, 0, 4096));
	scene_play(run, "pwrite 2k 1025");
	assert_string_equal(heads(folio), ".. UD UD UD");
	assert_false(folio_test_uptodate(folio));
	scene_play(run, "pwrite 0 100");
	assert_string_equal(heads(folio), "UD UD UD UD");
	assert_true(folio_test_uptodate(folio));
	scene_play(run, "fsync");
	assert_string_equal(heads(folio), "U. U. U. U.");
	scene_close(run);
}

/* Proves that heads stay while a block is dirty and go with everything clean. */
static void test_freeing_buffers(void **state)
{
	struct run *run = open_blocks("v6.18", "ext4", 4096);
	struct folio *folio;
	u64 live;

	scene_play(run, "pwrite 0 64k");
	folio = cached(run, 0);
	live = run->machine->mm->slab.live;
	assert_int_equal(folio_ref_count(folio), 16 + 1);
	assert_false(try_to_free_buffers(folio));
	assert_ptr_equal(create_empty_buffers(folio), folio_buffers(folio));
	scene_play(run, "fsync");
	folio_lock(folio);
	set_buffer_locked(folio_buffers(folio));
	assert_false(try_to_free_buffers(folio));
	clear_buffer_locked(folio_buffers(folio));
	assert_true(try_to_free_buffers(folio));
	assert_null(folio_buffers(folio));
	assert_int_equal(run->machine->mm->slab.live, live - 1);
	assert_int_equal(folio_ref_count(folio), 16);
	assert_true(try_to_free_buffers(folio));
	assert_non_null(create_empty_buffers(folio));
	assert_true(buffer_uptodate(folio_buffers(folio) + 15));
	folio_unlock(folio);
	scene_close(run);
}

/* Proves that a cut inside a folio forgets whole blocks only. */
static void test_invalidating(void **state)
{
	struct run *run = open_blocks("v6.12.y", "ext4", 1024);
	struct folio *folio;

	scene_play(run, "pwrite 0 4k");
	folio = cached(run, 0);
	block_invalidate_folio(folio, 1500, 2596);
	assert_string_equal(heads(folio), "UD UD U. U.");
	assert_true(buffer_mapped(folio_buffers(folio) + 1));
	assert_false(buffer_mapped(folio_buffers(folio) + 2));
	scene_close(run);
}

/* Proves the same for iomap's bits: uptodate and dirty by block, attached only if needed. */
static void test_ifs(void **state)
{
	struct run *run = open_blocks("v6.18", "xfs", 1024);
	struct folio *folio;

	scene_play(run, "pwrite 1k 1k");
	folio = cached(run, 0);
	assert_non_null(folio_ifs(folio));
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(ifs_block_is_uptodate(folio, i), i == 1);
		assert_int_equal(ifs_block_is_dirty(folio, i), i == 1);
	}
	assert_false(folio_test_uptodate(folio));
	scene_play(run, "pwrite 0 4k");
	assert_true(folio_test_uptodate(folio));
	assert_true(ifs_block_is_dirty(folio, 3));
	assert_false(iomap_release_folio(folio, GFP_KERNEL));
	scene_play(run, "fsync");
	assert_false(ifs_block_is_dirty(folio, 1));
	assert_true(iomap_release_folio(folio, GFP_KERNEL));
	assert_null(folio_ifs(folio));
	assert_true(iomap_is_partially_uptodate(folio, 0, 4096) == false);
	scene_close(run);
	run = open_blocks("v6.18", "xfs", 4096);
	scene_play(run, "pwrite 0 4k; pwrite 64k 64k; pwrite 200k 1");
	assert_null(folio_ifs(cached(run, 0)));
	assert_null(folio_ifs(cached(run, 16)));
	assert_int_equal(run->machine->mm->slab.live, 0);
	scene_close(run);
}

/* Proves 3.4: of a folio written in part at most the first and the last block are read. */
static void test_blocks_read_for_a_write(void **state)
{
	for (const char *const *fs = LIST("ext4", "xfs"); *fs; fs++) {
		struct run_config config = file_config("v6.18", *fs);
		struct bio_list bios;
		struct run *run;

		config.block_size = 1024;
		config.size = 64 << 10;
		config.disk = "ram";
		config.written = true;
		run = scene_open(&config);
		bio_list_begin(&bios, run);
		scene_play(run, "pwrite 100 3000");
		assert_string_equal(bio_list_end(&bios, run), "1K*2");
		bio_list_begin(&bios, run);
		scene_play(run, "pwrite 8k 2k");
		assert_string_equal(bio_list_end(&bios, run), "");
		scene_close(run);
	}
}

/* Proves 3.7: one stored byte in a clean 2 MiB folio writes 2 MiB back, and 4K where it is new. */
static void test_store_dirties_the_folio(void **state)
{
	for (const char *const *fs = LIST("ext4", "xfs"); *fs; fs++)
		for (const char *const *k = LIST("v6.16.y", "v6.18", "v7.3"); *k; k++) {
			struct run_config config = file_config(*k, *fs);
			struct run *run = scene_open(&config);
			u64 sectors;

			scene_play(run, "pwrite 0 2m; fsync; mmap; wtouch 1m");
			assert_string_equal(file_orders(run, 0, 511), "1*o9");
			sectors = run->sb->s_bdev->stats.sectors;
			scene_play(run, "fsync");
			assert_int_equal(run->sb->s_bdev->stats.sectors - sectors, 4096);
			scene_play(run, "munmap; ftruncate 4m; mmap; wtouch 3m");
			assert_true(folio_test_dirty(cached(run, 768)));
			scene_play(run, "munmap");
			scene_close(run);
		}
}

/* Proves 4.4: of a clean folio only the dirty blocks are written, one bio where they touch. */
static void test_only_dirty_blocks(void **state)
{
	struct run_config config = file_config("v6.18", "ext4");
	struct run *run = scene_open(&config);
	struct bio_list bios;

	scene_play(run, "pwrite 0 2m; fsync; pwrite 1m 4k");
	bio_list_begin(&bios, run);
	scene_play(run, "fsync");
	assert_string_equal(bio_list_end(&bios, run), "4K");
	for (unsigned int i = 0; i < 512; i += 2) {
		char op[40];

		snprintf(op, sizeof(op), "pwrite %u 4k", i * 4096);
		scene_play(run, op);
	}
	bio_list_begin(&bios, run);
	scene_play(run, "fsync");
	assert_string_equal(bio_list_end(&bios, run), "4K*256");
	scene_close(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_written_in_part),
		cmocka_unit_test(test_freeing_buffers),
		cmocka_unit_test(test_invalidating),
		cmocka_unit_test(test_ifs),
		cmocka_unit_test(test_blocks_read_for_a_write),
		cmocka_unit_test(test_store_dirties_the_folio),
		cmocka_unit_test(test_only_dirty_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
