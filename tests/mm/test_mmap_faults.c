/*
 * mm/test_mmap_faults.c - mapped files: sections 1, 5 and 8.3, 8.4 of their specification.
 *
 * Proves which windows a mapped read opens, how many exceptions it takes, when reading around a
 * miss is given up, what a store costs in buffer visits, and what munmap, madvise, truncation and
 * reclaim do to what is mapped.
 */
#include <errno.h>

#include "mm/internal.h"
#include "mm/mapscene.h"

#define GIB (1LL << 30)

/* ---- 8.3: page by page through a file that is not cached ---- */

struct sequential {
	const char *kernel, *fs, *windows;
	u64 exceptions, added, stat_add;
};

/* Windows as tests/mm/scene.h writes them: start + size / tail, orders of the folios. */
static const struct sequential sequentials[] = {
	{"v6.12", "xfs",
	 "W[0+32/8] 2*8 / A(24,32) W[32+32/32] 4,4 / A(32,32) W[64+32/32] 5 / "
	 "A(64,32) W[96+32/32] 5 / A(96,32) W[128+32/32] 5 ...",
	 65, 41, 70},
	{"v6.16", "ext4",
	 "W[0+32/8] 2*8 / A(24,32) W[32+32/32] 4,4 / A(32,32) W[64+32/32] 5 / "
	 "A(64,32) W[96+32/32] 5 ...",
	 65, 41, 70},
	{"v6.18", "xfs",
	 "W[0+32/8] 0*32 / A(24,32) W[32+32/32] 2*8 / A(32,32) W[64+32/32] 4,4 / "
	 "A(64,32) W[96+32/32] 5 / A(96,32) W[128+32/32] 5 ...",
	 36, 72, 71},
	{"v6.18", "ext4",
	 "W[0+32/8] 0*32 / A(24,32) W[32+32/32] 2*8 / A(32,32) W[64+32/32] 4,4 / "
	 "A(64,32) W[96+32/32] 5 ...",
	 36, 72, 71},
	{"v6.12", "ext4",
	 "U[0+32 look 8] / A(24,32) U[32+32 look 32] / A(32,32) U[64+32 look 32] / "
	 "A(64,32) U[96+32 look 32] ...",
	 65, 1056, 1024},
};

static void expect_sequential(const struct sequential *s, const char *ops)
{
	struct run *run = map_open(s->kernel, s->fs, 64 << 20);
	struct notes notes;
	struct map_counts c;

	map_at(run, 0);
	notes_begin(&notes, run);
	scene_play(run, ops);
	notes_expect(&notes, s->kernel, s->windows);
	notes_end(&notes, run);
	c = map_counts(run);
	expect_count(s->kernel, "windows", c.windows, 33);
	expect_count(s->kernel, "filemap_fault", c.filemap_faults, 33);
	expect_count(s->kernel, "major faults", c.majors, 1);
	expect_count(s->kernel, "exceptions", c.faults, s->exceptions);
	expect_count(s->kernel, "folios", c.added, s->added);
	expect_count(s->kernel, "stat +", c.stat_add, s->stat_add);
	scene_close_mapped(run);
}

/* Proves table 8.3, and that every fourth page is enough for the same on v6.18. */
static void test_sequential(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(sequentials); i++)
		expect_sequential(&sequentials[i], "touch 0 4k 1024");
	expect_sequential(&sequentials[2], "touch 0 16k 256");
}

/* Proves the windows of MADV_SEQUENTIAL and of executable mappings on v6.18 (8.3, below). */
static void test_seq_and_exec(void **state)
{
	struct run *run = map_open("v6.18", "xfs", 64 << 20);
	struct notes notes;

	map_at(run, 0);
	notes_begin(&notes, run);
	scene_play(run, "madvise sequential; touch 0 4k 1024");
	notes_expect(&notes, "MADV_SEQUENTIAL",
		     "S(0,32) W[0+32/16] 0*32 / A(16,32) W[32+32/32] 2*8 / "
		     "A(32,32) W[64+32/32] 4,4 / A(64,32) W[96+32/32] 5 ...");
	notes_end(&notes, run);
	expect_count("MADV_SEQUENTIAL", "exceptions", map_counts(run).faults, 35);
	expect_count("MADV_SEQUENTIAL", "windows", map_counts(run).windows, 33);
	scene_close_mapped(run);

	run = map_open("v6.18", "xfs", 64 << 20);
	map_at(run, 0);
	run->vma->vm_flags |= VM_EXEC;
	notes_begin(&notes, run);
	scene_play(run, "touch 0 4k 96");
	notes_expect(&notes, "VM_EXEC", "W[0+32/0] 0*32 W[32+32/0] 0*32 W[64+32/0] 0*32");
	notes_end(&notes, run);
	scene_close_mapped(run);
}

