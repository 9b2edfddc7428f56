/*
 * machine/test_knobs.c - which kernel has which change, and the expressions that say so.
 *
 * Proves the profiles against the knob table of readahead.md section 6, cell by cell (typed in
 * from there; profiles.def is written as differences between kernels, this is not), and what
 * knobs_parse() accepts, refuses and says.
 */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fs/boot.h"
#include "mm/internal.h"

static const char *const columns[] = {"v6.1",  "v6.1.y",  "v6.7",  "ab4443fe3ca6",
				      "v6.12", "v6.12.y", "v6.16", "v6.16.y",
				      "v6.17", "v6.18",	  "v7.3"};

/* One letter a column: y on, - off, ? not established. */
static const struct {
	enum knob_id id;
	const char *cells;
} rows[] = {
	{KNOB_READ_BATCH_END, "-yyyyyyyyyy"},
	{KNOB_PREV_POS_ONCE, "--yyyyyyyyy"},
	{KNOB_FGP_ORDER, "--yyyyyyyyy"},
	{KNOB_MARK_ROUND_DOWN, "-y-yyyyyyyy"},
	{KNOB_ORDER1, "----yyyyyyy"},
	{KNOB_BATCH31, "----yyyyyyy"},
	{KNOB_ORDER_ILOG2, "----yyyyyyy"},
	{KNOB_XAS_ORDER_CLAMP, "-y--yyyyyyy"},
	{KNOB_RA_SPLIT, "----yyyyyyy"},
	{KNOB_NEXT_MISS_OUTSIDE, "----yyyyyyy"},
	{KNOB_NEXT_MISS_FIX, "-----y-yyyy"},
	{KNOB_FALLBACK_SHORTEN, "----y-yyyyy"},
	{KNOB_FALLBACK_GUARD, "------yyyyy"},
	{KNOB_MIN_ORDER, "----yyyyyyy"},
	{KNOB_FILEMAP_TRACE, "----yyyyyyy"},
	{KNOB_KEEP_BIG_WINDOW, "-y---yyyyyy"},
	{KNOB_RP_NO_SHRINK, "------yyyyy"},
	{KNOB_DROPBEHIND, "------yyyyy"},
	{KNOB_EXT4_LARGE, "------yyyyy"},
	{KNOB_HONOUR_NEW_ORDER, "--------yyy"},
	{KNOB_END_ALIGN, "--------yyy"},
	{KNOB_RA_ORDER_FIELD, "--------yyy"},
	{KNOB_EXEC_RA, "--------yyy"},
	{KNOB_EXEC_OVER_RAND, "--------yyy"},
	{KNOB_LAST_INDEX_ROUND, "---------yy"},
	{KNOB_SKIP_NONUPTODATE, "---------yy"},
	{KNOB_WHOLE_NOT_PARTIAL, "---------yy"},
	{KNOB_RA_TRACE, "---------yy"},
	{KNOB_NO_EOF_MARK, "----------y"},
	{KNOB_PREV_MISS_FIX, "----------y"},
	{KNOB_THP_2M_CAP, "----------y"},
	{KNOB_HUGE_NEEDS_LARGE, "----------y"},
	{KNOB_HUGE_MISS_GATE, "----------y"},
	{KNOB_IOMAP_BIO_PER_EXTENT, "------????y"},
	{KNOB_INO_U64, "----------y"},
	/* Not in the table, but said beside it: sections 3.2, 4 and 1.3; write-side.md. */
	{KNOB_CURSOR_DRIFT, "yyyyyyyyyyy"},
	{KNOB_NOREUSE, "--yyyyyyyyy"},
	{KNOB_DEF_MAX_SECTORS_4M, "--------yyy"},
};

static struct knobs parse(const char *expr)
{
	struct fl_error err = {0};
	struct knobs k;

	if (knobs_parse(&k, expr, &err))
		fail_msg("%s: %s", expr, err.text);
	return k;
}

static void expect_refused(const char *expr, const char *word)
{
	struct fl_error err = {0};
	struct knobs k;

	assert_int_equal(knobs_parse(&k, expr, &err), -EINVAL);
	if (!strstr(err.text, word))
		fail_msg("'%s' says '%s', expected '%s' in it", expr, err.text, word);
	assert_null(strchr(err.text, '\n'));
}

/* Proves every cell. */
static void test_table(void **state)
{
	for (unsigned int c = 0; c < ARRAY_SIZE(columns); c++) {
		struct knobs k = parse(columns[c]);

		for (unsigned int r = 0; r < ARRAY_SIZE(rows); r++) {
			char cell = rows[r].cells[c];

			assert_int_equal(strlen(rows[r].cells), ARRAY_SIZE(columns));
			if (cell != '?' && knobs_test(&k, rows[r].id) != (cell == 'y'))
				fail_msg("%s of %s is %s", knob_info(rows[r].id)->name, columns[c],
					 cell == 'y' ? "off" : "on");
		}
	}
}

