/*
 * fs/test_ext4_io.c - what reading and writing cost: bios, look-ups, handles, buffers.
 *
 * Proves the cells of 2.3, 3.4, 3.5, 7.2, 7.3, 9.2 and 9.4 of the specification that were seen on
 * real kernels, the boundary rule of indirect files, and the assertion of 2.4.
 */
#include "unit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "block/blkdev.h"
#include "fs/files.h"
#include "mm/internal.h"

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
#define DISK_AT	  100000 /* first block of every layout on the disk */

/* ---- layouts ---- */

/* A file of @blocks blocks with breaks (a gap on the disk) or a hole. */
struct layout {
	u64 blocks;
	u64 breaks[2];	       /* file blocks where a new extent begins; 0: none */
	u64 hole_at, hole_len; /* len 0: none */
};

static unsigned int put_extent(struct fs_extent *e, unsigned int nr, u64 from, u64 to, u64 *pblk)
{
	if (to <= from)
		return nr;
	e[nr] = (struct fs_extent){
		.lblk = from, .pblk = *pblk, .len = to - from, .state = EXTENT_WRITTEN};
	*pblk += to - from;
	return nr + 1;
}

static unsigned int make_extents(const struct layout *l, struct fs_extent *e)
{
	u64 at = 0, pblk = DISK_AT;
	unsigned int nr = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(l->breaks) && l->breaks[i]; i++) {
		nr = put_extent(e, nr, at, l->breaks[i], &pblk);
		at = l->breaks[i];
		pblk += 1000;
	}
	if (l->hole_len) {
		nr = put_extent(e, nr, at, l->hole_at, &pblk);
		at = l->hole_at + l->hole_len;
		pblk += l->hole_len;
	}
	return put_extent(e, nr, at, l->blocks, &pblk);
}

static struct run *open_layout(struct run_config *config, const struct layout *l,
			       unsigned int block_size)
{
	struct fs_extent extents[4];

	config->block_size = block_size;
	config->size = l->blocks * block_size;
	config->disk = "ram";
	config->extents = extents;
	config->nr_extents = make_extents(l, extents);
	return scene_open(config);
}

/* ---- 9.4 ---- */

/* Read through a huge mapping: one folio as large as the file. */
#define ONE_FOLIO "mmap; madvise hugepage; touch 0"

struct cost {
	u64 bios, lookups;
};

static struct cost read_cost(struct run_config *config, const struct layout *l,
			     unsigned int block_size, const char *ops, const char *orders)
{
	struct run *run = open_layout(config, l, block_size);
	struct cost cost;

	scene_play(run, ops);
	assert_string_equal(file_orders(run, 0, 1023), orders);
	cost.bios = run->sb->s_bdev->stats.bios;
	cost.lookups = cost_units(run, COST_ES_LOOKUP);
	scene_play(run, "munmap");
	scene_close(run);
	return cost;
}

/* In blocks of 4K; the file has 1 MiB. */
static const struct {
	struct layout layout;
	u64 bios, lookups, lookups_1k, bios_1k, small, xfs;
} layouts[] = {
	{{256, {0}, 0, 0}, 1, 1, 1, 1, 1, 1},
	{{256, {125}, 0, 0}, 256, 258, 1026, 1024, 2, 2},
	{{256, {25, 225}, 0, 0}, 256, 258, 1026, 1024, 3, 3},
	{{256, {0}, 128, 1}, 255, 259, 1030, 1020, 2, 2},
	{{256, {0}, 192, 64}, 1, 65, 257, 1, 1, 1},
	{{256, {0}, 0, 16}, 240, 273, 1089, 960, 1, 1},
	{{256, {0}, 0, 256}, 0, 256, 1024, 0, 0, 0},
};

static struct layout scaled(const struct layout *l, unsigned int by)
{
	return (struct layout){l->blocks * by,
			       {l->breaks[0] * by, l->breaks[1] * by},
			       l->hole_at * by,
			       l->hole_len * by};
}

/* Proves column (a) of 9.4, blocks of 4K and 1K: one bio a block once the folio breaks. */
static void test_one_large_folio(void **state)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(layouts); i++)
		for (const char *const *k = LIST("v6.16.y", "v6.18", "v7.3"); *k; k++) {
			struct run_config config = file_config(*k, "ext4");
			struct layout small = scaled(&layouts[i].layout, 4);
			struct cost c =
				read_cost(&config, &layouts[i].layout, 4096, ONE_FOLIO, "1*o8");

			assert_int_equal(c.bios, layouts[i].bios);
			assert_int_equal(c.lookups, layouts[i].lookups);
			config = file_config(*k, "ext4");
			c = read_cost(&config, &small, 1024, ONE_FOLIO, "1*o8");
			assert_int_equal(c.bios, layouts[i].bios_1k);
			assert_int_equal(c.lookups, layouts[i].lookups_1k);
		}
}

