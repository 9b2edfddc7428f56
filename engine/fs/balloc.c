#include "fs/balloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int block_space_init(struct block_space *s, u64 nr_blocks)
{
	memset(s, 0, sizeof(*s));
	s->free = malloc(8 * sizeof(*s->free));
	if (!s->free)
		return -ENOMEM;
	s->cap = 8;
	s->free[0] = (struct block_run){0, nr_blocks};
	s->nr = 1;
	return 0;
}

void block_space_fini(struct block_space *s)
{
	free(s->free);
	memset(s, 0, sizeof(*s));
}

static int reserve_one(struct block_space *s)
{
	size_t cap = 2 * s->cap;
	struct block_run *p;

	if (s->nr < s->cap)
		return 0;
	p = realloc(s->free, cap * sizeof(*p));
	if (!p)
		return -ENOMEM;
	s->free = p;
	s->cap = cap;
	return 0;
}

/* The first run that ends behind @block. */
static size_t find_run(const struct block_space *s, u64 block)
{
	size_t lo = 0, hi = s->nr;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (s->free[mid].start + s->free[mid].len <= block)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Take [start, start + len) out of run @i. Needs room for one more run. */
static void take(struct block_space *s, size_t i, u64 start, u64 len)
{
	struct block_run *r = &s->free[i];
	u64 end = r->start + r->len, behind = end - (start + len);

	r->len = start - r->start;
	if (behind && r->len) {
		memmove(r + 2, r + 1, (s->nr - i - 1) * sizeof(*r));
		r[1] = (struct block_run){start + len, behind};
		s->nr++;
	} else if (behind) {
		*r = (struct block_run){start + len, behind};
	} else if (!r->len) {
		memmove(r, r + 1, (s->nr - i - 1) * sizeof(*r));
		s->nr--;
	}
}

static u64 distance(const struct block_run *r, u64 goal)
{
	if (goal < r->start)
		return r->start - goal;
	return goal >= r->start + r->len ? goal - (r->start + r->len) + 1 : 0;
}

/* The nearest run with room for @want, else the longest one. */
static size_t choose_run(const struct block_space *s, u64 goal, u64 want)
{
	size_t best = 0;
	bool fits = false;

	for (size_t i = 0; i < s->nr; i++) {
		const struct block_run *r = &s->free[i], *b = &s->free[best];
		bool room = r->len >= want;

		if (room && (!fits || distance(r, goal) < distance(b, goal)))
			best = i;
		else if (!room && !fits && r->len > b->len)
			best = i;
		fits |= room;
	}
	return best;
}

s64 block_alloc(struct block_space *s, u64 goal, u64 want, u64 *start)
{
	size_t i = find_run(s, goal);
	const struct block_run *r;
	int ret = reserve_one(s);

	if (ret)
		return ret;
	if (!s->nr)
		return -ENOSPC;
	if (s->fragment) {
		want = min(want, s->fragment);
		goal += s->gap ? s->gap : 1;
		i = find_run(s, goal);
	}
	if (i == s->nr || s->free[i].start > goal ||
	    s->free[i].start + s->free[i].len - goal < want)
		i = choose_run(s, goal, want);
	r = &s->free[i];
	*start = goal >= r->start && goal < r->start + r->len && r->start + r->len - goal >= want
			 ? goal
			 : r->start;
	want = min(want, r->start + r->len - *start);
	take(s, i, *start, want);
	return want;
}

int block_alloc_exact(struct block_space *s, u64 start, u64 len)
{
	size_t i = find_run(s, start);
	int ret = reserve_one(s);

	if (ret)
		return ret;
	if (i == s->nr || s->free[i].start > start ||
	    s->free[i].start + s->free[i].len < start + len)
		return -EBUSY;
	take(s, i, start, len);
	return 0;
}

int block_free(struct block_space *s, u64 start, u64 len)
{
	size_t i = find_run(s, start);
	int ret = reserve_one(s);
	struct block_run *r;

	if (ret || !len)
		return ret;
	memmove(&s->free[i + 1], &s->free[i], (s->nr - i) * sizeof(*s->free));
	s->free[i] = (struct block_run){start, len};
	s->nr++;
	r = &s->free[i];
	if (i + 1 < s->nr && r->start + r->len == r[1].start) {
		r->len += r[1].len;
		memmove(r + 1, r + 2, (s->nr - i - 2) * sizeof(*r));
		s->nr--;
	}
	if (i && r[-1].start + r[-1].len == r->start) {
		r[-1].len += r->len;
		memmove(r, r + 1, (s->nr - i - 1) * sizeof(*r));
		s->nr--;
	}
	return 0;
}

u64 block_next_used(const struct block_space *s, u64 start)
{
	size_t i = find_run(s, start);

	/* Runs are apart: what follows one is in use. */
	if (i < s->nr && s->free[i].start <= start)
		return s->free[i].start + s->free[i].len;
	return start;
}
