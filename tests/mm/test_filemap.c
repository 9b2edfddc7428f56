/*
 * mm/test_filemap.c - the page cache itself: in, out, search, read, split.
 *
 * Proves section 2 and 3.2 of readahead.md and section 5 of write-side.md on caches laid out by
 * hand: what every version's search returns, when a folio counts as accessed, how long a batch is,
 * what NOWAIT and NOIO refuse, which pieces a cut leaves, and that the bytes survive it.
 */
#include "unit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "block/blkdev.h"
#include "mm/internal.h"
#include "mm/scene.h"

/* Put an uptodate folio of @order at @index. */
static struct folio *put_folio(struct run *run, pgoff_t index, unsigned int order)
{
	struct folio *folio = filemap_alloc_folio(run->machine, GFP_KERNEL, order);

	assert_non_null(folio);
	assert_int_equal(filemap_add_folio(run->inode->i_mapping, folio, index, GFP_KERNEL,
					   PROVENANCE_FORCED),
			 0);
	folio_end_read(folio, true);
	folio_put(folio);
	return folio;
}

static void put_pages(struct run *run, pgoff_t first, pgoff_t last)
{
	for (; first <= last; first++)
		put_folio(run, first, 0);
}

static struct run *open_scene(const char *kernel)
{
	struct run_config config = scene_config(kernel);

	return scene_open(&config);
}

/* ---- in and out ---- */

static void test_add_and_remove(void **state)
{
	struct run *run = open_scene("v6.18");
	struct address_space *mapping = run->inode->i_mapping;
	struct folio *folio = put_folio(run, 4, 2), *other, *found;

	assert_int_equal(mapping->nrpages, 4);
	assert_int_equal(run->machine->mm->vm.nr_file_pages, 4);
	assert_int_equal(folio_pos(folio), 4 * 4096);
	for (pgoff_t i = 4; i < 8; i++) {
		found = filemap_get_folio(mapping, i);
		assert_ptr_equal(found, folio);
		folio_put(found);
	}
	assert_null(filemap_get_folio(mapping, 3));
	assert_null(filemap_get_folio(mapping, 8));
	/* Any overlap is refused, and the refused folio is as it was. */
	other = filemap_alloc_folio(run->machine, GFP_KERNEL, 0);
	assert_int_equal(filemap_add_folio(mapping, other, 6, GFP_KERNEL, PROVENANCE_FORCED),
			 -EEXIST);
	assert_null(other->mapping);
	assert_false(folio_test_locked(other));
	assert_int_equal(folio_ref_count(other), 1);
	folio_put(other);
	other = filemap_alloc_folio(run->machine, GFP_KERNEL, 4);
	assert_int_equal(filemap_add_folio(mapping, other, 0, GFP_KERNEL, PROVENANCE_FORCED),
			 -EEXIST);
	folio_put(other);
	assert_int_equal(mapping->nrpages, 4);
	folio_lock(folio);
	folio_get(folio);
	filemap_remove_folio(folio);
	assert_null(folio->mapping);
	folio_unlock(folio);
	lru_add_drain(run->machine);
	assert_int_equal(folio_ref_count(folio), 1);
	folio_put(folio);
	assert_int_equal(mapping->nrpages, 0);
	scene_close(run);
}

/* A folio that was cut off while it waited for its LRU list is not lost, and counted once. */
static void test_removed_in_batch(void **state)
{
	struct run *run = open_scene("v6.18");

	put_pages(run, 0, 4);
	scene_play(run, "pread 0 1; pread 8192 1; pread 0 1");
	truncate_pagecache(run->inode, 4096);
	assert_int_equal(run->machine->mm->vm.nr_file_pages, 1);
	assert_int_equal(run->machine->mm->live_pages, 5);
	scene_check(run);
	lru_add_drain(run->machine);
	assert_int_equal(run->machine->mm->live_pages, 1);
	scene_close(run);
}