/* Proves column (b): the same layouts in pages of order 0 cost one bio an extent. */
static void test_small_folios(void **state)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(layouts); i++)
		for (const char *const *k = LIST("v6.12.y", "v6.18"); *k; k++) {
			struct run_config config = file_config(*k, "ext4");
			struct cost c;

			config.features = "verity";
			config.ra_bytes = config.io_bytes = 1 << 20;
			c = read_cost(&config, &layouts[i].layout, 4096, "pread 0 1m", "256*o0");
			assert_int_equal(c.bios, layouts[i].small);
		}
}

/* Proves column (c): XFS reads the same large folio in one bio an extent. */
static void test_xfs_folio(void **state)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(layouts); i++)
		for (const char *const *k = LIST("v6.12.y", "v6.18", "v7.3"); *k; k++) {
			struct run_config config = file_config(*k, "xfs");
			struct cost c =
				read_cost(&config, &layouts[i].layout, 4096, ONE_FOLIO, "1*o8");

			assert_int_equal(c.bios, layouts[i].xfs);
		}
}

/* Proves column (d): a cold read in windows of 128K breaks only where a large folio does. */
static void test_cold_read(void **state)
{
	static const u64 bios[] = {8, 39, 0, 38};

	for (unsigned int i = 0; i < ARRAY_SIZE(bios); i++)
		for (const char *const *k = LIST("v6.16.y", "v6.18", "v7.3"); *k && bios[i]; k++) {
			struct run_config config = file_config(*k, "ext4");
			struct run *run;

			config.io_bytes = 128 << 10;
			run = open_layout(&config, &layouts[i].layout, 4096);
			scene_play(run, "pread 0 1m");
			assert_int_equal(run->sb->s_bdev->stats.bios, bios[i]);
			assert_int_equal(run->inode->i_data.nrpages, 256);
			assert_string_equal(file_orders(run, 0, 1023),
					    strcmp(*k, "v6.16.y") ? "32*o0 8*o2 2*o4 5*o5"
								  : "8*o2 2*o4 6*o5");
			scene_close(run);
		}
}

/* Proves the 2 MiB line below 9.4. */
static void test_two_megabytes(void **state)
{
	static const struct {
		struct layout layout;
		u64 bios, lookups;
	} cases[] = {
		{{512, {125}, 0, 0}, 512, 514},
		{{512, {0}, 256, 1}, 511, 515},
		{{512, {0}, 0, 16}, 496, 529},
		{{512, {0}, 256, 256}, 1, 257},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++)
		for (const char *const *k = LIST("v6.16.y", "v6.18", "v7.3"); *k; k++) {
			struct run_config config = file_config(*k, "ext4");
			struct cost c =
				read_cost(&config, &cases[i].layout, 4096, ONE_FOLIO, "1*o9");

			assert_int_equal(c.bios, cases[i].bios);
			assert_int_equal(c.lookups, cases[i].lookups);
		}
}

/* ---- 2.3 ---- */

/* Proves the bios of a 64K file read in pages, where a page has several blocks. */
static void test_blocks_of_a_page(void **state)
{
	static const struct {
		struct layout layout;
		unsigned int block_size;
		const char *bios;
	} cases[] = {
		{{64, {34}, 0, 0}, 1024, "32K 1K*4 28K"}, {{64, {0}, 33, 1}, 1024, "32K 1K*3 28K"},
		{{64, {0}, 35, 1}, 1024, "35K 28K"},	  {{64, {0}, 32, 1}, 1024, "32K 1K*3 28K"},
		{{32, {0}, 17, 1}, 2048, "34K 28K"},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++)
		for (const char *const *k = LIST("v6.1.y", "v6.12.y", "v6.18"); *k; k++) {
			struct run_config config = file_config(*k, "ext4");
			struct bio_list bios;
			struct run *run;

			config.features = "verity";
			run = open_layout(&config, &cases[i].layout, cases[i].block_size);
			bio_list_begin(&bios, run);
			scene_play(run, "pread 0 64k");
			assert_string_equal(bio_list_end(&bios, run), cases[i].bios);
			scene_close(run);
		}
}

