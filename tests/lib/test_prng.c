#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/prng.h"

/* Proves: seeding is splitmix64 (its published first outputs for seed 0). */
static void seeds_by_splitmix64(void **state)
{
	struct prng p;

	(void)state;
	prng_seed(&p, 0);
	assert_int_equal(p.s[0], 0xe220a8397b1dcdafULL);
	assert_int_equal(p.s[1], 0x6e789e6aa1b965f4ULL);
	assert_int_equal(p.s[2], 0x06c45d188009454fULL);
	assert_int_equal(p.s[3], 0xf88bb8a8724c81ecULL);
}

/* Proves: the generator is xoshiro256** (reference outputs for state 1, 2, 3, 4). */
static void steps_as_the_reference(void **state)
{
	static const u64 want[] = {11520ULL,
				   0ULL,
				   1509978240ULL,
				   1215971899390074240ULL,
				   1216172134540287360ULL,
				   607988272756665600ULL};
	struct prng p = {.s = {1, 2, 3, 4}};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(want); i++)
		assert_int_equal(prng_u64(&p), want[i]);
}

/* Proves: equal seeds give equal sequences, different ones different. */
static void repeats(void **state)
{
	struct prng a, b, c;
	unsigned int equal = 0;

	(void)state;
	prng_seed(&a, 42);
	prng_seed(&b, 42);
	prng_seed(&c, 43);
	for (unsigned int i = 0; i < 100; i++) {
		u64 v = prng_u64(&a);

		assert_int_equal(v, prng_u64(&b));
		equal += v == prng_u64(&c);
	}
	assert_int_equal(equal, 0);
}

/* Proves: prng_below() stays in range and is even, also for n where modulo would be lopsided. */
static void below_is_even(void **state)
{
	u64 third = ~(u64)0 / 3, hits[3] = {0};
	struct prng p;

	(void)state;
	prng_seed(&p, 7);
	for (unsigned int i = 0; i < 30000; i++) {
		u64 v = prng_below(&p, third * 2); /* % would double the lower half */

		assert_true(v < third * 2);
		hits[v >= third]++;
		assert_true(prng_below(&p, 3) < 3);
	}
	assert_in_range(hits[0], 14500, 15500);
	hits[0] = hits[1] = 0;
	for (unsigned int i = 0; i < 30000; i++)
		hits[prng_below(&p, 3)]++;
	for (unsigned int i = 0; i < 3; i++)
		assert_in_range(hits[i], 9500, 10500);
}

/* Proves: n of 0 and 1 give 0; between includes both ends and takes the full range. */
static void edges(void **state)
{
	bool lo = false, hi = false;
	struct prng p;

	(void)state;
	prng_seed(&p, 8);
	assert_int_equal(prng_below(&p, 0), 0);
	assert_int_equal(prng_below(&p, 1), 0);
	assert_int_equal(prng_between(&p, 9, 9), 9);
	for (unsigned int i = 0; i < 1000; i++) {
		u64 v = prng_between(&p, 10, 13);

		assert_in_range(v, 10, 13);
		lo |= v == 10;
		hi |= v == 13;
	}
	assert_true(lo && hi);
	assert_true((prng_between(&p, 0, ~(u64)0) | prng_between(&p, 0, ~(u64)0)) > 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seeds_by_splitmix64),
		cmocka_unit_test(steps_as_the_reference),
		cmocka_unit_test(repeats),
		cmocka_unit_test(below_is_even),
		cmocka_unit_test(edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