static void test_get_folios(void **state)
{
	struct run *run = open_scene("v6.18");
	struct folio_batch fbatch;
	pgoff_t start = 2;
	unsigned int i;

	put_folio(run, 0, 2);
	put_pages(run, 10, 60);
	folio_batch_init(run->machine, &fbatch);
	/* A batch of 31: the folio that reaches into the range, then 10..39. */
	assert_int_equal(filemap_get_folios(run->inode->i_mapping, &start, 50, &fbatch), 31);
	assert_int_equal(fbatch.folios[0]->index, 0);
	assert_int_equal(fbatch.folios[30]->index, 39);
	assert_int_equal(start, 40);
	for (i = 0; i < 31; i++)
		folio_put(fbatch.folios[i]);
	fbatch.nr = 0;
	assert_int_equal(filemap_get_folios(run->inode->i_mapping, &start, 50, &fbatch), 11);
	assert_int_equal(start, 51);
	for (i = 0; i < 11; i++)
		folio_put(fbatch.folios[i]);
	scene_close(run);
}

/* ---- 3.2: searching for a hole ---- */

struct search {
	const char *kernel;
	pgoff_t next_full, prev_full, prev_to_zero;
};

/* Pages 10..19 and 0..4: what is returned when all of it is cached differs, the rest does not. */
static void test_miss_per_version(void **state)
{
	static const struct search versions[] = {
		{"v6.1", 14, 15, 0},	     {"v6.1.y", 14, 15, 0},  {"v6.7", 14, 15, 0},
		{"ab4443fe3ca6", 14, 15, 0}, {"v6.12", 9, 15, 0},    {"v6.16", 9, 15, 0},
		{"v6.12.y", 15, 15, 0},	     {"v6.16.y", 15, 15, 0}, {"v6.17", 15, 15, 0},
		{"v6.18", 15, 15, 0},	     {"v7.3", 15, 14, ~0UL},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(versions); i++) {
		const struct search *v = &versions[i];
		struct run *run = open_scene(v->kernel);
		struct address_space *mapping = run->inode->i_mapping;

		put_pages(run, 10, 19);
		put_pages(run, 0, 4);
		assert_int_equal(page_cache_next_miss(mapping, 10, 5), v->next_full);
		assert_int_equal(page_cache_next_miss(mapping, 10, 11), 20);
		assert_int_equal(page_cache_next_miss(mapping, 25, 3), 25);
		assert_int_equal(page_cache_prev_miss(mapping, 19, 5), v->prev_full);
		assert_int_equal(page_cache_prev_miss(mapping, 19, 11), 9);
		assert_int_equal(page_cache_prev_miss(mapping, 9, 3), 9);
		assert_int_equal(page_cache_prev_miss(mapping, 4, 5), v->prev_to_zero);
		assert_int_equal(page_cache_prev_miss(mapping, 4, 6), ~0UL);
		scene_close(run);
	}
}

/* Starting d pages into a folio, the search reports the true gap plus d. */
static void test_miss_drift(void **state)
{
	struct run *run = open_scene("v6.18"), *ideal = open_scene("v6.18-CURSOR_DRIFT");
	struct run *both[] = {run, ideal};

	for (unsigned int i = 0; i < 2; i++) {
		put_folio(both[i], 4, 2);
		put_pages(both[i], 8, 11);
		put_folio(both[i], 16, 3);
	}
	for (unsigned int d = 0; d < 4; d++) {
		assert_int_equal(page_cache_next_miss(run->inode->i_mapping, 4 + d, 32), 12 + d);
		assert_int_equal(page_cache_next_miss(ideal->inode->i_mapping, 4 + d, 32), 12);
	}
	for (unsigned int d = 0; d < 8; d++) {
		assert_int_equal(page_cache_prev_miss(run->inode->i_mapping, 16 + d, 32), 15 + d);
		assert_int_equal(page_cache_prev_miss(ideal->inode->i_mapping, 16 + d, 32), 15);
	}
	scene_close(run);
	scene_close(ideal);
}

/* Crossing a multiple of 64 resynchronises, having skipped the first d slots of the new block. */
static void test_miss_resynchronises(void **state)
{
	struct run *run = open_scene("v6.18");
	struct address_space *mapping = run->inode->i_mapping;

	put_folio(run, 56, 3);
	put_pages(run, 66, 69);
	/* From 58, two pages in: 64 and 65 are not there, but the walk comes back at 66. */
	assert_int_equal(page_cache_next_miss(mapping, 58, 64), 70);
	assert_int_equal(page_cache_next_miss(mapping, 56, 64), 64);
	scene_close(run);
}

