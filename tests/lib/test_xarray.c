/*
 * The XArray against a naive model: one struct an index, no tree. Every random operation is done
 * to both; answers, what is stored, marks and the tree's own invariants must agree.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "lib/prng.h"
#include "lib/xarray.h"

#define PAGES	  8192ul
#define MAX_ORDER 12

/* What the model knows of the entry that starts at an index. */
struct item {
	void *entry; /* NULL: no entry starts here */
	unsigned int order;
	unsigned int marks;
};

struct model {
	unsigned long base; /* index of items[0]; a multiple of PAGES */
	struct item items[PAGES];
	struct xa_cache cache;
	struct xarray xa;
	struct prng rng;
};

static void model_init(struct model *m, unsigned long base, u64 seed)
{
	memset(m, 0, sizeof(*m));
	m->base = base;
	xa_cache_init(&m->cache);
	xa_init(&m->xa, &m->cache);
	prng_seed(&m->rng, seed);
}

static void check(const struct model *m)
{
	struct fl_error err = {0};

	if (xa_check(&m->xa, &err))
		fail_msg("%s", err.text);
}

static void model_fini(struct model *m)
{
	xa_destroy(&m->xa);
	check(m);
	assert_true(xa_empty(&m->xa));
	assert_int_equal(m->cache.live, 0);
	xa_cache_fini(&m->cache);
}

/* First page behind @it. */
static unsigned long after(const struct model *m, const struct item *it)
{
	return it - m->items + (1UL << it->order);
}

/* The entry that covers page @i, or NULL: entries lie naturally aligned. */
static struct item *cover(struct model *m, unsigned long i)
{
	for (unsigned int order = 0; order <= MAX_ORDER; order++) {
		struct item *it = &m->items[i >> order << order];

		if (it->entry && it->order >= order)
			return it;
	}
	return NULL;
}

static unsigned long index_of(const struct model *m, const struct item *it)
{
	return m->base + (it - m->items);
}

/* What the rules of xas_store() say happens: see xarray.h. */
static void model_store(struct model *m, unsigned long i, unsigned int order, void *entry)
{
	unsigned long first = i >> order << order;
	struct item *old = cover(m, first), new = {entry, order, 0};

	if (old && old->order > order) {
		first = old - m->items;
		new.order = old->order;
	}
	for (unsigned long k = first; k < first + (1UL << new.order); k++) {
		new.marks |= m->items[k].marks;
		m->items[k] = (struct item){0};
	}
	if (entry)
		m->items[first] = new;
}

static void model_split(struct item *it, unsigned int order, void *entry)
{
	struct item old = *it;

	for (unsigned long k = 0; k < 1UL << old.order; k += 1UL << order)
		it[k] = (struct item){entry, order, old.marks};
}

static void model_try_split(struct model *m, unsigned long i, unsigned int order, void *entry)
{
	while (cover(m, i)->order > order) {
		struct item *it = cover(m, i);

		model_split(it, it->order - 1, entry);
	}
}

/* -- Comparing -- */

static void check_item(struct model *m, unsigned long i)
{
	struct item *want = cover(m, i);
	XA_STATE(xas, &m->xa, m->base + i);
	void *entry = xas_load(&xas);

	assert_ptr_equal(entry, want ? want->entry : NULL);
	assert_int_equal(xas.xa_index, m->base + i);
	if (!entry)
		return;
	assert_int_equal(xas_get_order(&xas), want->order);
	for (xa_mark_t mark = 0; mark < XA_MAX_MARKS; mark++)
		assert_int_equal(xas_get_mark(&xas, mark), want->marks >> mark & 1);
}

/* The whole tree, walked by xas_for_each(), is the model, item by item. */
static void check_all(struct model *m)
{
	XA_STATE(xas, &m->xa, m->base);
	struct item *it = m->items;
	void *entry;

	check(m);
	xas_for_each(&xas, entry, ~0UL) {
		while (!it->entry)
			it++;
		assert_ptr_equal(entry, it->entry);
		assert_int_equal(xas.xa_index, index_of(m, it));
		assert_int_equal(xas_get_order(&xas), it->order);
		it++;
	}
	for (; it < m->items + PAGES; it++)
		assert_null(it->entry);
}