/* Proves that a bio ends where look-up, folio and indirect block end together. */
static void test_boundary(void **state)
{
	static const struct {
		const char *features, *bios;
	} cases[] = {{"extent", "64K"}, {"^extent", "4K 60K"}};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct run_config config = file_config("v6.12.y", "ext4");
		const struct layout layout = {2048, {0}, 0, 0};
		struct bio_list bios;
		struct run *run;

		config.features = cases[i].features;
		run = open_layout(&config, &layout, 4096);
		bio_list_begin(&bios, run);
		scene_play(run, "fadvise random 0 0; pread 44k 64k");
		assert_string_equal(bio_list_end(&bios, run), cases[i].bios);
		scene_close(run);
	}
}

/* ---- 2.4 ---- */

static void expect_bug(unsigned int page_size, unsigned int block_size)
{
	struct run_config config = file_config("v6.18+ASSERT_NO_LARGE_FULL_READ", "ext4");
	const struct wl_op op = {.type = WL_PREAD, .len = 4 << 20, .n = 1};
	struct fl_error err = {0};
	struct run *run;

	config.machine.page_size = page_size;
	config.block_size = block_size;
	config.disk = "ram";
	config.size = 8 << 20;
	config.extent_blocks = 3;
	run = scene_open(&config);
	assert_int_equal(run_op(run, &op, &err), -ENOTRECOVERABLE);
	assert_non_null(strstr(run->machine->bug, "VM_BUG_ON_FOLIO(folio_test_large(folio))"));
	assert_non_null(strstr(run->machine->bug, "kernel BUG at fs/buffer.c!"));
	assert_non_null(strstr(run->machine->bug,
			       " block_read_full_folio\n ext4_mpage_readpages\n ext4_readahead\n"
			       " read_pages\n page_cache_ra_order\n"));
	assert_non_null(strstr(run->machine->bug, "Layout: "));
	scene_close(run);
}

/* Proves the report: 4K blocks on 64K pages die, and so do small blocks on 4K pages. */
static void test_assertion(void **state)
{
	expect_bug(65536, 4096);
	expect_bug(4096, 1024);
	expect_bug(4096, 2048);
}

/* Proves that without the assertion, in every profile, the same file is read. */
static void test_assertion_gone(void **state)
{
	for (unsigned int i = 0; profile_info(i); i++) {
		struct run_config config = file_config(profile_info(i)->name, "ext4");
		struct run *run;

		config.machine.page_size = 65536;
		config.disk = "ram";
		config.size = 8 << 20;
		config.extent_blocks = 3;
		run = scene_open(&config);
		assert_false(knob(run->machine, ASSERT_NO_LARGE_FULL_READ));
		scene_play(run, "pread 0 4m");
		assert_int_equal(run->errors, 0);
		assert_string_equal(run->machine->bug, "");
		scene_close(run);
	}
}

/* ---- 7.2, 7.3, 9.2 ---- */

struct counts {
	u64 begins, folios, heads, creates, get_block, lookups, reserved, dirtied, handles, visits;
	u64 maps;
};

static struct counts count_now(const struct run *run)
{
	const struct trace *t = &run->machine->trace;
	struct counts c = {
		.heads = cost_units(run, COST_BUFFER_ALLOC),
		.creates = cost_units(run, COST_BUFFER_CREATE),
		.get_block = cost_units(run, COST_GET_BLOCK),
		.lookups = cost_units(run, COST_ES_LOOKUP),
		.reserved = cost_units(run, COST_DA_RESERVE),
		.dirtied = cost_units(run, COST_MARK_BUFFER_DIRTY),
		.handles = cost_units(run, COST_JOURNAL_START),
		.visits = cost_units(run, COST_BUFFER_VISIT),
		.maps = cost_units(run, COST_IOMAP_BEGIN),
		.begins = t->count[EV_ext4_da_write_begin][0] + t->count[EV_ext4_write_begin][0],
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(t->count[0]); i++)
		c.folios += t->count[EV_mm_filemap_add_to_page_cache][i];
	return c;
}

/* What @ops adds. */
static struct counts count_ops(struct run *run, const char *ops)
{
	struct counts a = count_now(run), b;

