/*
 * The cursor of xas_load(), xas_next() and xas_prev() against section 3.2 of the readahead
 * specification ("Cursor drift"), implemented here from its text over a plain list of folios.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/prng.h"
#include "lib/xarray.h"

#define MAX_FOLIOS 96
#define MAX_ORDER  11

struct folio {
	unsigned long index;
	unsigned int order;
};

struct cache {
	struct folio folios[MAX_FOLIOS]; /* ascending, not overlapping */
	unsigned int n;
};

/* The specification's cursor: page x, node n at level s, slot o of it. */
struct cursor {
	unsigned long x, n;
	unsigned int s;
	int o;
};

static const struct folio *folio_at(const struct cache *c, unsigned long page)
{
	for (unsigned int i = 0; i < c->n; i++)
		if (page >> c->folios[i].order == c->folios[i].index >> c->folios[i].order)
			return &c->folios[i];
	return NULL;
}

/* node(s, n) exists iff some folio of order < s+6 lies in pages [n<<(s+6), (n+1)<<(s+6)). */
static bool node_exists(const struct cache *c, unsigned int s, unsigned long n)
{
	for (unsigned int i = 0; i < c->n; i++)
		if (c->folios[i].order < s + 6 && c->folios[i].index >> (s + 6) == n)
			return true;
	return false;
}

static bool spec_load(const struct cache *c, struct cursor *cur, unsigned long x)
{
	const struct folio *f = folio_at(c, x);

	cur->x = x;
	if (!f)
		return false;
	cur->s = 6 * (f->order / 6);
	cur->n = f->index >> (cur->s + 6);
	cur->o = f->index >> cur->s & 63;
	return true;
}

static bool spec_descend(const struct cache *c, struct cursor *cur)
{
	for (;;) {
		unsigned long k = cur->n * 64 + cur->o;
		const struct folio *f;

		if (!cur->s)
			return folio_at(c, k) != NULL;
		if (!node_exists(c, cur->s - 6, k)) {
			f = folio_at(c, k << cur->s);
			return f && f->order >= cur->s;
		}
		cur->s -= 6;
		cur->n = k;
		cur->o = cur->x >> cur->s & 63;
	}
}

static bool spec_up(const struct cache *c, struct cursor *cur)
{
	cur->x++;
	if (!cur->s && cur->o < 63) {
		cur->o++;
		return folio_at(c, cur->n * 64 + cur->o) != NULL;
	}
	if (cur->o != (int)(cur->x >> cur->s & 63))
		cur->o++;
	while (cur->o == 64) {
		cur->o = (cur->n & 63) + 1;
		cur->n >>= 6;
		cur->s += 6;
	}
	return spec_descend(c, cur);
}

static bool spec_down(const struct cache *c, struct cursor *cur)
{
	cur->x--;
	if (!cur->s && cur->o > 0) {
		cur->o--;
		return folio_at(c, cur->n * 64 + cur->o) != NULL;
	}
	if (cur->o != (int)(cur->x >> cur->s & 63))
		cur->o--;
	while (cur->o == -1) {
		if (!cur->n)
			return false;
		cur->o = (int)(cur->n & 63) - 1;
		cur->n >>= 6;
		cur->s += 6;
	}
	return spec_descend(c, cur);
}

/* An order up to @top, lower ones more often. */
static unsigned int random_order(struct prng *rng, unsigned int top)
{
	return prng_below(rng, prng_below(rng, top + 1) + 1);
}

/* Folios of mixed orders, mostly touching, with gaps of one page to thousands between. */
static void random_cache(struct cache *c, struct prng *rng)
{
	unsigned long page = prng_below(rng, 4) ? prng_below(rng, 300) : prng_u64(rng) >> 20;
	unsigned int top = prng_below(rng, MAX_ORDER + 1);
	unsigned int gaps = 1 + prng_below(rng, 60), n = 1 + prng_below(rng, MAX_FOLIOS);
	bool tight = prng_below(rng, 3) != 0;

	if (!prng_below(rng, 8))
		page = 0;
	for (c->n = 0; c->n < n;) {
		unsigned int order = random_order(rng, top);

		if (!prng_below(rng, 1 + gaps))
			page += 1 + prng_below(rng, 1 + prng_below(rng, 4096));
		if (tight && page) /* rather a smaller folio than a hole before it */
			order = min(order, __ffs(page));
		page = round_up(page, 1UL << order);
		c->folios[c->n++] = (struct folio){page, order};
		page += 1UL << order;
	}
}

static void build(struct xarray *xa, struct cache *c, struct prng *rng)
{
	unsigned int i = prng_below(rng, c->n);

	/* From a random one on, around: the tree must not depend on the order of insertion. */
	for (unsigned int k = 0; k < c->n; k++, i = (i + 1) % c->n) {
		void *old =
			xa_store_order(xa, c->folios[i].index, c->folios[i].order, &c->folios[i]);

		assert_null(old);
	}
}

/* A start inside or next to a cached folio. */
static unsigned long random_start(const struct cache *c, struct prng *rng)
{
	const struct folio *f = &c->folios[prng_below(rng, c->n)];

	return f->index + prng_below(rng, (1UL << f->order) + !prng_below(rng, 4));
}

