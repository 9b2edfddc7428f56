/*
 * mm/test_mmap_tables.c - tables 8.1 and 8.2 of the specification of mapped faults, every cell.
 *
 * Proves that a cached file read page by page through a mapping costs exactly the faults, visits,
 * set_pte_range() calls, PTE stores, statistics calls, locked operations and gather slots that were
 * seen live (v6.18) or follow from the sources of each version.
 */
#include <stdio.h>

#include "mm/internal.h"
#include "mm/mapscene.h"

#define GIB (1LL << 30)

/* Table 8.1: 1 GiB, 2 MiB-congruent. */
static const struct row {
	const char *kernel, *fs;
	unsigned int order;
	u64 faults, visits, lookups, set_pte, pte_stores, stat_add, stat_sub, rmw_map, rmw_unmap,
		slots;
} rows[] = {
	{"v6.1", "ext4", 0, 16384, 262144, 278528, 262144, 262144, 262144, 262144, 1048576, 524288,
	 262144},
	{"v6.7", "ext4", 0, 16384, 262144, 278528, 262144, 262144, 262144, 262144, 1572864, 524288,
	 262144},
	{"v6.12", "ext4", 0, 16384, 262144, 278528, 262144, 262144, 262144, 262144, 1572864, 524288,
	 262144},
	{"v6.17", "ext4", 0, 16384, 262144, 278528, 262144, 262144, 262144, 262144, 1572864, 524288,
	 262144},
	{"v6.18", "ext4", 0, 16384, 262144, 278528, 262144, 262144, 262144, 262144, 1048576, 524288,
	 262144},
	{"v7.3", "ext4", 0, 16384, 262144, 278528, 262144, 262144, 262144, 262144, 1048576, 524288,
	 262144},
	{"v6.12", "xfs", 1, 16384, 131072, 147456, 131072, 262144, 131072, 131072, 1179648, 655360,
	 262144},
	{"v6.16", "ext4", 1, 16384, 131072, 147456, 131072, 262144, 131072, 131072, 1179648, 655360,
	 262144},
	{"v6.17", "ext4", 1, 16384, 131072, 147456, 131072, 262144, 131072, 131072, 1179648, 655360,
	 262144},
	{"v6.18", "ext4", 1, 16384, 131072, 147456, 131072, 262144, 131072, 131072, 1048576, 655360,
	 262144},
	{"v7.3", "ext4", 1, 16384, 131072, 147456, 131072, 262144, 131072, 131072, 1048576, 655360,
	 262144},
	{"v6.1", "xfs", 2, 16384, 65536, 81920, 262144, 262144, 262144, 262144, 917504, 524288,
	 262144},
	{"v6.7", "xfs", 2, 16384, 65536, 81920, 65536, 262144, 65536, 262144, 851968, 786432,
	 262144},
	{"v6.12", "xfs", 2, 16384, 65536, 81920, 65536, 262144, 65536, 65536, 720896, 458752,
	 131072},
	{"v6.16", "ext4", 2, 16384, 65536, 81920, 65536, 262144, 65536, 65536, 720896, 458752,
	 131072},
	{"v6.18", "ext4", 2, 16384, 65536, 81920, 65536, 262144, 65536, 65536, 655360, 458752,
	 131072},
	{"v7.3", "xfs", 2, 16384, 65536, 81920, 65536, 262144, 65536, 65536, 655360, 458752,
	 131072},
	{"v6.1", "xfs", 5, 16384, 16384, 32768, 262144, 262144, 262144, 262144, 819200, 524288,
	 262144},
	{"v6.7", "xfs", 5, 16384, 16384, 32768, 16384, 262144, 16384, 262144, 606208, 786432,
	 262144},
	{"v6.12", "xfs", 5, 16384, 16384, 32768, 16384, 262144, 16384, 8192, 376832, 286720, 16384},
	{"v6.17", "ext4", 5, 16384, 16384, 32768, 16384, 262144, 16384, 8192, 376832, 286720,
	 16384},
	{"v6.18", "ext4", 5, 8193, 8193, 16386, 8193, 262144, 8193, 8192, 311302, 286720, 16384},
	{"v7.3", "ext4", 5, 8193, 8193, 16386, 8193, 262144, 8193, 8192, 311302, 286720, 16384},
	{"v6.1", "xfs", 9, 512, 512, 512, 0, 0, 512, 512, 264192, 263168, 512},
	{"v6.12", "xfs", 9, 512, 512, 512, 0, 0, 512, 512, 3072, 2048, 512},
	{"v6.17", "ext4", 9, 512, 512, 512, 0, 0, 512, 512, 3072, 2048, 512},
	{"v6.18", "ext4", 9, 512, 512, 512, 0, 0, 512, 512, 3073, 2048, 512},
	{"v7.3", "xfs", 9, 512, 512, 512, 0, 0, 512, 512, 3073, 2048, 512},
};

static struct map_counts read_pages(struct run *run, const char *ops)
{
	struct map_counts before = map_counts(run);

	scene_play(run, ops);
	unmap(run);
	return map_counts_since(run, &before);
}