/* -- Random operations -- */

static unsigned long random_page(struct model *m)
{
	/* Half of them close together, so that operations meet. */
	return prng_below(&m->rng, prng_below(&m->rng, 2) ? 200 : PAGES);
}

static void *random_entry(struct model *m)
{
	u64 v = prng_u64(&m->rng);

	return v & 1 ? xa_mk_value(v >> 40) : (void *)(unsigned long)((v >> 20 | 1 << 20) & ~3UL);
}

static unsigned int random_order(struct model *m)
{
	return prng_below(&m->rng, prng_below(&m->rng, MAX_ORDER + 1) + 1);
}

static void op_store(struct model *m)
{
	unsigned long i = random_page(m);
	unsigned int order = random_order(m);
	void *entry = prng_below(&m->rng, 4) ? random_entry(m) : NULL;
	struct item *old = cover(m, i);
	void *was = old ? old->entry : NULL;
	void *got = xa_store_order(&m->xa, m->base + i, order, entry);

	if (!order || (old && old->order >= order))
		assert_ptr_equal(got, was);
	model_store(m, i, order, entry);
}

static void op_erase(struct model *m)
{
	unsigned long i = random_page(m);
	struct item *old = cover(m, i);

	assert_ptr_equal(xa_erase(&m->xa, m->base + i), old ? old->entry : NULL);
	model_store(m, i, 0, NULL);
}

static void op_mark(struct model *m)
{
	unsigned long i = random_page(m);
	xa_mark_t mark = prng_below(&m->rng, XA_MAX_MARKS);
	struct item *it = cover(m, i);
	XA_STATE(xas, &m->xa, m->base + i);

	if (!it)
		return;
	xas_load(&xas);
	switch (prng_below(&m->rng, 5)) {
	case 0:
		xas_init_marks(&xas);
		it->marks = 0;
		break;
	case 1:
		xas_clear_mark(&xas, mark);
		it->marks &= ~(1U << mark);
		break;
	default:
		xas_set_mark(&xas, mark);
		it->marks |= 1U << mark;
	}
}

static void op_split(struct model *m)
{
	unsigned long i = random_page(m);
	struct item *it = cover(m, i);
	bool whole = prng_below(&m->rng, 2);
	unsigned int old, order;
	void *entry = random_entry(m);

	if (!it || !it->order)
		return;
	old = it->order;
	order = prng_below(&m->rng, old);
	XA_STATE_ORDER(xas, &m->xa, m->base + i, order);
	if (whole) {
		xas_split(&xas, entry, old);
		model_split(it, order, entry);
	} else {
		xas_try_split(&xas, entry, old);
		model_try_split(m, i, order, entry);
	}
	assert_int_equal(xas_error(&xas), 0);
}

/* First item that covers or follows page @i, with its mark if @filter is one. */
static struct item *next_item(struct model *m, unsigned long i, xa_mark_t filter)
{
	struct item *it = i < PAGES ? cover(m, i) : NULL;

	for (it = it ? it : &m->items[i]; it < m->items + PAGES; it++)
		if (it->entry && (filter == XA_PRESENT || it->marks >> filter & 1))
			return it;
	return NULL;
}

/* The index xa_find() reports for @it, starting at page @i. */
static unsigned long found_at(struct model *m, struct item *it, unsigned long i, xa_mark_t filter)
{
	unsigned long first = it - m->items;
	unsigned int level = it->order - it->order % 6;

	if (first >= i)
		return first;
	return filter == XA_PRESENT || i >> level == first >> level ? i : first;
}

static void op_find(struct model *m)
{
	xa_mark_t filter = prng_below(&m->rng, 2) ? XA_PRESENT : prng_below(&m->rng, XA_MAX_MARKS);
	unsigned long i = random_page(m), last = min(i + prng_below(&m->rng, 600), PAGES - 1);
	unsigned long index = m->base + i;
	struct item *it = next_item(m, i, filter);
	void *entry;

	if (it && it - m->items > (long)last)
		it = NULL;
	entry = xa_find(&m->xa, &index, m->base + last, filter);
	assert_ptr_equal(entry, it ? it->entry : NULL);
	assert_int_equal(index, m->base + (it ? found_at(m, it, i, filter) : i));
}

