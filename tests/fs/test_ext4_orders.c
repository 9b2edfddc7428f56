/*
 * fs/test_ext4_orders.c - which folios a write makes: who gets large ones, and of which orders.
 *
 * Proves the tables 1.4, 1.5 and 9.1 of the specification cell by cell as real kernels showed them
 * (6.1, 6.12, 6.16.12, 6.18 and 7.3), and prints the cells of 1.1 and 2.4 that are only computed.
 */
#include "unit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fs/files.h"
#include "mm/internal.h"

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
/* Kernels whose writes make large folios on ext4, and those where they do not. */
#define EXT4_LARGE LIST("v6.16.y", "v6.18", "v7.3")
#define EXT4_SMALL LIST("v6.1.y", "v6.12.y")
#define XFS_LARGE  LIST("v6.12.y", "v6.16.y", "v6.18", "v7.3")
#define LAST	   4095

static void pwrite_at(struct run *run, s64 off, s64 len)
{
	const struct wl_op op = {.type = WL_PWRITE, .off = off, .len = len, .n = 1};
	struct fl_error err = {0};

	if (run_op(run, &op, &err))
		fail_msg("pwrite: %s", err.text);
	assert_int_equal(run->errors, 0);
}

/* ---- 9.1 ---- */

static const struct {
	s64 off, len;
	const char *folios;
} one_write[] = {
	{0, 4096, "0:o0"},
	{0, 16384, "0:o2"},
	{0, 65536, "0:o4"},
	{0, 102400, "0:o4 16:o3 24:o0"},
	{0, 1 << 20, "0:o8"},
	{4096, 4096, "1:o0"},
	{4096, 16384, "1:o0 2:o1 4:o0"},
	{4096, 65536, "1:o0 2:o1 4:o2 8:o3 16:o0"},
	{4096, 102400, "1:o0 2:o1 4:o2 8:o3 16:o3 24:o1"},
	{4096, 1 << 20, "1:o0 2:o1 4:o2 8:o3 16:o4 32:o5 64:o6 128:o7 256:o0"},
	{8192, 4096, "2:o0"},
	{8192, 16384, "2:o1 4:o1"},
	{8192, 65536, "2:o1 4:o2 8:o3 16:o1"},
	{8192, 102400, "2:o1 4:o2 8:o3 16:o3 24:o1 26:o0"},
	{8192, 1 << 20, "2:o1 4:o2 8:o3 16:o4 32:o5 64:o6 128:o7 256:o1"},
	{12288, 4096, "3:o0"},
	{12288, 16384, "3:o0 4:o1 6:o0"},
	{12288, 65536, "3:o0 4:o2 8:o3 16:o1 18:o0"},
	{12288, 102400, "3:o0 4:o2 8:o3 16:o3 24:o2"},
	{12288, 1 << 20, "3:o0 4:o2 8:o3 16:o4 32:o5 64:o6 128:o7 256:o1 258:o0"},
	{65536, 4096, "16:o0"},
	{65536, 16384, "16:o2"},
	{65536, 65536, "16:o4"},
	{65536, 102400, "16:o4 32:o3 40:o0"},
	{65536, 1 << 20, "16:o4 32:o5 64:o6 128:o7 256:o4"},
	{102400, 4096, "25:o0"},
	{102400, 16384, "25:o0 26:o1 28:o0"},
	{102400, 65536, "25:o0 26:o1 28:o2 32:o3 40:o0"},
	{102400, 102400, "25:o0 26:o1 28:o2 32:o4 48:o1"},
	{102400, 1 << 20, "25:o0 26:o1 28:o2 32:o5 64:o6 128:o7 256:o4 272:o3 280:o0"},
	{2048, 4096, "0:o0 1:o0"},
	{2048, 16384, "0:o2 4:o0"},
	{2048, 65536, "0:o4 16:o0"},
	{2048, 102400, "0:o4 16:o3 24:o0 25:o0"},
	{2048, 1 << 20, "0:o8 256:o0"},
	{0, 8192, "0:o1"},
	{0, 5000, "0:o0 1:o0"},
	{0, 3 << 20, "0:o9 512:o8"},
	{1, 2 << 20, "0:o8 256:o8 512:o0"},
	{(2 << 20) - 4096, 3 << 20,
	 "511:o0 512:o9 1024:o7 1152:o6 1216:o5 1248:o4 1264:o3 1272:o2 1276:o1 1278:o0"},
};