/* A shadow is a miss: pages that were reclaimed are not cached. */
static void test_miss_at_shadow(void **state)
{
	struct run *run = open_scene("v6.18");
	struct folio *folio;

	put_pages(run, 0, 3);
	folio = filemap_get_folio(run->inode->i_mapping, 2);
	lru_add_drain(run->machine);
	folio_lock(folio);
	__filemap_remove_folio(folio, workingset_eviction(folio));
	filemap_free_folio(run->inode->i_mapping, folio);
	folio_unlock(folio);
	folio_put(folio);
	assert_int_equal(page_cache_next_miss(run->inode->i_mapping, 1, 10), 2);
	assert_int_equal(page_cache_prev_miss(run->inode->i_mapping, 3, 3), 2);
	assert_null(filemap_get_folio(run->inode->i_mapping, 2));
	scene_close(run);
}

/* ---- 2.1: positions and references ---- */

static s64 prev_pos(const struct run *run)
{
	return run_file(run)->f_ra.prev_pos;
}

static void test_prev_pos(void **state)
{
	struct run *run = open_scene("v6.18");

	assert_int_equal(prev_pos(run), -1);
	scene_play(run, "read 100");
	assert_int_equal(prev_pos(run), 100);
	assert_int_equal(run_file(run)->f_pos, 100);
	scene_play(run, "pread 1m 5000");
	assert_int_equal(prev_pos(run), (1 << 20) + 5000);
	assert_int_equal(run_file(run)->f_pos, 100);
	scene_play(run, "seek 5m");
	assert_int_equal(prev_pos(run), (1 << 20) + 5000);
	/* Short at the end, nothing behind it. */
	scene_play(run, "pread 67108860 100");
	assert_int_equal(prev_pos(run), 64 << 20);
	scene_play(run, "pread 67108864 100; pread 4g 4k; read 0");
	assert_int_equal(prev_pos(run), 64 << 20);
	/* Every descriptor has its own. */
	scene_play(run, "fd 1");
	assert_int_equal(prev_pos(run), -1);
	scene_play(run, "fd 0");
	assert_int_equal(prev_pos(run), 64 << 20);
	scene_play(run, "reopen");
	assert_int_equal(prev_pos(run), -1);
	scene_close(run);
}

static unsigned long folio_flags(struct run *run, pgoff_t index)
{
	struct folio *folio = filemap_get_folio(run->inode->i_mapping, index);
	unsigned long flags;

	lru_add_drain(run->machine);
	flags = folio->flags & (BIT(PG_referenced) | BIT(PG_active));
	folio_put(folio);
	return flags;
}

/* A folio read in small pieces counts once; coming back counts again. */
static void test_mark_accessed(void **state)
{
	struct run *run = open_scene("v6.18");

	put_pages(run, 0, 9);
	put_folio(run, 16, 4);
	scene_play(run, "pread 0 100");
	assert_int_equal(folio_flags(run, 0), BIT(PG_referenced));
	scene_play(run, "pread 100 100; pread 200 3896; pread 0 1");
	assert_int_equal(folio_flags(run, 0), BIT(PG_referenced));
	scene_play(run, "pread 8192 1; pread 0 1");
	assert_int_equal(folio_flags(run, 0), BIT(PG_active));
	/* Only the first of a batch is excused: 2 is the page last read, 3 and 4 are new. */
	scene_play(run, "pread 8192 1; pread 8192 12288");
	assert_int_equal(folio_flags(run, 2), BIT(PG_active));
	assert_int_equal(folio_flags(run, 3), BIT(PG_referenced));
	assert_int_equal(folio_flags(run, 4), BIT(PG_referenced));
	/* The aligned block of the folio's size decides: 16 pages count once. */
	scene_play(run, "pread 65536 4096; pread 69632 4096; pread 126976 4096");
	assert_int_equal(folio_flags(run, 16), BIT(PG_referenced));
	scene_close(run);
}