/* All marked entries of the tree, in order. */
static void op_walk_marked(struct model *m)
{
	xa_mark_t mark = prng_below(&m->rng, XA_MAX_MARKS);
	unsigned long i = 0;
	XA_STATE(xas, &m->xa, 0);
	void *entry;

	xas_for_each_marked(&xas, entry, ~0UL, mark)
	{
		struct item *it = next_item(m, i, mark);

		assert_ptr_equal(entry, it->entry);
		assert_int_equal(xas.xa_index, index_of(m, it));
		i = after(m, it);
		/* After a pause at the very last index Linux starts again at 0; so do we. */
		if (i < PAGES && !prng_below(&m->rng, 4))
			xas_pause(&xas);
	}
	assert_null(next_item(m, i, mark));
}

/* Every entry that overlaps a range, in order, and none besides. */
static void op_conflicts(struct model *m)
{
	unsigned int order = random_order(m);
	unsigned long first = random_page(m) >> order << order, last = first + (1UL << order) - 1;
	struct item *it = cover(m, first);
	XA_STATE_ORDER(xas, &m->xa, m->base + first, order);
	void *entry;

	it = it ? it : &m->items[first];
	xas_for_each_conflict(&xas, entry) {
		while (!it->entry)
			it++;
		assert_ptr_equal(entry, it->entry);
		assert_true(it - m->items <= (long)last);
		it++;
	}
	for (; it <= &m->items[last]; it++)
		assert_null(it->entry);
}

/* A walk that pauses and loses its place; the first entry may be met in the middle. */
static void op_walk_with_pauses(struct model *m)
{
	unsigned long i = random_page(m);
	struct item *it = next_item(m, i, XA_PRESENT);
	XA_STATE(xas, &m->xa, m->base + i);
	unsigned int n = 0;
	void *entry;

	xas_for_each(&xas, entry, m->base + PAGES - 1) {
		assert_ptr_equal(entry, it->entry);
		/* A pause in the middle of an entry skips what follows, as the kernel's does. */
		if (xas.xa_index == index_of(m, it) && prng_below(&m->rng, 2))
			xas_pause(&xas);
		it = next_item(m, after(m, it), XA_PRESENT);
		if (++n == 50)
			return;
	}
	assert_null(it);
}

/* From folio to folio as filemap_get_read_batch() does it, until the first hole. */
static void op_walk_by_advance(struct model *m)
{
	unsigned long i = random_page(m);
	XA_STATE(xas, &m->xa, m->base + i);
	void *entry;

	for (entry = xas_load(&xas); entry; entry = xas_next(&xas)) {
		struct item *it = cover(m, i);

		assert_ptr_equal(entry, it->entry);
		assert_int_equal(xas.xa_index, m->base + i);
		i = after(m, it);
		xas_advance(&xas, m->base + i - 1);
		if (i == PAGES)
			return;
	}
	assert_null(cover(m, i));
}

/* A state that moves on and then stores: by xas_find(), xas_set() or xas_set_order(). */
static void op_store_where_found(struct model *m)
{
	unsigned long i = random_page(m);
	struct item *it = next_item(m, i, XA_PRESENT);
	XA_STATE(xas, &m->xa, m->base + i);
	void *entry = prng_below(&m->rng, 3) ? random_entry(m) : NULL;

	if (!xas_find(&xas, ~0UL)) {
		assert_null(it);
		return;
	}
	xas_store(&xas, entry);
	model_store(m, it - m->items, 0, entry);
}

typedef void (*op_fn)(struct model *);

static const op_fn ops[] = {
	op_store,
	op_store,
	op_store,
	op_store,
	op_erase,
	op_erase,
	op_mark,
	op_mark,
	op_mark,
	op_split,
	op_find,
	op_walk_marked,
	op_conflicts,
	op_walk_with_pauses,
	op_walk_by_advance,
	op_store_where_found,
};

