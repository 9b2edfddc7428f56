/*
 * fs/test_blocks.c - where blocks are: extents of a file and free runs of a disk.
 *
 * Proves that fs/extents.c and fs/balloc.c say and do the same as arrays with one entry a block,
 * after any sequence of calls, and that their lists stay sorted, apart and merged.
 */
#include "unit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fs/balloc.h"
#include "fs/extents.h"
#include "fs/super.h"
#include "lib/prng.h"

#define BLOCKS	 300
#define NO_BLOCK UINT64_MAX
#define DELAYED	 (UINT64_MAX - 1)

/* ---- extents ---- */

struct block {
	u64 pblk; /* or NO_BLOCK, DELAYED */
	enum extent_state state;
};

static struct block model[BLOCKS];
static u64 freed_blocks[2 * BLOCKS];
static unsigned int nr_freed;

static void note_freed(struct inode *inode, u64 pblk, u64 len)
{
	for (u64 i = 0; i < len; i++) {
		assert_true(nr_freed < ARRAY_SIZE(freed_blocks));
		freed_blocks[nr_freed++] = pblk + i;
	}
}

static void check_list(const struct inode *inode)
{
	for (unsigned int i = 0; i < inode->i_nr_extents; i++) {
		const struct fs_extent *e = &inode->i_extents[i], *next = e + 1;

		assert_true(e->len > 0);
		if (i + 1 == inode->i_nr_extents)
			break;
		assert_true(e->lblk + e->len <= next->lblk);
		assert_false(e->lblk + e->len == next->lblk && e->state == next->state &&
			     (e->state == EXTENT_DELAYED || e->pblk + e->len == next->pblk));
	}
}

static u64 same_blocks(u64 from)
{
	u64 n = 1;

	while (from + n < BLOCKS && model[from + n].state == model[from].state &&
	       (model[from].pblk == NO_BLOCK || model[from].pblk == DELAYED
			? model[from + n].pblk == model[from].pblk
			: model[from + n].pblk == model[from].pblk + n))
		n++;
	return n;
}

static void check_model(const struct inode *inode)
{
	for (u64 b = 0; b < BLOCKS; b++) {
		u64 len;
		const struct fs_extent *e = inode_map_block(inode, b, &len);

		assert_ptr_equal(e, extents_lookup(inode, b));
		assert_int_equal(!e, model[b].pblk == NO_BLOCK);
		if (b + same_blocks(b) < BLOCKS)
			assert_int_equal(len, same_blocks(b));
		if (!e)
			continue;
		assert_int_equal(e->state, model[b].state);
		if (e->state != EXTENT_DELAYED)
			assert_int_equal(e->pblk + (b - e->lblk), model[b].pblk);
	}
}

static void random_extent_op(struct prng *p, struct inode *inode)
{
	u64 at = prng_below(p, BLOCKS), len = prng_between(p, 1, min((u64)40, BLOCKS - at));
	enum extent_state state = prng_below(p, 3);
	struct fs_extent e = {.lblk = at,
			      .len = len,
			      .state = state,
			      .pblk = state == EXTENT_DELAYED ? 0 : at + 1000 * prng_below(p, 3)};
	unsigned int expected = 0;

	nr_freed = 0;
	switch (prng_below(p, 3)) {
	case 0:
		assert_int_equal(extents_set(inode, &e), 0);
		for (u64 i = 0; i < len; i++)
			model[at + i] = (struct block){
				state == EXTENT_DELAYED ? DELAYED : e.pblk + i, state};
		break;
	case 1:
		assert_int_equal(extents_remove(inode, at, len, note_freed), 0);
		for (u64 i = 0; i < len; i++) {
			if (model[at + i].pblk < DELAYED)
				assert_int_equal(freed_blocks[expected++], model[at + i].pblk);
			model[at + i] = (struct block){NO_BLOCK, EXTENT_WRITTEN};
		}
		assert_int_equal(nr_freed, expected);
		break;
	default:
		/* Delayed blocks have no place, so they cannot change into what has one. */
		for (u64 i = 0; i < len; i++)
			if (model[at + i].pblk == DELAYED)
				return;
		state = prng_below(p, 2) ? EXTENT_WRITTEN : EXTENT_UNWRITTEN;
		assert_int_equal(extents_set_state(inode, at, len, state), 0);
		for (u64 i = 0; i < len; i++)
			if (model[at + i].pblk != NO_BLOCK)
				model[at + i].state = state;
	}
}

static void test_extents(void **state)
{
	for (u64 seed = 1; seed <= soak_count(200); seed++) {
		struct inode inode = {0};
		struct prng p;

		prng_seed(&p, seed);
		for (unsigned int b = 0; b < BLOCKS; b++)
			model[b] = (struct block){NO_BLOCK, EXTENT_WRITTEN};
		for (unsigned int i = 0; i < 300; i++) {
			random_extent_op(&p, &inode);
			check_list(&inode);
			if (i % 10 == 0)
				check_model(&inode);
		}
		free(inode.i_extents);
	}
}