/* ---- 2.3: batches ---- */

static u64 batches_of_read(const char *kernel, const char *op)
{
	struct run *run = open_scene(kernel);
	u64 before;

	put_pages(run, 0, 99);
	before = run->machine->cost_units[CONTEXT_TASK][COST_GET_PAGES];
	scene_play(run, op);
	before = run->machine->cost_units[CONTEXT_TASK][COST_GET_PAGES] - before;
	scene_close(run);
	return before;
}

static void test_batch_size(void **state)
{
	/* 62 cached pages: 2 batches of 31, or 5 of 15 (4 * 15 = 60). */
	assert_int_equal(batches_of_read("v6.12", "pread 0 253952"), 2);
	assert_int_equal(batches_of_read("v6.18", "pread 0 253952"), 2);
	assert_int_equal(batches_of_read("v6.1.y", "pread 0 253952"), 5);
	assert_int_equal(batches_of_read("v6.7", "pread 0 253952"), 5);
	assert_int_equal(batches_of_read("v6.18", "pread 0 253953"), 3);
}

/* ---- flags of a read ---- */

static ssize_t read_with(struct run *run, s64 pos, size_t len, int flags)
{
	struct kiocb iocb = {.ki_filp = run_file(run), .ki_pos = pos, .ki_flags = flags};
	struct iov_iter iter = {.count = len};

	return filemap_read(&iocb, &iter, 0);
}

/* NOIO starts nothing: neither for what is missing nor at a mark, which stays. */
static void test_noio(void **state)
{
	struct run *run = open_scene("v6.18");

	assert_int_equal(read_with(run, 0, 4096, IOCB_NOIO), -EAGAIN);
	assert_int_equal(run->inode->i_mapping->nrpages, 0);
	scene_play(run, "read 4k");
	assert_string_equal(scene_folios(run, 0, 10), "0:0 1:0m 2:0 3:0");
	assert_int_equal(read_with(run, 0, 4096, IOCB_NOIO), 4096);
	assert_int_equal(read_with(run, 4096, 4096, IOCB_NOIO), -EAGAIN);
	assert_int_equal(read_with(run, 0, 16384, IOCB_NOIO), 4096);
	assert_string_equal(scene_folios(run, 0, 10), "0:0 1:0m 2:0 3:0");
	assert_int_equal(read_with(run, 8192, 8192, IOCB_NOIO), 8192);
	scene_close(run);
}

/* NOWAIT starts readahead but does not wait for it. */
static void test_nowait(void **state)
{
	struct run_config config = scene_config("v6.18");
	struct run *run;
	u64 before;

	config.disk = "nvme";
	run = scene_open(&config);
	assert_int_equal(read_with(run, 0, 4096, IOCB_NOWAIT), -EAGAIN);
	assert_int_equal(run->inode->i_mapping->nrpages, 4);
	before = run->machine->clock_ps;
	assert_int_equal(read_with(run, 0, 4096, IOCB_NOWAIT), -EAGAIN);
	assert_true(run->machine->clock_ps - before < 80000 * 1000ULL);
	blk_drain(run->machine);
	assert_int_equal(read_with(run, 0, 4096, IOCB_NOWAIT), 4096);
	scene_close(run);
}

/* Without memory for readahead a reader makes its own folio, unless it may not wait. */
static void test_create_folio(void **state)
{
	struct run *run = open_scene("v6.18");

	/* A random file's readahead is one allocation. */
	scene_play(run, "fadvise random 0 0");
	run->machine->fail_folio_alloc_in = 1;
	assert_int_equal(read_with(run, 0, 4096, IOCB_NOWAIT), -EAGAIN);
	assert_int_equal(run->inode->i_mapping->nrpages, 0);
	run->machine->fail_folio_alloc_in = 1;
	assert_int_equal(read_with(run, 4 << 20, 4096, 0), 4096);
	assert_string_equal(scene_folios(run, 1024, 1100), "1024:0");
	scene_close(run);
}