static void churn(unsigned long base, u64 seed)
{
	static struct model m;

	model_init(&m, base, seed);
	for (unsigned int i = 0; i < 3000; i++) {
		ops[prng_below(&m.rng, ARRAY_SIZE(ops))](&m);
		check(&m);
		check_item(&m, random_page(&m));
		if (i % 50)
			continue;
		check_all(&m);
		for (unsigned long page = 0; page < PAGES; page++)
			check_item(&m, page);
	}
	for (unsigned long page = 0; page < PAGES; page += 1 + prng_below(&m.rng, 9)) {
		assert_ptr_equal(xa_erase(&m.xa, base + page),
				 cover(&m, page) ? cover(&m, page)->entry : NULL);
		model_store(&m, page, 0, NULL);
		if (!(page & 7))
			check(&m);
	}
	check_all(&m);
	model_fini(&m);
}

/* Proves: random stores, erases, marks, splits and searches from index 0 equal the model. */
static void random_operations_at_zero(void **state)
{
	(void)state;
	for (u64 seed = 1; seed <= 6; seed++)
		churn(0, seed);
}

/* Proves: the same high up (deep trees that grow and shrink) and in the middle levels. */
static void random_operations_high_up(void **state)
{
	static const unsigned long bases[] = {PAGES, 0x1000000, 0x7ffffffe0000, 0x3fffffffffffe000};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(bases); i++)
		churn(bases[i], 100 + i);
}

/* Proves: the same at the very end, where an index after the last one wraps to 0. */
static void random_operations_at_the_end(void **state)
{
	(void)state;
	churn(-PAGES, 200);
	churn(-PAGES, 201);
}

/* -- Memory runs out -- */

/* Store or split with the @n-th allocation failing; true if it was reached. */
static bool fails_at(struct model *m, unsigned long i, unsigned int order, unsigned int n)
{
	struct item *it = cover(m, i);
	u64 live = m->cache.live;
	XA_STATE_ORDER(xas, &m->xa, m->base + i, order);

	m->cache.fail_in = n;
	if (it && it->order > order && n % 2)
		xas_split(&xas, it->entry, it->order);
	else if (it && it->order > order)
		xas_try_split(&xas, it->entry, it->order);
	else
		xas_store(&xas, xa_mk_value(1));
	if (m->cache.fail_in || !xas_error(&xas)) {
		m->cache.fail_in = 0;
		return false;
	}
	assert_int_equal(xas_error(&xas), -ENOMEM);
	assert_int_equal(m->cache.live, live);
	check_all(m);
	assert_null(xas_load(&xas)); /* a state in error does nothing */
	assert_null(xas_store(&xas, xa_mk_value(2)));
	return true;
}

/* Fail the 1st, 2nd, ... allocation of one operation on a tree of a few random entries. */
static unsigned int fail_each(u64 seed, unsigned long base)
{
	static struct model m;
	unsigned int hits = 0;
	unsigned long i;
	unsigned int order;

	model_init(&m, base, seed);
	for (unsigned int k = prng_below(&m.rng, 12); k; k--)
		op_store(&m);
	i = random_page(&m);
	order = random_order(&m);
	while (hits < 200 && fails_at(&m, i, order, hits + 1))
		hits++;
	model_fini(&m);
	return hits;
}

/* Proves: whichever allocation fails, tree and node count are as before and the state says so. */
static void failing_allocations_change_nothing(void **state)
{
	unsigned int hits = 0;

	(void)state;
	for (u64 seed = 1; seed < 600; seed++)
		hits += fail_each(seed, seed % 3 ? 0 : PAGES << seed % 40);
	assert_true(hits > 500);
}

/* Proves: xa_store() hands the error to its caller, and the next try succeeds. */
static void store_reports_no_memory(void **state)
{
	struct xa_cache cache;
	struct xarray xa;

	(void)state;
	xa_cache_init(&cache);
	xa_init(&xa, &cache);
	cache.fail_in = 1;
	assert_int_equal(xa_err(xa_store(&xa, 5, &xa)), -ENOMEM);
	assert_true(xa_empty(&xa));
	assert_null(xa_store(&xa, 5, &xa));
	assert_ptr_equal(xa_load(&xa, 5), &xa);
	assert_int_equal(xa_err(&xa), 0);
	xa_destroy(&xa);
	xa_cache_fini(&cache);
}

