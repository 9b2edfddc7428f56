/*
 * mm/test_page_alloc.c - the buddy system, reclaim, and what happens when memory says no.
 *
 * Proves against counts made here that blocks split, merge, never overlap and all come back; that
 * fragmented memory makes readahead fall back; that watermarks are the kernel's formula; that
 * evicted pages leave shadows and come back active when they left recently; and that any single
 * failed allocation, of a folio or of a tree node, costs nobody a byte.
 */
#include "unit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "block/blkdev.h"
#include "fs/boot.h"
#include "lib/prng.h"
#include "mm/internal.h"
#include "mm/scene.h"

static struct machine *boot(u64 pages, unsigned int page_size, int fragment_order,
			    unsigned int fragment_percent)
{
	struct machine_config config;
	struct fl_error err = {0};
	struct machine *m;

	machine_config_init(&config);
	config.memory = pages * page_size;
	config.page_size = page_size;
	config.fragment_order = fragment_order;
	config.fragment_percent = fragment_percent;
	if (machine_boot(&config, &m, &err))
		fail_msg("%s", err.text);
	return m;
}

static void expect_sound(struct machine *m)
{
	struct fl_error err = {0};

	if (vm_check_machine(m, &err))
		fail_msg("%s", err.text);
}

static u64 free_blocks(const struct machine *m, unsigned int order)
{
	return hbitmap_count(&m->mm->zone.free_area[order]);
}

/* ---- buddies ---- */

/* The orders of MAX_PAGE_ORDER in the three page sizes. */
static const struct {
	unsigned int page_size, max_order;
} sizes[] = {{4096, 10}, {16384, 11}, {65536, 13}};

/* One page taken from whole memory leaves one buddy of every order; given back, nothing shows. */
static void test_split_and_merge(void **state)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		unsigned int top = sizes[i].max_order;
		struct machine *m = boot(4UL << top, sizes[i].page_size, -1, 0);
		struct folio *folio;

		assert_int_equal(m->max_page_order, top);
		assert_int_equal(free_blocks(m, top), 4);
		folio = folio_alloc(m, GFP_KERNEL, 0);
		for (unsigned int o = 0; o < top; o++)
			assert_int_equal(free_blocks(m, o), 1);
		assert_int_equal(free_blocks(m, top), 3);
		assert_int_equal(m->mm->zone.nr_free, (4UL << top) - 1);
		folio_put(folio);
		for (unsigned int o = 0; o < top; o++)
			assert_int_equal(free_blocks(m, o), 0);
		assert_int_equal(free_blocks(m, top), 4);
		machine_shutdown(m);
	}
}

static void test_every_order(void **state)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		unsigned int top = sizes[i].max_order;
		struct machine *m = boot(8UL << top, sizes[i].page_size, -1, 0);
		struct folio *folios[16];

		for (unsigned int o = 0; o <= top; o++) {
			folios[o] = folio_alloc(m, GFP_KERNEL, o);
			assert_non_null(folios[o]);
			assert_int_equal(folio_pfn(folios[o]) % (1UL << o), 0);
			assert_int_equal(folio_ref_count(folios[o]), 1);
		}
		assert_int_equal(m->mm->zone.nr_free, (8UL << top) - ((2UL << top) - 1));
		for (unsigned int o = 0; o <= top; o++)
			folio_put(folios[o]);
		assert_int_equal(free_blocks(m, top), 8);
		expect_sound(m);
		machine_shutdown(m);
	}
}

#define MODEL_PAGES 3001 /* no power of two: the last blocks are small ones */

struct model {
	struct machine *m;
	struct prng p;
	u8 owned[MODEL_PAGES];
	struct folio *live[MODEL_PAGES];
	unsigned int nr;
	u64 pages;
};

static void model_own(struct model *x, const struct folio *folio, u8 from, u8 to)
{
	for (u64 i = 0; i < folio_nr_pages(folio); i++) {
		assert_true(folio_pfn(folio) + i < MODEL_PAGES);
		assert_int_equal(x->owned[folio_pfn(folio) + i], from);
		x->owned[folio_pfn(folio) + i] = to;
	}
	x->pages += (to ? 1 : -1) * (s64)folio_nr_pages(folio);
}