/* Virtual time of reading ten cached pages and one that the disk has not delivered yet. */
static u64 time_beside_io(const char *kernel)
{
	struct run_config config = scene_config(kernel);
	struct run *run;
	u64 start;

	config.disk = "nvme";
	run = scene_open(&config);
	put_pages(run, 0, 9);
	assert_int_equal(vfs_fadvise(run_file(run), 40960, 4096, POSIX_FADV_WILLNEED_), 0);
	start = run->machine->clock_ps;
	assert_int_equal(read_with(run, 0, 11 * 4096, 0), 11 * 4096);
	start = run->machine->clock_ps - start;
	scene_close(run);
	return start;
}

/* 2.2 step 5: since v6.18 what is there is copied while the rest is still on its way. */
static void test_skip_nonuptodate(void **state)
{
	u64 waits = time_beside_io("v6.18-SKIP_NONUPTODATE"), skips = time_beside_io("v6.18");
	u64 copy = 10 * 4096ULL * 80; /* COPY_BYTE */

	assert_in_range(waits - skips, copy, copy + copy / 2);
	assert_int_equal(time_beside_io("v6.17"), waits);
}

/* ---- 2.5: splice ---- */

static void test_splice(void **state)
{
	struct run *run = open_scene("v6.18");

	put_pages(run, 0, 9);
	scene_play(run, "splice 0 10000");
	assert_int_equal(run->bytes, 10000);
	assert_int_equal(prev_pos(run), 10000);
	assert_int_equal(run_file(run)->f_pos, 0);
	assert_int_equal(folio_flags(run, 0), BIT(PG_referenced));
	assert_int_equal(folio_flags(run, 2), BIT(PG_referenced));
	assert_int_equal(folio_flags(run, 3), 0);
	/* Unlike read, every call counts, even on the same page. */
	scene_play(run, "splice 10000 10");
	assert_int_equal(folio_flags(run, 2), BIT(PG_active));
	/* Short at the end. */
	scene_play(run, "splice 67108860 100");
	assert_int_equal(run->bytes, 10000 + 10 + 4);
	scene_close(run);
}

/* ---- write-side.md 5: cutting folios ---- */

#define ORDER9_AT_24 "0:4 16:3 24:0 25:0 26:1 28:2 32:5 64:6 128:7 256:8"

/* As truncation does it: with the lock and a reference. */
static int try_cut(struct folio *folio, pgoff_t page)
{
	int ret;

	folio_get(folio);
	folio_lock(folio);
	ret = split_folio_at(folio, page);
	folio_unlock(folio);
	folio_put(folio);
	return ret;
}

static void cut(struct folio *folio, pgoff_t page)
{
	assert_int_equal(try_cut(folio, page), 0);
}

/* Proves the worked example of 5.3, what pieces inherit, and that the mark stays with the first. */
static void test_split_pieces(void **state)
{
	static const char *const kernels[] = {"v6.16", "v6.17", "v6.18", "v7.3"};

	for (unsigned int i = 0; i < ARRAY_SIZE(kernels); i++) {
		struct run *run = open_scene(kernels[i]);
		struct folio *folio = put_folio(run, 0, 9), *piece;

		folio_set_referenced(folio);
		cut(folio, 24);
		assert_string_equal(scene_folios(run, 0, 1000), ORDER9_AT_24);
		piece = filemap_get_folio(run->inode->i_mapping, 300);
		assert_true(folio_test_uptodate(piece) && folio_test_referenced(piece));
		assert_int_equal(folio_pfn(piece), folio_pfn(folio) + 256);
		folio_put(piece);
		scene_close(run);
	}
}

static void test_split_keeps_mark(void **state)
{
	struct run *run = open_scene("v6.18");
	struct folio *folio = put_folio(run, 8, 3);

	folio_set_readahead(folio);
	cut(folio, 13);
	assert_string_equal(scene_folios(run, 0, 100), "8:2m 12:0 13:0 14:1");
	scene_close(run);
}