enum direction { UP, DOWN, BOTH };

/* Walk until the first miss; presence and index must agree at each step. Returns the steps. */
static unsigned int walk(struct xarray *xa, const struct cache *c, unsigned long x,
			 enum direction dir, struct prng *rng)
{
	XA_STATE(xas, xa, x);
	struct cursor cur;
	bool want = spec_load(c, &cur, x);
	bool got = (prng_below(rng, 2) ? xas_next(&xas) : xas_prev(&xas)) != NULL;
	unsigned int steps = 0;

	for (;; steps++) {
		bool up = dir == BOTH ? prng_below(rng, 3) != 0 : dir == UP;

		assert_int_equal(got, want);
		assert_int_equal(xas.xa_index, cur.x);
		if (!want || steps == 300)
			return steps;
		if (want)
			assert_int_equal(xas.xa_offset, cur.o);
		want = up ? spec_up(c, &cur) : spec_down(c, &cur);
		got = (up ? xas_next(&xas) : xas_prev(&xas)) != NULL;
	}
}

/* Proves: over 4,000 random trees the walks equal the specification's, step by step. */
static void random_walks_equal_the_specification(void **state)
{
	struct xa_cache nodes;
	struct xarray xa;
	struct cache c;
	struct prng rng;
	u64 steps = 0;

	(void)state;
	prng_seed(&rng, 20);
	xa_cache_init(&nodes);
	for (unsigned int tree = 0; tree < 4000; tree++) {
		xa_init(&xa, &nodes);
		random_cache(&c, &rng);
		build(&xa, &c, &rng);
		for (unsigned int i = 0; i < 12; i++)
			steps += walk(&xa, &c, random_start(&c, &rng), i % 3, &rng);
		xa_destroy(&xa);
		assert_int_equal(nodes.live, 0);
	}
	assert_true(steps > 1000000); /* the walks are not all trivial */
	xa_cache_fini(&nodes);
}

/* Steps up from @x until a miss, which is returned: what page_cache_next_miss() sees. */
static unsigned long next_miss(struct xarray *xa, unsigned long x)
{
	XA_STATE(xas, xa, x);

	while (xas_next(&xas))
		;
	return xas.xa_index;
}

static unsigned long prev_miss(struct xarray *xa, unsigned long x)
{
	XA_STATE(xas, xa, x);

	while (xas_prev(&xas))
		;
	return xas.xa_index;
}

/*
 * Proves, by hand on pages 16-31 as one folio of order 4: a walk that starts d pages into it
 * reports the hole d pages too far either way, one that starts at its first page does not.
 */
static void drifts_by_the_distance_into_the_folio(void **state)
{
	struct xa_cache nodes;
	struct xarray xa;
	int page;

	(void)state;
	xa_cache_init(&nodes);
	xa_init(&xa, &nodes);
	xa_store_order(&xa, 16, 4, &page);
	assert_int_equal(next_miss(&xa, 16), 32);
	assert_int_equal(next_miss(&xa, 17), 33);
	assert_int_equal(next_miss(&xa, 31), 47);
	assert_int_equal(prev_miss(&xa, 16), 15);
	assert_int_equal(prev_miss(&xa, 19), 18); /* the slot before the folio's first */
	xa_destroy(&xa);
	xa_cache_fini(&nodes);
}

/* Proves: crossing into the next 64 pages resynchronises and skips the first d of its slots. */
static void resynchronises_at_64(void **state)
{
	struct xa_cache nodes;
	struct xarray xa;
	int page;

	(void)state;
	xa_cache_init(&nodes);
	xa_init(&xa, &nodes);
	xa_store_order(&xa, 32, 5, &page); /* 32 .. 63 */
	xa_store_order(&xa, 68, 2, &page); /* 68 .. 71; 64 .. 67 are missing */
	assert_int_equal(next_miss(&xa, 32), 64);
	assert_int_equal(next_miss(&xa, 33), 65); /* page 64 skipped */
	assert_int_equal(next_miss(&xa, 36), 72); /* pages 64 .. 67 skipped, the hole unseen */
	xa_destroy(&xa);
	xa_cache_fini(&nodes);
}

/* Proves: with order 0 only, both walks report the true gaps (no drift). */
static void small_folios_do_not_drift(void **state)
{
	struct xa_cache nodes;
	struct xarray xa;
	int page;

	(void)state;
	xa_cache_init(&nodes);
	xa_init(&xa, &nodes);
	for (unsigned long i = 50; i < 5000; i++)
		xa_store(&xa, i, &page);
	for (unsigned long i = 50; i < 5000; i += 7) {
		assert_int_equal(next_miss(&xa, i), 5000);
		assert_int_equal(prev_miss(&xa, i), 49);
	}
	xa_destroy(&xa);
	xa_cache_fini(&nodes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_walks_equal_the_specification),
		cmocka_unit_test(drifts_by_the_distance_into_the_folio),
		cmocka_unit_test(resynchronises_at_64),
		cmocka_unit_test(small_folios_do_not_drift),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