static void model_alloc(struct model *x)
{
	unsigned int order = prng_below(&x->p, prng_below(&x->p, 11) + 1);
	struct folio *folio = folio_alloc(x->m, __GFP_NORETRY, order);

	if (!folio)
		return;
	model_own(x, folio, 0, 1);
	x->live[x->nr++] = folio;
}

static void model_free(struct model *x)
{
	unsigned int i = prng_below(&x->p, x->nr);
	struct folio *folio = x->live[i];

	model_own(x, folio, 1, 0);
	folio_put(folio);
	x->live[i] = x->live[--x->nr];
}

/* Proves that no page is ever owned twice, none is lost, and freeing all merges all. */
static void test_random_blocks(void **state)
{
	static struct model x;
	u64 blocks[16];

	memset(&x, 0, sizeof(x));
	x.m = boot(MODEL_PAGES, 4096, -1, 0);
	prng_seed(&x.p, 7);
	for (unsigned int o = 0; o <= 10; o++)
		blocks[o] = free_blocks(x.m, o);
	for (unsigned int i = 0; i < 20000; i++) {
		if (x.nr && prng_below(&x.p, 100) < (i / 2000 & 1 ? 70 : 40))
			model_free(&x);
		else
			model_alloc(&x);
		assert_int_equal(x.m->mm->zone.nr_free, MODEL_PAGES - x.pages);
	}
	while (x.nr)
		model_free(&x);
	for (unsigned int o = 0; o <= 10; o++)
		assert_int_equal(free_blocks(x.m, o), blocks[o]);
	expect_sound(x.m);
	machine_shutdown(x.m);
}

/* ---- fragmentation ---- */

/* One page of every 2^(order+1) is held, so nothing above the order can be free. */
static void test_fragmented(void **state)
{
	for (unsigned int order = 0; order < 10; order++) {
		struct machine *m = boot(16384, 4096, order, 100);

		for (unsigned int o = 0; o <= 10; o++)
			assert_int_equal(free_blocks(m, o), o <= order ? 16384 >> (order + 1) : 0);
		assert_int_equal(m->mm->zone.pinned, 16384 >> (order + 1));
		assert_null(folio_alloc(m, __GFP_NORETRY, order + 1));
		expect_sound(m);
		machine_shutdown(m);
	}
}

/* Half of memory: the other half stays whole, and the same half every time. */
static void test_half_fragmented(void **state)
{
	struct machine *a = boot(1 << 20, 4096, 2, 50), *b = boot(1 << 20, 4096, 2, 50);
	u64 whole = free_blocks(a, 10);

	/* 1024 blocks at even odds: 512, and within six standard deviations (16) of it. */
	assert_in_range(whole, 512 - 96, 512 + 96);
	assert_int_equal(free_blocks(b, 10), whole);
	assert_int_equal(a->mm->zone.pinned, (1024 - whole) * 1024 / 8);
	for (unsigned int o = 3; o < 10; o++)
		assert_int_equal(free_blocks(a, o), 0);
	machine_shutdown(a);
	machine_shutdown(b);
}

/* Readahead tries the large order once a window and goes on with order 0 (3.6 steps 6 and 8). */
static void test_readahead_falls_back(void **state)
{
	struct run_config config = scene_config("v6.18");
	const struct trace *t;
	struct run *run;

	config.machine.fragment_order = 1;
	config.machine.fragment_percent = 100;
	run = scene_open(&config);
	t = &run->machine->trace;
	scene_play(run, "read 64k 64");
	assert_int_equal(run->bytes, 4 << 20);
	assert_true(t->count[EV_fl_folio_alloc][5] > 10);
	for (unsigned int o = 2; o < TRACE_ORDERS; o++)
		assert_int_equal(t->count[EV_mm_filemap_add_to_page_cache][o], 0);
	assert_true(t->count[EV_mm_filemap_add_to_page_cache][0] >= 1024);
	assert_int_equal(run->errors, 0);
	scene_close(run);
}