/* -- Shapes and positions worth naming -- */

/* Proves: one entry at index 0 needs no node; growing and shrinking return to that. */
static void lone_entry_lives_in_the_head(void **state)
{
	struct xa_cache cache;
	struct xarray xa;
	XA_STATE(xas, &xa, 0);

	(void)state;
	xa_cache_init(&cache);
	xa_init(&xa, &cache);
	xa_store(&xa, 0, &cache);
	assert_ptr_equal(xa.xa_head, &cache);
	xas_load(&xas);
	xas_set_mark(&xas, XA_MARK_1);
	xa_store(&xa, 1UL << 40, &xa);
	assert_int_equal(cache.live, 13); /* 7 levels, and 6 more to the other leaf */
	xa_erase(&xa, 1UL << 40);
	assert_ptr_equal(xa.xa_head, &cache);
	assert_true(xa_marked(&xa, XA_MARK_1));
	assert_int_equal(cache.live, 0);
	xas_reset(&xas);
	assert_ptr_equal(xas_next(&xas), &cache);
	assert_null(xas_next(&xas));
	assert_int_equal(xas.xa_index, 1);
	xa_destroy(&xa);
	xa_cache_fini(&cache);
}

/* Proves: a load inside an entry moves the slot to its start and leaves the index. */
static void load_parts_index_and_slot(void **state)
{
	struct xa_cache cache;
	struct xarray xa;
	XA_STATE(xas, &xa, 21);

	(void)state;
	xa_cache_init(&cache);
	xa_init(&xa, &cache);
	xa_store_order(&xa, 16, 3, &xa);
	assert_ptr_equal(xas_load(&xas), &xa);
	assert_int_equal(xas.xa_index, 21);
	assert_int_equal(xas.xa_offset, 16);
	assert_true(xa_is_sibling(xas_next(&xas)));
	assert_int_equal(xas.xa_index, 22);
	assert_int_equal(xas.xa_offset, 17);
	xas_advance(&xas, 23);
	assert_int_equal(xas.xa_offset, 23);
	xa_destroy(&xa);
	xa_cache_fini(&cache);
}

/* Proves: where a pause in the middle of an entry goes on, and a search moved on by hand. */
static void pauses_and_moves_inside_entries(void **state)
{
	struct xa_cache cache;
	struct xarray xa;
	XA_STATE(xas, &xa, 21);

	(void)state;
	xa_cache_init(&cache);
	xa_init(&xa, &cache);
	xa_store_order(&xa, 16, 3, &xa);
	xa_store_order(&xa, 64, 6, &xa);
	xa_store(&xa, 30, &xas);
	xa_store(&xa, 35, &xas);
	xa_store(&xa, 40, &cache);
	assert_ptr_equal(xas_find(&xas, ~0UL), &xa);
	xas_pause(&xas);
	assert_int_equal(xas.xa_index, 29); /* 21 + 8 slots: the quirk xarray.h tells of */
	assert_ptr_equal(xas_find(&xas, ~0UL), &xas);
	xas.xa_index = 39;
	assert_ptr_equal(xas_find(&xas, ~0UL), &cache);
	assert_int_equal(xas.xa_index, 40);
	xas_set(&xas, 100);
	assert_ptr_equal(xas_find(&xas, ~0UL), &xa);
	xas_pause(&xas);
	assert_int_equal(xas.xa_index, 128);
	xa_destroy(&xa);
	xa_cache_fini(&cache);
}

/* Proves: an entry of order 6 to 11 takes slots one level up, even alone at index 0. */
static void large_entries_sit_one_level_up(void **state)
{
	struct xa_cache cache;
	struct xarray xa;

	(void)state;
	xa_cache_init(&cache);
	xa_init(&xa, &cache);
	for (unsigned int order = 6; order <= 11; order++) {
		XA_STATE(xas, &xa, (1UL << order) - 1);

		xa_store_order(&xa, 0, order, &xa);
		assert_ptr_equal(xas_load(&xas), &xa);
		assert_int_equal(xas.xa_node->shift, 6);
		assert_int_equal(xas.xa_node->count, 1 << (order - 6));
		assert_int_equal(xas.xa_offset, 0);
		assert_int_equal(cache.live, 1);
		xa_destroy(&xa);
	}
	xa_cache_fini(&cache);
}