static void expect_row(const struct row *r)
{
	struct run *run = map_open(r->kernel, r->fs, GIB);
	struct map_counts c;
	char what[64];

	snprintf(what, sizeof(what), "%s %s order %u", r->kernel, r->fs, r->order);
	fill_cache(run, 0, GIB >> 12, r->order);
	map_at(run, 0);
	c = read_pages(run, "touch 0 4k 262144");
	expect_count(what, "faults", c.faults, r->faults);
	expect_count(what, "fault-arounds", c.fault_arounds, r->faults);
	expect_count(what, "visits", c.visits, r->visits);
	expect_count(what, "lookups", c.lookups, r->lookups);
	expect_count(what, "set_pte_range", c.set_pte, r->set_pte);
	expect_count(what, "PTE stores", c.pte_stores, r->pte_stores);
	expect_count(what, "stat +", c.stat_add, r->stat_add);
	expect_count(what, "stat -", c.stat_sub, r->stat_sub);
	expect_count(what, "RMW map", c.rmw_map, r->rmw_map);
	expect_count(what, "RMW unmap", c.rmw_unmap, r->rmw_unmap);
	expect_count(what, "slots", c.slots, r->slots);
	scene_close(run);
}

/* Proves every row of table 8.1. */
static void test_table_81(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		expect_row(&rows[i]);
}

/* Proves what the table's footnotes say of order 4, of a stride and of the counters' flushes. */
static void test_table_81_notes(void **state)
{
	static const struct {
		unsigned int order;
		u64 node, memcg;
	} flushes[] = {
		{0, 2080, 4096}, {1, 2080, 4096}, {2, 2048, 4096}, {4, 2048, 4096}, {9, 512, 512}};
	struct run *run;
	struct map_counts c;

	for (size_t i = 0; i < ARRAY_SIZE(flushes); i++) {
		struct map_counts before;

		run = map_open("v6.18", "ext4", GIB);
		run->machine->mm->stats.threshold = 125;
		fill_cache(run, 0, GIB >> 12, flushes[i].order);
		map_at(run, 0);
		before = map_counts(run);
		scene_play(run, "touch 0 4k 262144");
		c = map_counts_since(run, &before);
		expect_count("mapping", "node flushes", c.node_flushes, flushes[i].node);
		expect_count("mapping", "memcg flushes", c.memcg_flushes, flushes[i].memcg);
		if (flushes[i].order == 4) {
			expect_count("order 4", "faults", c.faults, 16384);
			expect_count("order 4", "stat +", c.stat_add, 16384);
		}
		unmap(run);
		scene_close(run);
	}
	run = map_open("v6.18", "ext4", 256 << 20);
	fill_cache(run, 0, 65536, 3);
	map_at(run, 0);
	c = read_pages(run, "touch 0 16k 16384");
	expect_count("16 KiB stride, order 3", "faults", c.faults, 4096);
	scene_close(run);
}

/* Proves how often the mmu_gather is full (and once more at the end): section 4. */
static void test_gather(void **state)
{
	static const struct {
		const char *kernel;
		unsigned int order;
		u64 full;
	} rows[] = {{"v6.1", 0, 27},  {"v6.1", 2, 27}, {"v6.12", 0, 27}, {"v6.12", 1, 27},
		    {"v6.12", 2, 13}, {"v6.18", 4, 3}, {"v6.18", 5, 1}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct run *run = map_open(rows[i].kernel, "xfs", GIB);
		struct map_counts before;

		fill_cache(run, 0, GIB >> 12, rows[i].order);
		map_at(run, 0);
		scene_play(run, "touch 0 4k 262144");
		before = map_counts(run);
		unmap(run);
		expect_count(rows[i].kernel, "flushes", map_counts_since(run, &before).flushes,
			     rows[i].full + 1);
		scene_close(run);
	}
}

/* Table 8.2: 256 MiB on v6.18, the VMA starting at a page table index; all seen live. */
static const struct {
	unsigned int order, index;
	u64 faults, map_events, filemap_faults, stat_add, stat_sub;
} misaligned[] = {
	{9, 16, 4097, 4096, 1, 4097, 256},   {9, 8, 4098, 4097, 1, 4225, 256},
	{5, 16, 2177, 2176, 1, 2177, 2176},  {5, 8, 2178, 2177, 1, 2305, 2176},
	{2, 3, 4098, 4097, 1, 16513, 16512},
};

/* Proves table 8.2. */
static void test_table_82(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(misaligned); i++) {
		struct run *run = map_open("v6.18", "ext4", 256 << 20);
		struct map_counts c;
		char what[64];

		snprintf(what, sizeof(what), "order %u, index %u", misaligned[i].order,
			 misaligned[i].index);
		fill_cache(run, 0, 65536, misaligned[i].order);
		map_at(run, misaligned[i].index);
		c = read_pages(run, "touch 0 4k 65536");
		expect_count(what, "faults", c.faults, misaligned[i].faults);
		expect_count(what, "map events", c.map_events, misaligned[i].map_events);
		expect_count(what, "filemap_fault", c.filemap_faults, misaligned[i].filemap_faults);
		expect_count(what, "stat +", c.stat_add, misaligned[i].stat_add);
		expect_count(what, "stat -", c.stat_sub, misaligned[i].stat_sub);
		scene_close(run);
	}
}

/* Proves the threshold of the node counters: section 3.8. */
static void test_threshold(void **state)
{
	assert_int_equal(calculate_normal_threshold(1, 64ULL << 30), 2 * 1 * (1 + 10));
	assert_int_equal(calculate_normal_threshold(2, 4ULL << 30), 2 * 2 * (1 + 6));
	assert_int_equal(calculate_normal_threshold(256, 256ULL << 30), 125);
	assert_int_equal(calculate_normal_threshold(1, 1 << 20), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_81),  cmocka_unit_test(test_table_81_notes),
		cmocka_unit_test(test_gather),	  cmocka_unit_test(test_table_82),
		cmocka_unit_test(test_threshold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