static void test_split_uniform(void **state)
{
	struct run *run = open_scene("v6.12.y");

	cut(put_folio(run, 512, 9), 536);
	for (pgoff_t i = 512; i < 1024; i++) {
		struct folio *folio = filemap_get_folio(run->inode->i_mapping, i);

		assert_int_equal(folio_order(folio), 0);
		assert_int_equal(folio->index, i);
		assert_true(folio_test_uptodate(folio));
		folio_put(folio);
	}
	scene_close(run);
}

/* Folios of a file system with 16K blocks never get smaller than that. */
static void test_split_min_order(void **state)
{
	struct run_config config = scene_config("v6.18");
	struct run *run;

	config.block_size = 16384;
	run = scene_open(&config);
	cut(put_folio(run, 0, 5), 24);
	assert_string_equal(scene_folios(run, 0, 100), "0:4 16:3 24:2 28:2");
	scene_close(run);
}

/* Somebody else holds it, or there is no memory: nothing is cut. */
static void test_split_refused(void **state)
{
	static const char *const kernels[] = {"v6.12.y", "v6.18"};

	for (unsigned int i = 0; i < ARRAY_SIZE(kernels); i++) {
		struct run *run = open_scene(kernels[i]);
		struct folio *folio = put_folio(run, 0, 9);

		folio_get(folio);
		assert_true(try_cut(folio, 3) < 0);
		assert_string_equal(scene_folios(run, 0, 600), "0:9");
		folio_put(folio);
		run->machine->mm->xa_nodes.fail_in = 1;
		assert_int_equal(try_cut(folio, 3), -ENOMEM);
		assert_string_equal(scene_folios(run, 0, 600), "0:9");
		scene_check(run);
		assert_int_equal(try_cut(folio, 3), 0);
		scene_close(run);
	}
}

/* ---- truncation and holes ---- */

static void punch(struct run *run, s64 first_page, s64 last_page)
{
	truncate_inode_pages_range(run->inode->i_mapping, first_page * 4096,
				   (last_page + 1) * 4096 - 1);
}

static void test_truncate_large_folio(void **state)
{
	struct run *run = open_scene("v6.18");

	put_folio(run, 0, 9);
	put_folio(run, 512, 5);
	truncate_pagecache(run->inode, 24 * 4096);
	assert_string_equal(scene_folios(run, 0, 2000), "0:4 16:3");
	truncate_pagecache(run->inode, 0);
	assert_string_equal(scene_folios(run, 0, 2000), "");
	scene_close(run);
	/* Before v6.15 what stays is cut to order 0 as well. */
	run = open_scene("v6.12.y");
	put_folio(run, 0, 3);
	truncate_pagecache(run->inode, 3 * 4096);
	assert_string_equal(scene_folios(run, 0, 2000), "0:0 1:0 2:0");
	scene_close(run);
}

/* 5.2 step 3: the far end is cut too, also where it is the folio's own first page. */
static void test_punch_large_folio(void **state)
{
	struct run *run = open_scene("v6.18");

	put_folio(run, 512, 9);
	punch(run, 512, 767);
	assert_string_equal(scene_folios(run, 0, 2000),
			    "768:0 769:0 770:1 772:2 776:3 784:4 800:5 832:6 896:7");
	scene_close(run);
	run = open_scene("v6.18");
	put_folio(run, 0, 5);
	put_folio(run, 32, 5);
	put_folio(run, 64, 5);
	punch(run, 20, 71);
	/* 0..31 cut at 20, 32..63 gone, 64..95 cut at its first page, then at 72. */
	assert_string_equal(scene_folios(run, 0, 2000), "0:4 16:2 72:0 73:0 74:1 76:2 80:4");
	scene_close(run);
	run = open_scene("v6.12.y");
	put_folio(run, 0, 4);
	punch(run, 4, 7);
	assert_string_equal(scene_folios(run, 0, 100),
			    "0:0 1:0 2:0 3:0 8:0 9:0 10:0 11:0 12:0 13:0 14:0 15:0");
	scene_close(run);
}

/* A clean folio that cannot be cut goes as a whole: it can be read again. */
static void test_truncate_unsplittable(void **state)
{
	struct run *run = open_scene("v6.18");
	struct folio *folio = put_folio(run, 0, 4);

	folio_get(folio);
	truncate_pagecache(run->inode, 4 * 4096);
	assert_string_equal(scene_folios(run, 0, 100), "");
	folio_put(folio);
	scene_close(run);
}