/* v6.17.y is what 6.17.13 plays as: v6.17 plus fa5a06170036 (tests/golden/README.md). */
static void test_v617y(void **state)
{
	struct knobs tag = parse("v6.17"), late = parse("v6.17.y");

	assert_false(knobs_test(&tag, KNOB_KEEP_HAS_HWPOISONED));
	assert_true(knobs_test(&late, KNOB_KEEP_HAS_HWPOISONED));
	knobs_assign(&tag, KNOB_KEEP_HAS_HWPOISONED, true);
	assert_memory_equal(&tag, &late, sizeof(tag));
}

/* Proves that a knob can be named by name in any case and by commit, short or long. */
static void test_expressions(void **state)
{
	struct knobs want = parse("v6.7"), k;

	knobs_assign(&want, KNOB_MARK_ROUND_DOWN, true);
	k = parse("ab4443fe3ca6");
	assert_memory_equal(&k, &want, sizeof(k));
	k = parse("v6.7+ab4443fe3ca6");
	assert_memory_equal(&k, &want, sizeof(k));
	k = parse("v6.7+ab4443f");
	assert_memory_equal(&k, &want, sizeof(k));
	k = parse("V6.7+mark_round_down");
	assert_memory_equal(&k, &want, sizeof(k));
	/* What is said last counts, and saying it twice changes nothing. */
	k = parse("v6.7-MARK_ROUND_DOWN+MARK_ROUND_DOWN+MARK_ROUND_DOWN");
	assert_memory_equal(&k, &want, sizeof(k));
	k = parse("v6.7+ab4443fe3ca6-ab4443fe3ca6");
	want = parse("v6.7");
	assert_memory_equal(&k, &want, sizeof(k));
}

static void test_unknown_names(void **state)
{
	expect_refused("v6.71", "v6.7");
	expect_refused("v6.8", "did you mean 'v6.7'?");
	expect_refused("6.18", "did you mean 'v6.18'?");
	expect_refused("6.12.30", "did you mean 'v6.12.y'?");
	expect_refused("v6.99", "did you mean 'v6.18'?");
	expect_refused("v5.4", "did you mean 'v6.1'?");
	expect_refused("v9.1", "did you mean 'v7.3'?");
	expect_refused("", "unknown kernel");
	expect_refused("+ORDER1", "unknown kernel");
	expect_refused("v6.18+MARK_ROUND_DOW", "MARK_ROUND_DOWN");
	expect_refused("v6.18+order2", "ORDER1");
	expect_refused("v6.18+", "unknown knob");
	expect_refused("v6.18++ORDER1", "unknown knob");
	/* A commit is at least seven digits: fewer could mean many. */
	expect_refused("v6.7+ab4443", "unknown knob");
	expect_refused(
		"v6.18+qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq",
		"unknown knob");
}

/* Section 6, "Dependencies". */
static void test_dependencies(void **state)
{
	expect_refused("v6.7+NEXT_MISS_FIX", "NEXT_MISS_OUTSIDE");
	expect_refused("v6.18-NEXT_MISS_OUTSIDE", "NEXT_MISS_FIX");
	expect_refused("v6.12.y+FALLBACK_GUARD", "FALLBACK_SHORTEN");
	expect_refused("v6.16+END_ALIGN", "HONOUR_NEW_ORDER");
	expect_refused("v6.16+RA_ORDER_FIELD", "HONOUR_NEW_ORDER");
	expect_refused("v6.18-HONOUR_NEW_ORDER", "HONOUR_NEW_ORDER");
	parse("v6.7+NEXT_MISS_FIX+NEXT_MISS_OUTSIDE");
	parse("v6.18-HONOUR_NEW_ORDER-END_ALIGN-RA_ORDER_FIELD");
	parse("v6.18-RA_ORDER_FIELD");
	parse("v6.18-END_ALIGN");
}

/* The table at the top of readahead.md; 6.17.13 as tests/golden/README.md has it. */
static void test_releases(void **state)
{
	assert_string_equal(profile_of_release("6.1.192"), "v6.1.y");
	assert_string_equal(profile_of_release("6.1.0-57-amd64"), "v6.1.y");
	assert_string_equal(profile_of_release("6.12.117+deb13-amd64"), "v6.12.y");
	assert_string_equal(profile_of_release("6.16.12+deb14-amd64"), "v6.16.y");
	assert_string_equal(profile_of_release("6.17.13+deb14-amd64"), "v6.17.y");
	assert_string_equal(profile_of_release("6.18.15+deb14-amd64"), "v6.18");
	assert_string_equal(profile_of_release("7.3.4+deb13-amd64"), "v7.3");
	assert_null(profile_of_release("5.10.0"));
	assert_null(profile_of_release("6.11.0"));
	assert_null(profile_of_release("6.100.1"));
	assert_null(profile_of_release(""));
}