/* ---- 8.4: random touches ---- */

/* Python: random.seed(5), then 150 times randrange(65536). */
static const unsigned int random_pages[] = {
	33481, 46993, 3801,  61030, 32643, 6796,  20558, 14838, 48731, 61481, 32318, 49906, 13365,
	32680, 1718,  28407, 53497, 36632, 23865, 51044, 20919, 9428,  18188, 58305, 16606, 17333,
	232,   696,   27453, 28243, 21739, 21821, 37919, 41110, 26068, 26840, 23811, 25805, 50229,
	39162, 2827,  47341, 54382, 21752, 19097, 34578, 8537,	43496, 39499, 443,   44288, 8653,
	40626, 46576, 40116, 63012, 41391, 24218, 63074, 61936, 23084, 7471,  33578, 2997,  46877,
	52991, 2368,  54896, 47996, 49330, 1189,  59352, 6124,	23713, 25758, 15600, 32255, 60582,
	45138, 46503, 32885, 60666, 14162, 48142, 38779, 4801,	56751, 11951, 27326, 44661, 47530,
	19424, 44559, 36133, 12068, 40953, 41523, 40130, 23262, 10249, 19512, 40541, 63411, 21171,
	6363,  10611, 53200, 4171,  31108, 45066, 32795, 59724, 55280, 19087, 7301,  4288,  64692,
	43802, 27139, 17114, 17403, 54240, 13976, 22127, 56958, 48889, 19561, 7703,  55134, 38641,
	18507, 59395, 22189, 59446, 63983, 41641, 62789, 35918, 38144, 61614, 52925, 19202, 14753,
	49414, 23513, 65447, 44365, 23608, 11683, 64469,
};

static const struct {
	const char *kernel, *first;
	u64 exceptions, filemap_faults, windows, folios, pages, ptes, stat_add;
	unsigned int miss;
} randoms[] = {
	{"v6.12", "W[33465+32/8] 0,1,2*7,0 ...", 150, 147, 147, 1363, 4704, 2102, 528, 0},
	{"v6.18", "W[33465+32/8] 0*32 ...", 150, 147, 147, 4704, 4704, 2306, 2306, 0},
	{"v7.3", "W[33465+32/8] 0*32 ...", 150, 147, 102, 3309, 3309, 1652, 1652, 144},
};

static void expect_random(unsigned int i)
{
	const char *kernel = randoms[i].kernel;
	struct run *run = map_open(kernel, "xfs", 65536LL << 12);
	struct map_counts c;
	struct notes notes;

	map_at(run, 0);
	notes_begin(&notes, run);
	for (size_t n = 0; n < ARRAY_SIZE(random_pages); n++) {
		const struct wl_op op = {
			.type = WL_TOUCH, .n = 1, .off = (s64)random_pages[n] << 12};

		assert_int_equal(run_op(run, &op, NULL), 0);
		if (!n) {
			notes_expect(&notes, kernel, randoms[i].first);
			notes_end(&notes, run);
		}
	}
	c = map_counts(run);
	expect_count(kernel, "exceptions", c.faults, randoms[i].exceptions);
	expect_count(kernel, "filemap_fault", c.filemap_faults, randoms[i].filemap_faults);
	expect_count(kernel, "windows", c.windows, randoms[i].windows);
	expect_count(kernel, "folios", c.added, randoms[i].folios);
	expect_count(kernel, "pages", run->inode->i_mapping->nrpages, randoms[i].pages);
	expect_count(kernel, "PTEs", c.pte_stores, randoms[i].ptes);
	expect_count(kernel, "stat +", c.stat_add, randoms[i].stat_add);
	expect_count(kernel, "mmap_miss", run_file(run)->f_ra.mmap_miss, randoms[i].miss);
	scene_close_mapped(run);
}

/* Proves table 8.4: only v7.3 gives up reading around, after 100 misses net. */
static void test_random(void **state)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(randoms); i++)
		expect_random(i);
}