static void expect_write(const char *kernel, const char *fs, unsigned int i)
{
	struct run_config config = file_config(kernel, fs);
	struct run *run = scene_open(&config);

	pwrite_at(run, one_write[i].off, one_write[i].len);
	if (strcmp(file_folios(run, 0, LAST), one_write[i].folios))
		fail_msg("%s %s pwrite %" PRId64 " %" PRId64 ": %s, expected %s", kernel, fs,
			 one_write[i].off, one_write[i].len, file_folios(run, 0, LAST),
			 one_write[i].folios);
	scene_close(run);
}

/* Proves 9.1 where large folios are written: ext4 with 4K and 1K blocks, and XFS. */
static void test_one_write_large(void **state)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(one_write); i++) {
		for (const char *const *k = EXT4_LARGE; *k; k++) {
			expect_write(*k, "ext4", i);
			expect_write(*k, "ext4-1k", i);
		}
		/* XFS writes only to the end of an extent, which is another rule past 4 MiB. */
		for (const char *const *k = XFS_LARGE; *k; k++)
			expect_write(*k, "xfs", i);
	}
}

/* Proves the other half: every touched page is a folio of its own. */
static void test_one_write_small(void **state)
{
	static const struct {
		const char *kernel, *fs;
	} small[] = {{"v6.1.y", "ext4"},
		     {"v6.12.y", "ext4"},
		     {"v6.1.y", "ext4-1k"},
		     {"v6.12.y", "ext4-1k"},
		     {"v6.1.y", "xfs"}};

	for (unsigned int k = 0; k < ARRAY_SIZE(small); k++)
		for (unsigned int i = 0; i < ARRAY_SIZE(one_write); i++) {
			struct run_config config = file_config(small[k].kernel, small[k].fs);
			s64 off = one_write[i].off, end = off + one_write[i].len;
			struct run *run = scene_open(&config);
			char want[32];

			pwrite_at(run, off, end - off);
			snprintf(want, sizeof(want), "%" PRId64 "*o0",
				 (end - 1) / 4096 - off / 4096 + 1);
			assert_string_equal(file_orders(run, 0, LAST), want);
			scene_close(run);
		}
}

/* Proves that what is cached already is used as it is, and limits its new neighbours. */
static void test_existing_folios(void **state)
{
	static const struct {
		s64 there, there_len, off, len;
		const char *folios;
	} cases[] = {
		{3, 4096, 0, 16384, "0:o1 2:o0 3:o0"},
		{5, 4096, 0, 65536, "0:o2 4:o0 5:o0 6:o1 8:o3"},
		{15, 4096, 0, 65536, "0:o3 8:o2 12:o1 14:o0 15:o0"},
		{4, 16384, 0, 131072, "0:o2 4:o2 8:o3 16:o4"},
		{511, 4096, 0, 2 << 20,
		 "0:o8 256:o7 384:o6 448:o5 480:o4 496:o3 504:o2 508:o1 510:o0 511:o0"},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++)
		for (const char *const *k = EXT4_LARGE; *k; k++) {
			struct run_config config = file_config(*k, "ext4");
			struct run *run = scene_open(&config);

			pwrite_at(run, cases[i].there * 4096, cases[i].there_len);
			pwrite_at(run, cases[i].off, cases[i].len);
			assert_string_equal(file_folios(run, 0, LAST), cases[i].folios);
			scene_close(run);
		}
}

struct begin_list {
	struct trace_sink sink;
	char text[4096];
	size_t len;
	unsigned int nr;
};

static void begin_event(struct trace_sink *sink, const struct trace_event *ev)
{
	struct begin_list *b = container_of(sink, struct begin_list, sink);

	if (ev->id != EV_ext4_da_write_begin)
		return;
	b->nr++;
	if (b->len < sizeof(b->text) - 64)
		b->len += sprintf(b->text + b->len, "%s%" PRIu64 "+%u", b->len ? ", " : "",
				  ev->index, ev->a);
}

/* Proves the write_begin calls of 9.1 (64K at 4K), position and bytes wanted. */
static void test_write_begin_calls(void **state)
{
	struct begin_list b = {.sink = {.event = begin_event}};
	struct run_config config = file_config("v6.18", "ext4");
	struct run *run = scene_open(&config);

	trace_add_sink(&run->machine->trace, &b.sink);
	pwrite_at(run, 4096, 65536);
	trace_remove_sink(&run->machine->trace, &b.sink);
	assert_string_equal(b.text, "4096+65536, 8192+61440, 16384+53248, 32768+36864, 65536+4096");
	scene_close(run);
}