struct bytes {
	s64 pos;
	s64 zero_from, zero_to; /* what was zeroed in memory */
};

static void check_bytes(void *ctx, const void *buf, size_t len)
{
	struct bytes *b = ctx;
	const char *bytes = buf;

	for (size_t i = 0; i < len; i++, b->pos++) {
		char want = disk_pattern(b->pos / 8) >> (b->pos % 8 * 8);

		if (b->pos >= b->zero_from && b->pos < b->zero_to)
			want = 0;
		if (bytes[i] != want)
			fail_msg("byte %" PRId64 " is 0x%02x, expected 0x%02x", b->pos,
				 (unsigned char)bytes[i], (unsigned char)want);
	}
}

/* Cut [first, last] out of a file that was read, read it again: only the edges are zeros. */
static void expect_bytes_after_cut(const char *kernel, s64 first, s64 last)
{
	struct run_config config = scene_config(kernel);
	struct bytes b = {0}, c = {0};
	struct run *run;

	config.size = 2 << 20;
	config.disk = "nvme";
	config.machine.data = true;
	run = scene_open(&config);
	run->consume = check_bytes;
	run->consume_ctx = &b;
	scene_play(run, "read 64k 32");
	assert_int_equal(b.pos, 2 << 20);
	truncate_inode_pages_range(run->inode->i_mapping, first, last);
	/* Whole pages come back from the disk, which knows nothing of the cut. */
	run->consume_ctx = &c;
	c.zero_from = first;
	c.zero_to = min(last + 1, round_up(first, (s64)4096));
	scene_play(run, "seek 0; read 4k 256");
	c.zero_from = round_down(last + 1, (s64)4096);
	c.zero_to = last + 1;
	if (first / 4096 == last / 4096)
		c.zero_from = c.zero_to = 0;
	scene_play(run, "read 4k 256");
	assert_int_equal(c.pos, 2 << 20);
	scene_close(run);
}

/* Proves that cutting moves no byte: begin in the first MiB, end in the second or nearby. */
static void test_bytes_after_cuts(void **state)
{
	static const char *const kernels[] = {"v6.1.y",	 "v6.7",  "v6.12.y",
					      "v6.16.y", "v6.18", "v7.3"};

	for (unsigned int i = 0; i < ARRAY_SIZE(kernels); i++) {
		expect_bytes_after_cut(kernels[i], 100000, (1 << 20) + 54321);
		expect_bytes_after_cut(kernels[i], 4096 * 20, (1 << 20) + 4096 * 9 - 1);
		expect_bytes_after_cut(kernels[i], 4096 * 70 + 1, (1 << 20) + 4096 * 31);
		expect_bytes_after_cut(kernels[i], 500000, 500010);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add_and_remove),
		cmocka_unit_test(test_removed_in_batch),
		cmocka_unit_test(test_get_folios),
		cmocka_unit_test(test_miss_per_version),
		cmocka_unit_test(test_miss_drift),
		cmocka_unit_test(test_miss_resynchronises),
		cmocka_unit_test(test_miss_at_shadow),
		cmocka_unit_test(test_prev_pos),
		cmocka_unit_test(test_mark_accessed),
		cmocka_unit_test(test_batch_size),
		cmocka_unit_test(test_noio),
		cmocka_unit_test(test_nowait),
		cmocka_unit_test(test_create_folio),
		cmocka_unit_test(test_skip_nonuptodate),
		cmocka_unit_test(test_splice),
		cmocka_unit_test(test_split_pieces),
		cmocka_unit_test(test_split_keeps_mark),
		cmocka_unit_test(test_split_uniform),
		cmocka_unit_test(test_split_min_order),
		cmocka_unit_test(test_split_refused),
		cmocka_unit_test(test_truncate_large_folio),
		cmocka_unit_test(test_punch_large_folio),
		cmocka_unit_test(test_truncate_unsplittable),
		cmocka_unit_test(test_bytes_after_cuts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