	/* A jiffy of its own: time stamps change at most once in one. */
	run->machine->clock_ps += 4000000000;
	scene_play(run, ops);
	b = count_now(run);
	return (struct counts){
		b.begins - a.begins,	 b.folios - a.folios,	    b.heads - a.heads,
		b.creates - a.creates,	 b.get_block - a.get_block, b.lookups - a.lookups,
		b.reserved - a.reserved, b.dirtied - a.dirtied,	    b.handles - a.handles,
		b.visits - a.visits,	 b.maps - a.maps,
	};
}

static void expect_counts(const char *kernel, const char *options, const char *ops,
			  const struct counts *want)
{
	struct run_config config = file_config(kernel, "ext4");
	struct counts got;
	struct run *run;

	config.mount_options = options;
	run = scene_open(&config);
	got = count_ops(run, ops);
	if (got.begins != want->begins || got.folios != want->folios || got.heads != want->heads ||
	    got.creates != want->creates || got.get_block != want->get_block ||
	    got.lookups != want->lookups || got.reserved != want->reserved ||
	    got.dirtied != want->dirtied || got.handles != want->handles)
		fail_msg("%s %s: begins %" PRIu64 " folios %" PRIu64 " heads %" PRIu64
			 " creates %" PRIu64 " get_block %" PRIu64 " lookups %" PRIu64
			 " reserved %" PRIu64 " dirtied %" PRIu64 " handles %" PRIu64,
			 kernel, ops, got.begins, got.folios, got.heads, got.creates, got.get_block,
			 got.lookups, got.reserved, got.dirtied, got.handles);
	scene_close(run);
}

/* Proves 9.2 and the append columns of 7.2: what scales with pages and what with folios. */
static void test_append_counts(void **state)
{
	static const struct {
		const char *ops;
		struct counts base, large;
	} writes[] = {
		{"pwrite 0 4k",
		 {1, 1, 1, 1, 1, 2, 1, 1, 1, 0, 0},
		 {1, 1, 1, 1, 1, 2, 1, 1, 1, 0, 0}},
		{"pwrite 0 64k",
		 {16, 16, 16, 16, 16, 32, 16, 16, 1, 0, 0},
		 {1, 1, 16, 1, 16, 32, 16, 16, 1, 0, 0}},
		{"pwrite 0 1m",
		 {256, 256, 256, 256, 256, 512, 256, 256, 1, 0, 0},
		 {1, 1, 256, 1, 256, 512, 256, 256, 1, 0, 0}},
		{"pwrite 0 100k",
		 {25, 25, 25, 25, 25, 50, 25, 25, 1, 0, 0},
		 {3, 3, 25, 3, 25, 50, 25, 25, 1, 0, 0}},
		{"pwrite 4k 1m",
		 {256, 256, 256, 256, 256, 512, 256, 256, 1, 0, 0},
		 {9, 9, 256, 9, 256, 512, 256, 256, 1, 0, 0}},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(writes); i++) {
		expect_counts("v6.12.y", NULL, writes[i].ops, &writes[i].base);
		for (const char *const *k = LIST("v6.16.y", "v6.18", "v7.3"); *k; k++)
			expect_counts(*k, NULL, writes[i].ops, &writes[i].large);
	}
}

/*
 * Proves that bigalloc reserves clusters of 64K, each once. The first line was traced on 6.18.44
 * (ext4_da_reserve_space), the others count the clusters touched.
 */
static void test_cluster_reservations(void **state)
{
	static const struct {
		const char *ops;
		u64 reserved;
	} writes[] = {
		{"pwrite 0 1m", 16},
		{"pwrite 12k 4k", 1},
		{"pwrite 12k 4k; pwrite 56k 12k", 2},
		{"pwrite 12k 4k; pwrite 56k 12k; fsync; pwrite 20k 4k", 2},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(writes); i++) {
		struct run_config config = file_config("v6.18", "ext4");
		struct run *run;

		config.features = "bigalloc";
		run = scene_open(&config);
		assert_int_equal(count_ops(run, writes[i].ops).reserved, writes[i].reserved);
		scene_close(run);
	}
}

/* Proves that overwriting cached data looks nothing up and makes nothing new. */
static void test_overwrite_counts(void **state)
{
	for (const char *const *k = LIST("v6.12.y", "v6.18", "v7.3"); *k; k++) {
		struct run_config config = file_config(*k, "ext4");
		struct run *run = scene_open(&config);
		struct counts c;

		scene_play(run, "pwrite 0 1m; fsync");
		c = count_ops(run, "pwrite 0 1m");
		assert_int_equal(
			c.folios + c.heads + c.creates + c.get_block + c.lookups + c.reserved, 0);
		assert_int_equal(c.dirtied, 256);
		assert_int_equal(c.handles, 1);
		scene_close(run);
	}
}