/* Proves that a 4K appender never makes large folios and is written back in one bio of 1M. */
static void test_appends(void **state)
{
	for (const char *const *k = EXT4_LARGE; *k; k++) {
		struct run_config config = file_config(*k, "ext4");
		struct run *run = scene_open(&config);
		struct bio_list bios;

		scene_play(run, "pwrite 0 4k 256");
		assert_string_equal(file_orders(run, 0, LAST), "256*o0");
		bio_list_begin(&bios, run);
		scene_play(run, "fsync");
		assert_string_equal(bio_list_end(&bios, run), "1024K");
		scene_close(run);
	}
}

/* ---- 1.4 ---- */

#define REFUSED "refused"
#define INLINE	"0:o0 1:o0 2:o1 4:o2 8:o3 16:o4 32:o5 64:o6 128:o7 256:o8 512:o9"

/* 4 MiB written in one call, or @len bytes; kernels up to 6.15, 6.16 to 6.18, 7.3. */
static const struct {
	const char *fs, *features, *options, *dir_flags;
	unsigned int block_size;
	s64 len;
	bool places;
	const char *e0, *e2, *e3;
} decisions[] = {
	{"ext4", NULL, NULL, NULL, 1024, 0, 0, "1024*o0", "2*o9", "2*o9"},
	{"ext4", NULL, NULL, NULL, 2048, 0, 0, "1024*o0", "2*o9", "2*o9"},
	{"ext4", NULL, NULL, NULL, 4096, 0, 0, "1024*o0", "2*o9", "2*o9"},
	{"ext4", "verity", NULL, NULL, 0, 0, 0, "1024*o0", "1024*o0", "2*o9"},
	{"ext4", "encrypt", NULL, NULL, 0, 0, 0, "1024*o0", "1024*o0", "1024*o0"},
	{"ext4", NULL, "data=journal", NULL, 0, 0, 0, "1024*o0", "1024*o0", "1024*o0"},
	{"ext4", NULL, "nodelalloc", NULL, 0, 0, 0, "1024*o0", "2*o9", "2*o9"},
	{"ext4", NULL, "data=writeback", NULL, 0, 0, 0, "1024*o0", "2*o9", "2*o9"},
	{"ext4", "^has_journal", NULL, NULL, 0, 0, 0, "1024*o0", "2*o9", "2*o9"},
	{"ext4", "bigalloc", NULL, NULL, 0, 0, 0, "1024*o0", "2*o9", "2*o9"},
	{"ext4", "^extent", NULL, NULL, 0, 0, 0, "1024*o0", "2*o9", "2*o9"},
	{"ext4", "ext2", NULL, NULL, 0, 0, 0, "1024*o0", "2*o9", "2*o9"},
	{"ext4", NULL, "dioread_lock", NULL, 0, 0, 0, "1024*o0", "2*o9", "2*o9"},
	{"ext4", "inline_data", NULL, NULL, 0, 0, 1, NULL, INLINE, INLINE},
	{"ext4", "inline_data", NULL, NULL, 0, 0, 0, "1024*o0", NULL, NULL},
	{"ext4", NULL, NULL, "journal_data", 0, 0, 0, "1024*o0", "1024*o0", "1024*o0"},
	{"ext4", NULL, NULL, NULL, 16384, 4096, 1, REFUSED, REFUSED, "0:o2"},
	{"ext4", NULL, NULL, NULL, 16384, 102400, 1, REFUSED, REFUSED, "0:o4 16:o3 24:o2"},
	{"ext4", NULL, NULL, NULL, 65536, 4096, 1, REFUSED, REFUSED, "0:o4"},
	{"ext4", NULL, "data=journal", NULL, 16384, 0, 0, REFUSED, REFUSED, "256*o2"},
	{"ext4", "encrypt", NULL, NULL, 16384, 0, 0, REFUSED, REFUSED, REFUSED},
	{"xfs", NULL, NULL, NULL, 0, 0, 0, NULL, "2*o9", "2*o9"},
};

static void expect_decision(const char *kernel, unsigned int i, const char *want)
{
	struct run_config config = file_config(kernel, decisions[i].fs);
	struct fl_error err = {0};
	struct run *run;
	const char *got;

	if (!want)
		return;
	config.features = decisions[i].features;
	config.mount_options = decisions[i].options;
	config.dir_flags = decisions[i].dir_flags;
	config.block_size = decisions[i].block_size;
	if (!strcmp(want, REFUSED)) {
		assert_int_equal(run_open(&config, &run, &err), -EINVAL);
		return;
	}
	run = scene_open(&config);
	pwrite_at(run, 0, decisions[i].len ? decisions[i].len : 4 << 20);
	got = decisions[i].places ? file_folios(run, 0, LAST) : file_orders(run, 0, LAST);
	if (strcmp(got, want))
		fail_msg("row %u on %s: %s, expected %s", i, kernel, got, want);
	scene_close(run);
}