/* ---- watermarks ---- */

/* mm/page_alloc.c: min_free_kbytes = 4 * sqrt(lowmem_kbytes) within 128 and 262144; low +1/4, high
 * +1/2. */
static void test_watermarks(void **state)
{
	static const struct {
		u64 pages;
		unsigned long min;
	} cases[] = {
		{1 << 18, 1024}, /* 1 GiB: 4 * sqrt(2^20) = 4096 KiB */
		{1 << 22, 4096}, /* 16 GiB: 4 * 2^12 = 16384 KiB */
		{1 << 16, 512},	 /* 256 MiB: 2048 KiB */
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct machine *m = boot(cases[i].pages, 4096, -1, 0);
		const struct zone *zone = &m->mm->zone;
		unsigned long min = cases[i].min;

		assert_int_equal(zone->_watermark[WMARK_MIN], min);
		assert_int_equal(zone->_watermark[WMARK_LOW], min + min / 4);
		assert_int_equal(zone->_watermark[WMARK_HIGH], min + min / 2);
		machine_shutdown(m);
	}
}

static void test_watermark_ok(void **state)
{
	struct zone zone = {.nr_free = 100};

	assert_true(zone_watermark_ok(&zone, 0, 99));
	assert_false(zone_watermark_ok(&zone, 0, 100));
	assert_true(zone_watermark_ok(&zone, 3, 92));
	assert_false(zone_watermark_ok(&zone, 3, 93));
}

/* Take pages one by one until none comes; they are handed back. */
static unsigned int take_all(struct machine *m, gfp_t gfp)
{
	static struct folio *taken[4096];
	unsigned int nr = 0, got;

	while (nr < ARRAY_SIZE(taken) && (taken[nr] = folio_alloc(m, gfp, 0)))
		nr++;
	for (got = nr; nr; nr--)
		folio_put(taken[nr - 1]);
	return got;
}

/* Who may be refused stops at the minimum watermark; who may not takes the reserve too. */
static void test_reserve(void **state)
{
	struct machine *m = boot(2000, 4096, -1, 0);

	assert_int_equal(take_all(m, __GFP_NORETRY), 2000 - m->mm->zone._watermark[WMARK_MIN]);
	assert_true(m->mm->vm.allocstall > 0);
	assert_int_equal(take_all(m, GFP_KERNEL), 2000);
	assert_int_equal(m->mm->zone.nr_free, 2000);
	expect_sound(m);
	machine_shutdown(m);
}

/* ---- reclaim ---- */

static void check_bytes(void *ctx, const void *buf, size_t len)
{
	s64 *pos = ctx;
	const char *bytes = buf;

	for (size_t i = 0; i < len; i++, (*pos)++)
		if (bytes[i] != (char)(disk_pattern(*pos / 8) >> (*pos % 8 * 8)))
			fail_msg("byte %" PRId64 " is wrong", *pos);
}

static struct run_config small_memory(const char *kernel, u64 pages, unsigned int page_size)
{
	struct run_config config = scene_config(kernel);

	config.machine.memory = pages * page_size;
	config.machine.page_size = page_size;
	config.machine.data = true;
	config.disk = "nvme";
	config.size = 256 * page_size * 8;
	return config;
}

/* A file eight times memory is read right, kswapd does the work, pages in = out + left. */
static void test_streaming(void **state)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct run_config config = small_memory("v6.18", 256, sizes[i].page_size);
		struct run *run = scene_open(&config);
		const struct mm_state *mm = run->machine->mm;
		s64 pos = 0;
		u64 added = 0;

		run->consume = check_bytes;
		run->consume_ctx = &pos;
		scene_play(run, "read 100000 1400");
		assert_int_equal(pos, config.size < 140000000 ? config.size : 140000000);
		assert_int_equal(run->errors, 0);
		assert_true(mm->vm.pgsteal_kswapd > 256);
		assert_true(run->machine->kswapd_ps > 0);
		for (unsigned int o = 0; o < TRACE_ORDERS; o++)
			added += run->machine->trace.count[EV_mm_filemap_add_to_page_cache][o] << o;
		assert_int_equal(added, mm->pages.evicted + mm->vm.nr_file_pages);
		assert_int_equal(mm->pages.evicted, mm->vm.pgsteal_kswapd + mm->vm.pgsteal_direct);
		scene_close(run);
	}
}