/* ---- machines ---- */

static struct machine *boot(const char *kernel, unsigned int page_size)
{
	struct machine_config config;
	struct fl_error err = {0};
	struct machine *m;

	machine_config_init(&config);
	config.kernel = kernel;
	config.page_size = page_size;
	config.memory = 64 << 20;
	if (machine_boot(&config, &m, &err))
		fail_msg("%s", err.text);
	return m;
}

/* Proves that two kernels in one process share nothing: clock, memory, events, knobs. */
static void test_two_machines(void **state)
{
	struct machine *a = boot("v6.1", 4096), *b = boot("v7.3", 65536);
	unsigned long free_b = b->mm->zone.nr_free;
	struct folio *fa = folio_alloc(a, GFP_KERNEL, 3), *fb;

	charge(a, COST_SYSCALL, 5);
	assert_true(a->clock_ps > 0);
	assert_int_equal(b->clock_ps, 0);
	assert_int_equal(a->mm->zone.nr_free, (64 << 20) / 4096 - 8);
	assert_int_equal(b->mm->zone.nr_free, free_b);
	assert_int_equal(trace_total(&a->trace, EV_fl_buddy_alloc), 1);
	assert_int_equal(trace_total(&b->trace, EV_fl_buddy_alloc), 0);
	assert_false(knob(a, RA_SPLIT));
	assert_true(knob(b, RA_SPLIT));
	fb = folio_alloc(b, GFP_KERNEL, 2);
	assert_ptr_equal(folio_machine(fa), a);
	assert_ptr_equal(folio_machine(fb), b);
	assert_int_equal(folio_size(fa), 4096 << 3);
	assert_int_equal(folio_size(fb), 65536 << 2);
	folio_put(fa);
	folio_put(fb);
	machine_shutdown(a);
	assert_int_equal(b->mm->zone.nr_free, free_b);
	machine_shutdown(b);
}

/* Proves the mask from the first and the last struct folio a machine can have. */
static void test_folio_machine_mask(void **state)
{
	struct machine *m = boot("v6.18", 4096);

	assert_int_equal((uintptr_t)m & (MACHINE_SPAN - 1), 0);
	assert_int_equal(m->mm->nr_folios, m->max_pfn);
	assert_ptr_equal(folio_machine(&m->mm->folios[0]), m);
	assert_ptr_equal(folio_machine(&m->mm->folios[m->mm->nr_folios - 1]), m);
	machine_shutdown(m);
}

/* Section 1.4: MAX_PAGECACHE_ORDER by page size, before and after the clamp of v6.10. */
static void test_max_pagecache_order(void **state)
{
	static const struct {
		const char *kernel;
		unsigned int page_size, order;
	} cases[] = {
		{"v6.18", 4096, 9},  {"v6.18", 16384, 11}, {"v6.18", 65536, 11},  {"v6.7", 4096, 9},
		{"v6.7", 16384, 11}, {"v6.7", 65536, 13},  {"v6.1.y", 65536, 11},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct machine *m = boot(cases[i].kernel, cases[i].page_size);

		assert_int_equal(m->max_pagecache_order, cases[i].order);
		machine_shutdown(m);
	}
}

static void expect_no_boot(u64 memory, unsigned int page_size, const char *word)
{
	struct machine_config config;
	struct fl_error err = {0};
	struct machine *m;

	machine_config_init(&config);
	config.memory = memory;
	config.page_size = page_size;
	assert_int_equal(machine_boot(&config, &m, &err), -EINVAL);
	assert_null(m);
	assert_non_null(strstr(err.text, word));
}

static void test_impossible_machines(void **state)
{
	expect_no_boot(0, 4096, "memory");
	expect_no_boot(63 * 4096, 4096, "64 pages");
	expect_no_boot(1 << 20, 3000, "page size");
	expect_no_boot(1 << 20, 0, "page size");
	expect_no_boot(~0ULL, 4096, "memory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_v617y),
		cmocka_unit_test(test_expressions),
		cmocka_unit_test(test_unknown_names),
		cmocka_unit_test(test_dependencies),
		cmocka_unit_test(test_releases),
		cmocka_unit_test(test_two_machines),
		cmocka_unit_test(test_folio_machine_mask),
		cmocka_unit_test(test_max_pagecache_order),
		cmocka_unit_test(test_impossible_machines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