/* Proves table 1.4: features, options and flags that decide, and those that do not. */
static void test_who_gets_large_folios(void **state)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(decisions); i++) {
		for (const char *const *k = EXT4_SMALL; *k; k++)
			expect_decision(*k, i, decisions[i].e0);
		expect_decision("v6.16.y", i, decisions[i].e2);
		expect_decision("v6.18", i, decisions[i].e2);
		expect_decision("v7.3", i, decisions[i].e3);
	}
	/* The XFS row has two halves among the kernels without large folios on ext4. */
	for (const char *const *k = LIST("v6.1.y", "v6.12.y"); *k; k++) {
		struct run_config config = file_config(*k, "xfs");
		struct run *run = scene_open(&config);

		pwrite_at(run, 0, 4 << 20);
		assert_string_equal(file_orders(run, 0, LAST),
				    strcmp(*k, "v6.1.y") ? "2*o9" : "1024*o0");
		scene_close(run);
	}
}

/* ---- 1.5 ---- */

enum moment { FRESH, PLUS_J, MINUS_J, REMOUNTED, MINUS_AGAIN, NR_MOMENTS };

/* Order of a 64K write and whether it is journalled, at each moment and in a +j directory. */
static const struct {
	const char *kernel;
	const char *orders[NR_MOMENTS + 1];
	bool journalled[NR_MOMENTS + 1];
} flips[] = {
	{"v6.12.y",
	 {"16*o0", "16*o0", "16*o0", "16*o0", "16*o0", "16*o0"},
	 {false, true, false, true, false, true}},
	{"v6.16.y",
	 {"1*o4", "1*o4", "1*o4", "16*o0", "16*o0", "16*o0"},
	 {false, false, false, true, false, true}},
	{"v6.18",
	 {"1*o4", "1*o4", "1*o4", "16*o0", "16*o0", "16*o0"},
	 {false, false, false, true, false, true}},
	{"v7.3",
	 {"1*o4", "16*o0", "1*o4", "16*o0", "1*o4", "16*o0"},
	 {false, true, false, true, false, true}},
};

static void set_moment(struct run *run, unsigned int moment)
{
	switch (moment) {
	case PLUS_J:
		assert_int_equal(run_set_journal_flag(run, true), 0);
		break;
	case MINUS_J:
	case MINUS_AGAIN:
		assert_int_equal(run_set_journal_flag(run, false), 0);
		break;
	case REMOUNTED:
		assert_int_equal(run_set_journal_flag(run, true), 0);
		assert_int_equal(ext4_reread_inode(run->inode), 0);
		break;
	}
}

static void expect_moment(struct run *run, unsigned int k, unsigned int moment)
{
	pgoff_t page = 256 * (1 + moment);

	pwrite_at(run, (s64)page * 4096, 65536);
	if (strcmp(file_orders(run, page, page + 255), flips[k].orders[moment]))
		fail_msg("%s at moment %u: %s, expected %s", flips[k].kernel, moment,
			 file_orders(run, page, page + 255), flips[k].orders[moment]);
	assert_ptr_equal(run->inode->i_data.a_ops,
			 flips[k].journalled[moment] ? &ext4_journalled_aops : &ext4_aops);
}

/* Proves all 18 cells of 1.5 (6.16 and 6.18 share a column), on a nodelalloc mount. */
static void test_journal_flag_live(void **state)
{
	for (unsigned int k = 0; k < ARRAY_SIZE(flips); k++) {
		struct run_config config = file_config(flips[k].kernel, "ext4");
		struct run *run;

		config.mount_options = "nodelalloc";
		run = scene_open(&config);
		for (unsigned int moment = FRESH; moment < NR_MOMENTS; moment++) {
			set_moment(run, moment);
			expect_moment(run, k, moment);
		}
		scene_close(run);
		config.dir_flags = "journal_data";
		run = scene_open(&config);
		expect_moment(run, k, NR_MOMENTS);
		scene_close(run);
	}
}