/* Proves that without fault-around every version gives up after 100 misses (1.5). */
static void test_no_fault_around(void **state)
{
	static const char *const kernels[] = {"v6.1", "v6.12", "v6.18", "v7.3"};

	for (size_t i = 0; i < ARRAY_SIZE(kernels); i++) {
		struct run *run = map_open(kernels[i], "xfs", GIB);

		set_fault_around_bytes(run->machine, 4096);
		map_at(run, 0);
		scene_play(run, "touch 0 1m 300");
		expect_count(kernels[i], "fault-arounds", map_counts(run).fault_arounds, 0);
		expect_count(kernels[i], "windows", map_counts(run).windows, 100);
		scene_close_mapped(run);
	}
}

/* ---- 5: stores ---- */

static const struct {
	unsigned int order;
	u64 faults, visits, faults618, visits618;
} stores[] = {
	{0, 65536, 327680, 65536, 327680},   {1, 65536, 655360, 65536, 655360},
	{2, 65536, 1310720, 65536, 1310720}, {3, 65536, 2621440, 32768, 1310720},
	{4, 65536, 5242880, 16384, 1310720}, {5, 65536, 10485760, 8192, 1310720},
	{9, 512, 1310720, 512, 1310720},
};

static void expect_stores(const char *kernel, unsigned int order, u64 faults, u64 visits)
{
	struct run *run = map_open(kernel, "ext4", GIB + (4 << 20));
	struct map_counts c;

	fill_cache(run, 0, GIB >> 12, order);
	map_at(run, 0);
	scene_play(run, "wtouch 0 16k 65536");
	unmap(run);
	c = map_counts(run);
	expect_count(kernel, "faults", c.faults, faults);
	expect_count(kernel, "buffer visits", c.buffer_visits, visits);
	scene_close(run);
}

/* Proves table 5.5: lat_mmap's stores on ext4, one every 16 KiB. */
static void test_stores(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(stores); i++) {
		expect_stores("v6.16", stores[i].order, stores[i].faults, stores[i].visits);
		expect_stores("v6.18", stores[i].order, stores[i].faults618, stores[i].visits618);
	}
	expect_stores("v6.12", 0, 65536, 327680);
}

/* Proves that a page mapped for reading becomes writable alone, by a fault of its own (5, 4). */
static void test_read_then_write(void **state)
{
	struct run *run = map_open("v6.18", "ext4", 1 << 20);
	struct map_counts before, c;

	fill_cache(run, 0, 256, 3);
	map_at(run, 0);
	scene_play(run, "touch 0 4k 16");
	before = map_counts(run);
	scene_play(run, "wtouch 4k; wtouch 4k; wtouch 8k");
	c = map_counts_since(run, &before);
	expect_count("write-protected", "faults", c.faults, 2);
	expect_count("write-protected", "PTE stores", c.pte_stores, 0);
	expect_count("write-protected", "page_mkwrite",
		     trace_total(&run->machine->trace, EV_fl_page_mkwrite), 2);
	scene_close_mapped(run);
}

/* ---- 2: the window of fault-around ---- */

/* Proves the ranges seen live: VMAs that start at page table index 10, 7 and 17. */
static void test_window(void **state)
{
	static const struct {
		unsigned int index, touch;
		u64 mapped; /* pages of the first window */
	} rows[] = {{10, 3, 16}, {7, 0, 16}, {17, 5, 16}, {0, 15, 16}, {505, 2, 7}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct run *run = map_open("v6.16", "ext4", 4 << 20);
		const struct wl_op op = {.type = WL_TOUCH, .n = 1, .off = rows[i].touch << 12};

		fill_cache(run, 0, 1024, 0);
		map_at(run, rows[i].index);
		assert_int_equal(run_op(run, &op, NULL), 0);
		expect_count("window", "PTEs", map_counts(run).pte_stores, rows[i].mapped);
		scene_close_mapped(run);
	}
}

/* Proves the EOF quirk of v6.18: a one-page file in a fresh page table is not mapped around. */
static void test_eof_quirk(void **state)
{
	static const struct {
		const char *kernel;
		u64 filemap_faults;
	} rows[] = {{"v6.16", 0}, {"v6.12.y", 1}, {"v6.18", 1}, {"v7.3", 1}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct run *run = map_open(rows[i].kernel, "xfs", 4096);

		fill_cache(run, 0, 1, 0);
		map_at(run, 0);
		scene_play(run, "touch 0");
		expect_count(rows[i].kernel, "filemap_fault", map_counts(run).filemap_faults,
			     rows[i].filemap_faults);
		scene_close_mapped(run);
	}
}