/* The machine with the least memory there is, every kernel. */
static void test_tiny_memory(void **state)
{
	for (unsigned int nr = 0; profile_info(nr); nr++)
		for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
			struct run_config config = small_memory(
				profile_info(nr)->name, MACHINE_MIN_PAGES, sizes[i].page_size);
			struct run *run;
			s64 pos = 0;

			config.size = 1 << 20;
			run = scene_open(&config);
			run->consume = check_bytes;
			run->consume_ctx = &pos;
			scene_play(run, "read 5000 300");
			assert_int_equal(pos, 1 << 20);
			assert_int_equal(run->errors, 0);
			scene_close(run);
		}
}

static bool is_shadow(struct run *run, pgoff_t index)
{
	void *entry = xa_load(&run->inode->i_mapping->i_pages, index);

	return entry && xa_is_value(entry);
}

static bool is_active(struct run *run, pgoff_t index)
{
	struct folio *folio = filemap_get_folio(run->inode->i_mapping, index);
	bool active = folio_test_active(folio);

	folio_put(folio);
	return active;
}

/*
 * 300 pages are read twice and become active; a stream then evicts its own oldest pages. The page
 * evicted last left fewer than 300 evictions ago: it comes back active. The first did not.
 */
static void test_refaults(void **state)
{
	struct run_config config = scene_config("v6.18");
	struct run *run;
	pgoff_t last = 0;

	config.machine.memory = 2000 * 4096;
	run = scene_open(&config);
	scene_play(run, "fadvise random 0 0");
	for (unsigned int i = 0; i < 600; i++)
		scene_pread(run, i % 300 * 4096, 4096);
	lru_add_drain(run->machine);
	assert_int_equal(run->machine->mm->lruvec.nr[LRU_ACTIVE_FILE], 300);
	for (unsigned int i = 1000; i < 9000; i++)
		scene_pread(run, i * 4096LL, 4096);
	assert_true(is_shadow(run, 1000));
	assert_false(is_shadow(run, 299));
	for (pgoff_t i = 1000; i < 9000; i++)
		if (is_shadow(run, i))
			last = i;
	assert_int_equal(run->machine->mm->vm.workingset_refault_file, 0);
	scene_pread(run, last * 4096LL, 4096);
	assert_int_equal(run->machine->mm->vm.workingset_refault_file, 1);
	assert_int_equal(run->machine->mm->vm.workingset_activate_file, 1);
	assert_true(is_active(run, last));
	scene_pread(run, 1000 * 4096LL, 4096);
	assert_int_equal(run->machine->mm->vm.workingset_refault_file, 2);
	assert_int_equal(run->machine->mm->vm.workingset_activate_file, 1);
	assert_false(is_active(run, 1000));
	scene_close(run);
}

/* What was thrown away on request leaves no shadow, and takes those of its range with it. */
static void test_dontneed_leaves_no_shadow(void **state)
{
	struct run_config config = scene_config("v6.18");
	struct run *run;

	config.machine.memory = 1000 * 4096;
	run = scene_open(&config);
	scene_play(run, "read 64k 500");
	assert_true(is_shadow(run, 0));
	scene_play(run, "fadvise dontneed 0 0");
	for (pgoff_t i = 0; i < 8192; i++)
		assert_null(xa_load(&run->inode->i_mapping->i_pages, i));
	scene_close(run);
}