/* Proves that with delalloc the flag journals nothing, but decides the orders sooner or later. */
static void test_journal_flag_delalloc(void **state)
{
	static const struct {
		const char *kernel, *at_once;
	} cases[] = {{"v6.16.y", "1*o4"}, {"v6.18", "1*o4"}, {"v7.3", "16*o0"}};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct run_config config = file_config(cases[i].kernel, "ext4");
		struct run *run = scene_open(&config);

		pwrite_at(run, 0, 65536);
		assert_int_equal(run_set_journal_flag(run, true), 0);
		pwrite_at(run, 1 << 20, 65536);
		assert_string_equal(file_orders(run, 256, 511), cases[i].at_once);
		assert_ptr_equal(run->inode->i_data.a_ops, &ext4_da_aops);
		assert_int_equal(ext4_reread_inode(run->inode), 0);
		pwrite_at(run, 2 << 20, 65536);
		assert_string_equal(file_orders(run, 512, 767), "16*o0");
		assert_ptr_equal(run->inode->i_data.a_ops, &ext4_da_aops);
		scene_close(run);
	}
}

/* Proves that a flip on 7.3 writes data back and drops the cache, and on 6.18 keeps it. */
static void test_journal_flag_and_cache(void **state)
{
	for (const char *const *k = LIST("v6.18", "v7.3"); *k; k++) {
		struct run_config config = file_config(*k, "ext4");
		bool live = !strcmp(*k, "v7.3");
		struct run *run = scene_open(&config);

		pwrite_at(run, 0, 65536);
		assert_int_equal(run->machine->mm->vm.nr_dirty, 16);
		assert_int_equal(run_set_journal_flag(run, true), 0);
		assert_int_equal(run->machine->mm->vm.nr_dirty, 0);
		assert_int_equal(run->inode->i_data.nrpages, live ? 0 : 16);
		pwrite_at(run, 0, 65536);
		assert_int_equal(run_set_journal_flag(run, false), 0);
		assert_int_equal(run->machine->mm->vm.nr_dirty, live ? 0 : 16);
		lru_add_drain(run->machine); /* dropped folios may still wait for their list */
		scene_close(run);
	}
}

/* ---- 1.1 ---- */

/* The smallest and largest order of a mapping. The columns of 64K pages are computed, not seen. */
static void test_order_limits(void **state)
{
	static const struct {
		const char *kernel;
		unsigned int page_size, block_size, low, high;
		bool seen;
	} limits[] = {
		{"v6.16", 4096, 1024, 0, 9, false},    {"v6.16", 4096, 4096, 0, 9, false},
		{"v6.18", 4096, 1024, 0, 9, true},     {"v6.18", 4096, 2048, 0, 9, true},
		{"v6.18", 4096, 4096, 0, 9, true},     {"v7.3", 4096, 1024, 0, 9, true},
		{"v7.3", 4096, 2048, 0, 9, true},      {"v7.3", 4096, 4096, 0, 9, true},
		{"v7.3", 4096, 16384, 2, 9, true},     {"v7.3", 4096, 65536, 4, 9, true},
		{"v6.16", 65536, 1024, 0, 11, false},  {"v6.16", 65536, 4096, 0, 11, false},
		{"v6.16", 65536, 65536, 0, 11, false}, {"v6.18", 65536, 1024, 0, 5, false},
		{"v6.18", 65536, 2048, 0, 6, false},   {"v6.18", 65536, 4096, 0, 7, false},
		{"v6.18", 65536, 16384, 0, 9, false},  {"v6.18", 65536, 65536, 0, 11, false},
		{"v7.3", 65536, 1024, 0, 5, false},    {"v7.3", 65536, 4096, 0, 7, false},
		{"v7.3", 65536, 65536, 0, 11, false},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(limits); i++) {
		struct run_config config = file_config(limits[i].kernel, "ext4");
		struct run *run;

		config.machine.page_size = limits[i].page_size;
		config.block_size = limits[i].block_size;
		run = scene_open(&config);
		assert_int_equal(mapping_min_folio_order(run->inode->i_mapping), limits[i].low);
		assert_int_equal(mapping_max_folio_order(run->inode->i_mapping), limits[i].high);
		if (!limits[i].seen)
			print_message("# computed, never seen on a kernel: 1.1 %s, pages %uK, "
				      "blocks %uK: orders %u..%u\n",
				      limits[i].kernel, limits[i].page_size >> 10,
				      limits[i].block_size >> 10, limits[i].low, limits[i].high);
		scene_close(run);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_write_large),
		cmocka_unit_test(test_one_write_small),
		cmocka_unit_test(test_existing_folios),
		cmocka_unit_test(test_write_begin_calls),
		cmocka_unit_test(test_appends),
		cmocka_unit_test(test_who_gets_large_folios),
		cmocka_unit_test(test_journal_flag_live),
		cmocka_unit_test(test_journal_flag_delalloc),
		cmocka_unit_test(test_journal_flag_and_cache),
		cmocka_unit_test(test_order_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