/* Proves the handles of 3.3 and 3.5: one a folio without delalloc, one a page on 6.1. */
static void test_handles(void **state)
{
	static const struct {
		const char *kernel, *options;
		u64 handles, get_block;
	} cases[] = {
		{"v6.1.y", NULL, 257, 256},
		{"v6.12.y", NULL, 1, 256},
		{"v6.12.y", "nodelalloc", 1 + 256, 256},
		{"v6.18", "nodelalloc", 1 + 1, 256},
		{"v7.3", "nodelalloc", 1 + 1, 256},
		{"v6.18", "data=journal", 1 + 256, 256},
		{"v7.3", "data=journal", 1 + 256, 256},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct run_config config = file_config(cases[i].kernel, "ext4");
		struct run *run;
		struct counts c;

		config.mount_options = cases[i].options;
		run = scene_open(&config);
		c = count_ops(run, "pwrite 0 1m");
		assert_int_equal(c.handles, cases[i].handles);
		assert_int_equal(c.get_block, cases[i].get_block);
		scene_close(run);
	}
}

/* Proves 7.2's iomap column: no buffer heads, one mapping; and 3 folios for 100K. */
static void test_iomap_counts(void **state)
{
	for (const char *const *k = LIST("v6.12.y", "v6.18", "v7.3"); *k; k++) {
		struct run_config config = file_config(*k, "xfs");
		struct run *run = scene_open(&config);
		struct counts c = count_ops(run, "pwrite 0 100k");

		assert_int_equal(c.folios, 3);
		assert_int_equal(c.maps, 1);
		assert_int_equal(c.heads + c.get_block + c.visits, 0);
		assert_int_equal(run->machine->mm->slab.live, 0); /* no per-block state */
		scene_close(run);
	}
}

/* Proves how far a 4K overwrite walks in a clean cached 2 MiB folio: all of it until 7.3. */
static void test_buffer_walk(void **state)
{
	static const struct {
		const char *kernel;
		u64 visits;
	} cases[] = {{"v6.16.y", 1024}, {"v6.18", 1024}, {"v7.3", 2 * 9}};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct run_config config = file_config(cases[i].kernel, "ext4");
		struct run *run = scene_open(&config);

		scene_play(run, "pwrite 0 2m; fsync");
		assert_string_equal(file_orders(run, 0, 511), "1*o9");
		assert_int_equal(count_ops(run, "pwrite 32k 4k").visits, cases[i].visits);
		scene_close(run);
	}
}

/* Proves 7.3: a sequential read costs a look-up a window, or one a block in a hole. */
static void test_read_lookups(void **state)
{
	for (const char *const *k = LIST("v6.12.y", "v6.18", "v7.3"); *k; k++) {
		struct run_config config = file_config(*k, "ext4");
		struct run *run;
		struct counts c;

		config.disk = "ram";
		config.size = 16 << 20;
		config.io_bytes = 128 << 10;
		config.written = true;
		run = scene_open(&config);
		scene_play(run, "read 1m 4");
		c = count_ops(run, "read 1m 4");
		assert_int_equal(c.lookups, 32);
		scene_close(run);
		config.disk = "hole";
		config.written = false;
		run = scene_open(&config);
		scene_play(run, "read 1m 1");
		assert_true(cost_units(run, COST_ES_LOOKUP) >= 256);
		assert_int_equal(cost_units(run, COST_ES_LOOKUP), run->inode->i_data.nrpages);
		assert_int_equal(run->sb->s_bdev->stats.bios, 0);
		scene_close(run);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_large_folio),
		cmocka_unit_test(test_small_folios),
		cmocka_unit_test(test_xfs_folio),
		cmocka_unit_test(test_cold_read),
		cmocka_unit_test(test_two_megabytes),
		cmocka_unit_test(test_blocks_of_a_page),
		cmocka_unit_test(test_boundary),
		cmocka_unit_test(test_assertion),
		cmocka_unit_test(test_assertion_gone),
		cmocka_unit_test(test_append_counts),
		cmocka_unit_test(test_cluster_reservations),
		cmocka_unit_test(test_overwrite_counts),
		cmocka_unit_test(test_handles),
		cmocka_unit_test(test_iomap_counts),
		cmocka_unit_test(test_buffer_walk),
		cmocka_unit_test(test_read_lookups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