/* A folio that somebody holds survives everything: reclaim and DONTNEED go around it. */
static void test_held_folio_stays(void **state)
{
	struct run_config config = scene_config("v6.18");
	struct folio *folio;
	struct run *run;

	config.machine.memory = 1000 * 4096;
	run = scene_open(&config);
	scene_play(run, "read 4k");
	folio = filemap_get_folio(run->inode->i_mapping, 0);
	scene_play(run, "seek 1m; read 64k 500; fadvise dontneed 0 0");
	assert_int_equal(run->inode->i_mapping->nrpages, 1);
	assert_ptr_equal(xa_load(&run->inode->i_mapping->i_pages, 0), folio);
	folio_put(folio);
	scene_play(run, "fadvise dontneed 0 0");
	assert_int_equal(run->inode->i_mapping->nrpages, 0);
	scene_close(run);
}

/* ---- the n-th allocation fails ---- */

#define FAIL_OPS   "read 64k 8; read 4k 20; pread 1m 100k; read 5000 3; seek 0; read 100k 15"
#define FAIL_READS (8 + 20 + 1 + 3 + 15)

/* The bytes of FAIL_OPS in order: where each read begins. */
struct fail_check {
	struct trace_sink sink;
	s64 pos;
};

static void fail_event(struct trace_sink *sink, const struct trace_event *ev)
{
	if (ev->id == EV_fl_read)
		container_of(sink, struct fail_check, sink)->pos = ev->index;
}

enum failing { FAIL_FOLIO, FAIL_NODE };

/* One run in which the @n-th allocation fails; false when there were fewer. */
static bool play_failing(struct run_config *config, enum failing what, u64 n)
{
	struct fail_check check = {.sink.event = fail_event};
	struct run *run = scene_open(config);
	u64 *counter = what == FAIL_FOLIO ? &run->machine->fail_folio_alloc_in
					  : &run->machine->mm->xa_nodes.fail_in;
	bool reached;

	trace_add_sink(&run->machine->trace, &check.sink);
	run->consume = check_bytes;
	run->consume_ctx = &check.pos;
	*counter = n;
	scene_play(run, FAIL_OPS);
	reached = *counter == 0;
	*counter = 0;
	assert_int_equal(run->errors, 0);
	assert_int_equal(run->reads, FAIL_READS);
	assert_int_equal(run->bytes, (8 << 16) + 20 * 4096 + 102400 + 15000 + 1536000);
	trace_remove_sink(&run->machine->trace, &check.sink);
	scene_close(run);
	return reached;
}

/* Every n up to 40, then every 7th: until the run makes fewer allocations. */
static void fail_all(const char *kernel, const char *fs, enum failing what)
{
	struct run_config config = scene_config(kernel);
	u64 n = 1;

	config.fs = fs;
	config.disk = "nvme";
	config.size = 4 << 20;
	config.machine.data = true;
	while (play_failing(&config, what, n))
		n += n < 40 || getenv("FL_SOAK") ? 1 : 7;
	assert_true(n > (what == FAIL_FOLIO ? 20 : 2));
}

static void test_failing_allocations(void **state)
{
	static const struct {
		const char *kernel, *fs;
	} cases[] = {
		{"v6.1", "xfs"},     {"v6.7", "ext4"}, {"ab4443fe3ca6", "xfs"}, {"v6.12.y", "xfs"},
		{"v6.16.y", "ext4"}, {"v6.18", "xfs"}, {"v7.3", "ext4-1k"},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		fail_all(cases[i].kernel, cases[i].fs, FAIL_FOLIO);
		fail_all(cases[i].kernel, cases[i].fs, FAIL_NODE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split_and_merge),
		cmocka_unit_test(test_every_order),
		cmocka_unit_test(test_random_blocks),
		cmocka_unit_test(test_fragmented),
		cmocka_unit_test(test_half_fragmented),
		cmocka_unit_test(test_readahead_falls_back),
		cmocka_unit_test(test_watermarks),
		cmocka_unit_test(test_watermark_ok),
		cmocka_unit_test(test_reserve),
		cmocka_unit_test(test_streaming),
		cmocka_unit_test(test_tiny_memory),
		cmocka_unit_test(test_refaults),
		cmocka_unit_test(test_dontneed_leaves_no_shadow),
		cmocka_unit_test(test_held_folio_stays),
		cmocka_unit_test(test_failing_allocations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