/* ---- 4: munmap ---- */

/* Pages on the active list after one read and munmap of 256 MiB in order-5 folios. */
static u64 activated(const char *kernel, unsigned int index)
{
	struct run *run = map_open(kernel, "xfs", 256 << 20);
	u64 pages;

	fill_cache(run, 0, 65536, 5);
	map_at(run, index);
	scene_play(run, "touch 0 4k 65536");
	unmap(run);
	lru_add_drain(run->machine);
	pages = run->machine->mm->lruvec.nr[LRU_ACTIVE_FILE];
	scene_close(run);
	return pages;
}

/* Proves the activation quirk: up to v6.8 every large folio, later those over two page tables. */
static void test_activation(void **state)
{
	assert_int_equal(activated("v6.7", 0), 65536);
	assert_int_equal(activated("v6.18", 0), 0);
	assert_int_equal(activated("v6.18", 16), 128 * 32);
	assert_int_equal(activated("v6.12", 16), 128 * 32);
}

/* Proves that MADV_RANDOM keeps munmap from marking folios accessed, since v6.3 only. */
static void test_recency(void **state)
{
	static const struct {
		const char *kernel, *ops;
		u64 marked;
	} rows[] = {{"v6.1", "madvise random", 16},
		    {"v6.7", "madvise random", 0},
		    {"v6.1", "madvise sequential", 0},
		    {"v6.18", "madvise normal", 16}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct run *run = map_open(rows[i].kernel, "xfs", 1 << 20);

		fill_cache(run, 0, 256, 0);
		map_at(run, 0);
		scene_play(run, rows[i].ops);
		scene_play(run, "touch 0");
		unmap(run);
		expect_count(rows[i].kernel, rows[i].ops, map_counts(run).mark_accessed,
			     rows[i].marked);
		scene_close(run);
	}
}

/* ---- sharing, truncation, reclaim, advice ---- */

/* Proves that a file longer than the 47 bits of a process is not mapped: mmap(2), ENOMEM. */
static void test_no_room(void **state)
{
	struct run *run = map_open("v6.18", "xfs", 1 << 20);
	struct vm_area_struct *vma;

	assert_true(mm_has_room(run->mm, 1ULL << 46));
	assert_false(mm_has_room(run->mm, 1ULL << 47));
	assert_int_equal(do_mmap(run->mm, run_file(run), 0, 1UL << 50, VM_READ, 0, &vma), -ENOMEM);
	scene_play(run, "pwrite 1000t 1; mmap; poison 0; touch 0");
	assert_null(run->vma);
	assert_int_equal(run->machine->mm->mf.num_poisoned_pages, 0);
	scene_close(run);
}

/* Proves that NR_FILE_MAPPED counts a page once however many processes map it (3.6). */
static void test_two_processes(void **state)
{
	struct run *run = map_open("v6.18", "xfs", 4 << 20);
	struct machine *m = run->machine;
	struct mm_struct *other = mm_alloc(m);
	struct vm_area_struct *vma;
	struct map_counts before;

	fill_cache(run, 0, 1024, 9);
	map_at(run, 0);
	assert_int_equal(do_mmap(other, run_file(run), 0x500000000000UL + (3 << 12), 4 << 20,
				 VM_READ, 0, &vma),
			 0);
	scene_play(run, "touch 0; touch 2m");
	assert_int_equal(m->mm->vm.nr_file_mapped, 1024);
	assert_int_equal(m->mm->vm.nr_file_pmdmapped, 1024);
	before = map_counts(run);
	assert_int_equal(populate_range(vma, vma->vm_start, vma->vm_end, false), 0);
	expect_count("second process", "stat +", map_counts_since(run, &before).stat_add, 0);
	assert_int_equal(m->mm->vm.nr_file_mapped, 1024);
	scene_check(run);
	unmap(run);
	assert_int_equal(m->mm->vm.nr_file_mapped, 1024);
	assert_int_equal(m->mm->vm.nr_file_pmdmapped, 0);
	mmput(other);
	assert_int_equal(m->mm->vm.nr_file_mapped, 0);
	scene_close(run);
}

