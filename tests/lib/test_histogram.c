#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "lib/histogram.h"
#include "lib/prng.h"

/* Proves: buckets tile 0 .. 2^64-1 without gap or overlap, in order, no wider than 1/32. */
static void buckets_tile_the_range(void **state)
{
	u64 next = 0;

	(void)state;
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		u64 low = histogram_bucket_low(i), high = histogram_bucket_high(i);

		assert_int_equal(low, next);
		assert_int_equal(histogram_bucket(low), i);
		assert_int_equal(histogram_bucket(high), i);
		assert_true(high - low <= low / 32);
		next = high + 1;
	}
	assert_int_equal(next, 0);
}

static int by_value(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

/* Values of every magnitude, small ones often. */
static u64 sample(struct prng *rng)
{
	return prng_u64(rng) >> prng_below(rng, 64);
}

/* Proves: min, max, count, sum exact; quantiles never below the true sample, at most 1/32 above. */
static void quantiles_against_sorting(void **state)
{
	enum { N = 2777 };
	static struct histogram h;
	static u64 v[N];
	struct prng rng;
	u64 sum = 0;

	(void)state;
	prng_seed(&rng, 3);
	histogram_init(&h);
	for (unsigned int i = 0; i < N; i++) {
		v[i] = sample(&rng);
		sum += v[i];
		histogram_add(&h, v[i]);
	}
	qsort(v, N, sizeof(v[0]), by_value);
	assert_int_equal(h.count, N);
	assert_int_equal(h.sum, sum);
	assert_int_equal(histogram_min(&h), v[0]);
	assert_int_equal(h.max, v[N - 1]);
	for (unsigned int q = 0; q <= 1000; q++) {
		u64 rank = (q * (u64)N + 999) / 1000, want = v[rank ? rank - 1 : 0];
		u64 got = histogram_quantile(&h, q);

		assert_true(got >= want && got - want <= want / 32 && got <= h.max);
	}
	assert_int_equal(histogram_quantile(&h, 5000), h.max);
}

/* Proves: below 64 quantiles are exact, and the last never exceeds max inside a wide bucket. */
static void small_values_are_exact(void **state)
{
	struct histogram h;

	(void)state;
	histogram_init(&h);
	for (u64 v = 1; v <= 50; v++)
		histogram_add(&h, v);
	assert_int_equal(histogram_quantile(&h, 500), 25);
	assert_int_equal(histogram_quantile(&h, 501), 26);
	assert_int_equal(histogram_quantile(&h, 1000), 50);
	assert_int_equal(histogram_quantile(&h, 0), 1);
	histogram_add(&h, 1000001);
	assert_int_equal(histogram_quantile(&h, 1000), 1000001);
}

/* Proves: an empty histogram answers 0 everywhere. */
static void empty(void **state)
{
	struct histogram h;

	(void)state;
	histogram_init(&h);
	assert_int_equal(histogram_min(&h), 0);
	assert_int_equal(h.max, 0);
	assert_int_equal(histogram_quantile(&h, 500), 0);
	for (unsigned int i = 0; i < 70; i++)
		assert_int_equal(histogram_log2(&h, i), 0);
	histogram_add_n(&h, 7, 0);
	assert_int_equal(histogram_min(&h), 0);
}

/* Proves: log2 buckets hold {0,1} and then [2^i, 2^(i+1)), up to the top one. */
static void log2_buckets(void **state)
{
	static struct histogram h;
	u64 want[64] = {0};
	struct prng rng;

	(void)state;
	prng_seed(&rng, 4);
	histogram_init(&h);
	for (unsigned int i = 0; i < 5000; i++) {
		u64 v = sample(&rng);

		want[v < 2 ? 0 : ilog2(v)]++;
		histogram_add(&h, v);
	}
	for (unsigned int i = 0; i < 64; i++)
		assert_int_equal(histogram_log2(&h, i), want[i]);
	assert_int_equal(histogram_log2(&h, 64), 0);
}

/* Proves: merging equals adding everything to one; add_n equals n times add. */
static void merging(void **state)
{
	static struct histogram a, b, both;
	struct prng rng;

	(void)state;
	prng_seed(&rng, 5);
	histogram_init(&a);
	histogram_init(&b);
	histogram_init(&both);
	for (unsigned int i = 0; i < 1000; i++) {
		u64 v = sample(&rng), n = prng_below(&rng, 4);

		histogram_add_n(i % 3 ? &a : &b, v, n);
		while (n--)
			histogram_add(&both, v);
	}
	histogram_merge(&a, &b);
	assert_memory_equal(&a, &both, sizeof(a));
	histogram_init(&b);
	histogram_merge(&a, &b);
	histogram_merge(&b, &a);
	assert_memory_equal(&a, &both, sizeof(a));
	assert_memory_equal(&b, &both, sizeof(a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_tile_the_range),
		cmocka_unit_test(quantiles_against_sorting),
		cmocka_unit_test(small_values_are_exact),
		cmocka_unit_test(empty),
		cmocka_unit_test(log2_buckets),
		cmocka_unit_test(merging),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