/* Proves that blocks at the far end of what numbers hold do no harm. */
static void test_extents_far(void **state)
{
	struct inode inode = {0};
	const struct fs_extent e = {
		.lblk = (1ULL << 53) - 8, .len = 8, .pblk = 7, .state = EXTENT_WRITTEN};
	u64 len;

	assert_int_equal(extents_set(&inode, &e), 0);
	assert_null(inode_map_block(&inode, 0, &len));
	assert_int_equal(len, (1ULL << 53) - 8);
	assert_non_null(inode_map_block(&inode, (1ULL << 53) - 1, &len));
	assert_int_equal(len, 1);
	assert_int_equal(extents_remove(&inode, 5, ~0ULL - 5, NULL), 0);
	assert_int_equal(inode.i_nr_extents, 0);
	free(inode.i_extents);
}

/* ---- free blocks ---- */

static bool used[BLOCKS];

static u64 free_run_at(u64 from)
{
	u64 n = 0;

	while (from + n < BLOCKS && !used[from + n])
		n++;
	return n;
}

static u64 longest_run(void)
{
	u64 best = 0;

	for (u64 b = 0; b < BLOCKS; b++)
		best = max(best, free_run_at(b));
	return best;
}

static void check_space(const struct block_space *s)
{
	u64 at = 0;

	for (size_t i = 0; i < s->nr; i++) {
		assert_true(s->free[i].len > 0);
		assert_true(!i || s->free[i].start > s->free[i - 1].start + s->free[i - 1].len);
		for (; at < s->free[i].start; at++)
			assert_true(used[at]);
		for (; at < s->free[i].start + s->free[i].len; at++)
			assert_false(used[at]);
	}
	for (; at < BLOCKS; at++)
		assert_true(used[at]);
	/* From behind: what is in use next. */
	for (u64 b = BLOCKS, next = BLOCKS; b-- > 0;) {
		next = used[b] ? b : next;
		assert_int_equal(block_next_used(s, b), next);
	}
	assert_int_equal(block_next_used(s, BLOCKS), BLOCKS);
}

static void random_alloc(struct prng *p, struct block_space *s)
{
	u64 goal = prng_below(p, BLOCKS), want = prng_between(p, 1, 60), start, longest;
	bool fits_goal = free_run_at(goal) >= want && !s->fragment;
	s64 got;

	longest = longest_run();
	got = block_alloc(s, goal, want, &start);
	if (!longest) {
		assert_int_equal(got, -ENOSPC);
		return;
	}
	if (s->fragment)
		want = min(want, s->fragment);
	assert_int_equal(got, min(want, longest));
	if (fits_goal)
		assert_int_equal(start, goal);
	for (s64 i = 0; i < got; i++) {
		assert_false(used[start + i]);
		used[start + i] = true;
	}
}

static void random_free(struct prng *p, struct block_space *s)
{
	u64 at = prng_below(p, BLOCKS), n = 0;

	while (at + n < BLOCKS && used[at + n] && n < 30)
		n++;
	if (!n)
		return;
	assert_int_equal(block_free(s, at, n), 0);
	memset(used + at, 0, n);
}

static void random_exact(struct prng *p, struct block_space *s)
{
	u64 at = prng_below(p, BLOCKS), len = prng_between(p, 1, min((u64)20, BLOCKS - at));
	bool room = free_run_at(at) >= len;

	assert_int_equal(block_alloc_exact(s, at, len), room ? 0 : -EBUSY);
	if (room)
		memset(used + at, 1, len);
}

static void test_free_blocks(void **state)
{
	for (u64 seed = 1; seed <= soak_count(200); seed++) {
		struct block_space s;
		struct prng p;

		prng_seed(&p, seed);
		memset(used, 0, sizeof(used));
		assert_int_equal(block_space_init(&s, BLOCKS), 0);
		s.fragment = seed % 3 ? 0 : prng_between(&p, 1, 10);
		for (unsigned int i = 0; i < 500; i++) {
			switch (prng_below(&p, 3)) {
			case 0:
				random_alloc(&p, &s);
				break;
			case 1:
				random_free(&p, &s);
				break;
			default:
				random_exact(&p, &s);
			}
			check_space(&s);
		}
		block_space_fini(&s);
	}
}

/* Proves that a fragment length is the longest extent a file gets, and that extents do break. */
static void test_fragments(void **state)
{
	struct block_space s;
	u64 start, end = 0;

	assert_int_equal(block_space_init(&s, 1000), 0);
	s.fragment = 7;
	for (unsigned int i = 0; i < 20; i++) {
		assert_int_equal(block_alloc(&s, end, 50, &start), 7);
		assert_true(!i || start > end);
		end = start + 7;
	}
	block_space_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_extents),
		cmocka_unit_test(test_extents_far),
		cmocka_unit_test(test_free_blocks),
		cmocka_unit_test(test_fragments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