/* Proves that a shrinking file loses its mappings and that touching beyond it fails. */
static void test_truncate(void **state)
{
	struct run *run = map_open("v6.18", "xfs", 4 << 20);

	fill_cache(run, 0, 1024, 5);
	map_at(run, 0);
	scene_play(run, "touch 0 4k 1024; ftruncate 1000000");
	scene_check(run);
	assert_int_equal(run->machine->mm->vm.nr_file_mapped, 224);
	assert_int_equal(run->errors, 0);
	scene_play(run, "touch 999999; touch 1003520");
	assert_int_equal(run->errors, 1);
	assert_int_equal(run->last_error, -EFAULT);
	scene_close_mapped(run);
}

/* Proves that reclaim unmaps what was not used, and that invalidation leaves mapped pages alone. */
static void test_reclaim(void **state)
{
	struct run *run = map_open("v6.18", "xfs", 4 << 20);
	struct machine *m = run->machine;

	fill_cache(run, 0, 1024, 2);
	map_at(run, 0);
	scene_play(run, "touch 0 4k 1024; fadvise dontneed 0 0");
	assert_int_equal(run->inode->i_mapping->nrpages, 1024);
	scene_play(run, "madvise pageout");
	assert_int_equal(run->inode->i_mapping->nrpages, 0);
	assert_int_equal(m->mm->vm.nr_file_mapped, 0);
	scene_check(run);
	scene_play(run, "touch 0");
	assert_true(m->mm->vm.workingset_refault_file > 0);
	scene_close_mapped(run);
}

/* Proves that MADV_DONTNEED only unmaps and MADV_COLD only makes old. */
static void test_dontneed_cold(void **state)
{
	struct run *run = map_open("v6.18", "xfs", 4 << 20);
	struct map_counts before;

	fill_cache(run, 0, 1024, 2);
	map_at(run, 0);
	scene_play(run, "touch 0 4k 1024; madvise dontneed");
	assert_int_equal(run->machine->mm->vm.nr_file_mapped, 0);
	assert_int_equal(run->inode->i_mapping->nrpages, 1024);
	scene_play(run, "touch 0 4k 1024; madvise cold");
	before = map_counts(run);
	scene_play(run, "touch 0 4k 1024");
	expect_count("MADV_COLD", "faults", map_counts_since(run, &before).faults, 0);
	scene_close_mapped(run);
}

/* Proves that a mapping keeps the readahead state of the descriptor it was made from (1.1). */
static void test_keeps_file(void **state)
{
	struct run *run = map_open("v7.3", "xfs", 64 << 20);
	const struct file *file = run_file(run);

	scene_play(run, "mmap; reopen; touch 32m");
	assert_ptr_not_equal(file, run_file(run));
	assert_ptr_equal(run->vma->vm_file, file);
	assert_int_equal(file->f_ra.size, 32);
	assert_int_equal(run_file(run)->f_ra.size, 0);
	scene_close_mapped(run);
}

/* Proves that mlock faults everything in and keeps it from reclaim until munlock. */
static void test_mlock(void **state)
{
	struct run *run = map_open("v6.18", "xfs", 4 << 20);
	struct lruvec *lruvec = &run->machine->mm->lruvec;

	fill_cache(run, 0, 1024, 2);
	map_at(run, 0);
	assert_int_equal(do_mlock(run->vma), 0);
	assert_int_equal(lruvec->nr[LRU_UNEVICTABLE], 1024);
	scene_play(run, "madvise pageout");
	assert_int_equal(run->last_error, -EINVAL);
	do_munlock(run->vma);
	assert_int_equal(lruvec->nr[LRU_UNEVICTABLE], 0);
	scene_close_mapped(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sequential),    cmocka_unit_test(test_seq_and_exec),
		cmocka_unit_test(test_random),	      cmocka_unit_test(test_no_fault_around),
		cmocka_unit_test(test_stores),	      cmocka_unit_test(test_read_then_write),
		cmocka_unit_test(test_window),	      cmocka_unit_test(test_eof_quirk),
		cmocka_unit_test(test_activation),    cmocka_unit_test(test_recency),
		cmocka_unit_test(test_two_processes), cmocka_unit_test(test_truncate),
		cmocka_unit_test(test_reclaim),	      cmocka_unit_test(test_dontneed_cold),
		cmocka_unit_test(test_keeps_file),    cmocka_unit_test(test_mlock),
		cmocka_unit_test(test_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