/* Orders of the entries of @xa in ascending order of index, as digits. */
static u64 orders(struct xarray *xa)
{
	XA_STATE(xas, xa, 0);
	void *entry;
	u64 digits = 0;

	xas_for_each(&xas, entry, ~0UL)
		digits = digits * 10 + xas_get_order(&xas);
	return digits;
}

/* Proves: the two splits cut as documented; a wrong order is -EINVAL, nothing there is no error. */
static void splits_cut_as_documented(void **state)
{
	struct xa_cache cache;
	struct xarray xa;
	XA_STATE_ORDER(xas, &xa, 5, 0);

	(void)state;
	xa_cache_init(&cache);
	xa_init(&xa, &cache);
	xas_split(&xas, &xa, 3);
	assert_int_equal(xas_error(&xas), 0);
	xa_store_order(&xa, 0, 3, &xa);
	xas_try_split(&xas, &xa, 4);
	assert_int_equal(xas_error(&xas), -EINVAL);
	xas_set(&xas, 5);
	xas_try_split(&xas, &xa, 3);
	assert_int_equal(orders(&xa), 2001);
	xa_store_order(&xa, 0, 9, &xa);
	xas_set_order(&xas, 77, 7);
	xas_split(&xas, &xa, 9);
	assert_int_equal(orders(&xa), 7777);
	xas_set_order(&xas, 77, 4);
	xas_try_split(&xas, &xa, 7);
	assert_int_equal(orders(&xa), 6445777);
	xa_destroy(&xa);
	xa_cache_fini(&cache);
}

/* Proves: xa_check() notices each kind of damage (or the other tests would prove little). */
static void check_notices_damage(void **state)
{
	struct xa_cache cache;
	struct xarray xa;
	struct xa_node *node;
	void *slot;

	(void)state;
	xa_cache_init(&cache);
	xa_init(&xa, &cache);
	xa_store_order(&xa, 8, 2, xa_mk_value(7));
	node = xa_to_node(xa.xa_head);
	assert_int_equal(xa_check(&xa, NULL), 0);
	node->count++;
	assert_int_equal(xa_check(&xa, NULL), -EUCLEAN);
	node->count--;
	node->nr_values--;
	assert_int_equal(xa_check(&xa, NULL), -EUCLEAN);
	node->nr_values++;
	node->marks[1] = 1 << 8;
	assert_int_equal(xa_check(&xa, NULL), -EUCLEAN);
	xa.xa_flags = 2;
	assert_int_equal(xa_check(&xa, NULL), 0);
	node->marks[1] = 1 << 9;
	assert_int_equal(xa_check(&xa, NULL), -EUCLEAN);
	node->marks[1] = 1 << 8;
	slot = node->slots[10];
	node->slots[10] = xa_mk_sibling(9);
	assert_int_equal(xa_check(&xa, NULL), -EUCLEAN);
	node->slots[10] = slot;
	node->parent = node;
	assert_int_equal(xa_check(&xa, NULL), -EUCLEAN);
	node->parent = NULL;
	assert_int_equal(xa_check(&xa, NULL), 0);
	xa_destroy(&xa);
	xa_cache_fini(&cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_operations_at_zero),
		cmocka_unit_test(random_operations_high_up),
		cmocka_unit_test(random_operations_at_the_end),
		cmocka_unit_test(failing_allocations_change_nothing),
		cmocka_unit_test(store_reports_no_memory),
		cmocka_unit_test(lone_entry_lives_in_the_head),
		cmocka_unit_test(load_parts_index_and_slot),
		cmocka_unit_test(pauses_and_moves_inside_entries),
		cmocka_unit_test(large_entries_sit_one_level_up),
		cmocka_unit_test(splits_cut_as_documented),
		cmocka_unit_test(check_notices_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
