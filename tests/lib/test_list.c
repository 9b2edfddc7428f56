#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/list.h"

struct item {
	int id;
	struct list_head link;
};

static void fill(struct list_head *head, struct item *items, int n)
{
	INIT_LIST_HEAD(head);
	for (int i = 0; i < n; i++) {
		items[i].id = i;
		list_add_tail(&items[i].link, head);
	}
}

/* The ids in @head read as a decimal number, forwards; backwards must give the same list. */
static long digits(struct list_head *head)
{
	long forward = 0, backward = 0, unit = 1;
	struct item *it;

	list_for_each_entry(it, head, link)
		forward = forward * 10 + it->id;
	list_for_each_entry_reverse(it, head, link) {
		backward += it->id * unit;
		unit *= 10;
	}
	assert_int_equal(forward, backward);
	return forward;
}

/* Proves: front and back insertion order, first and last entry, and both directions agree. */
static void adds_at_both_ends(void **state)
{
	struct list_head head = LIST_HEAD_INIT(head);
	struct item a = {.id = 1}, b = {.id = 2}, c = {.id = 3};

	(void)state;
	assert_true(list_empty(&head));
	list_add(&b.link, &head);
	list_add(&a.link, &head);
	list_add_tail(&c.link, &head);
	assert_int_equal(digits(&head), 123);
	assert_ptr_equal(list_first_entry(&head, struct item, link), &a);
	assert_ptr_equal(list_last_entry(&head, struct item, link), &c);
	assert_false(list_empty(&head));
}

/* Proves: deletion unlinks; _init leaves an element that is empty and may be deleted again. */
static void deletes(void **state)
{
	struct list_head head;
	struct item items[4];

	(void)state;
	fill(&head, items, 4);
	list_del(&items[1].link);
	assert_null(items[1].link.next);
	assert_int_equal(digits(&head), 23);
	list_del_init(&items[3].link);
	assert_true(list_empty(&items[3].link));
	list_del_init(&items[3].link);
	assert_int_equal(digits(&head), 2);
	list_del(&items[0].link);
	list_del(&items[2].link);
	assert_true(list_empty(&head));
}

/* Proves: moves work within a list and between lists, to either end. */
static void moves(void **state)
{
	struct list_head head, other;
	struct item items[4], more[2];

	(void)state;
	fill(&head, items, 4);
	fill(&other, more, 2);
	list_move(&items[2].link, &head);
	assert_int_equal(digits(&head), 2013);
	list_move_tail(&items[0].link, &head);
	assert_int_equal(digits(&head), 2130);
	list_move_tail(&items[3].link, &other);
	assert_int_equal(digits(&other), 13);
	assert_int_equal(digits(&head), 210);
}

/* Proves: splicing keeps the order, goes to the front, empties the source, ignores an empty one. */
static void splices(void **state)
{
	struct list_head head, other;
	struct item items[3], more[2];

	(void)state;
	fill(&head, items, 3);
	fill(&other, more, 2);
	more[0].id = 8;
	more[1].id = 9;
	list_splice_init(&other, &head);
	assert_int_equal(digits(&head), 89012);
	assert_true(list_empty(&other));
	list_splice_init(&other, &head);
	assert_int_equal(digits(&head), 89012);
	list_splice_init(&head, &other);
	assert_int_equal(digits(&other), 89012);
	assert_true(list_empty(&head));
}

/* Proves: the _safe walks survive the removal of every element they visit. */
static void removes_while_walking(void **state)
{
	struct list_head head;
	struct item items[5], *it, *n;
	int seen = 0;

	(void)state;
	fill(&head, items, 5);
	list_for_each_entry_safe(it, n, &head, link)
		if (it->id % 2)
			list_del(&it->link);
	assert_int_equal(digits(&head), 24);
	list_for_each_entry_safe_reverse(it, n, &head, link)
	{
		seen = seen * 10 + it->id;
		list_del_init(&it->link);
	}
	assert_int_equal(seen, 420);
	assert_true(list_empty(&head));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(adds_at_both_ends),
		cmocka_unit_test(deletes),
		cmocka_unit_test(moves),
		cmocka_unit_test(splices),
		cmocka_unit_test(removes_while_walking),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
