#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "lib/bitmap.h"
#include "lib/prng.h"

/* The slow truth: one byte a bit. */
static u64 naive_next(const u8 *bits, u64 n, u64 from)
{
	for (u64 i = from; i < n; i++)
		if (bits[i])
			return i;
	return HBITMAP_NONE;
}

/* One random operation, mirrored in the naive array, and one search compared. */
static void churn(struct hbitmap *b, u8 *bits, u64 n, struct prng *rng)
{
	u64 bit = prng_below(rng, n), from = prng_below(rng, n + 70);
	bool set = prng_below(rng, 16) < 7;

	assert_int_equal(hbitmap_test(b, bit), bits[bit]);
	if (set)
		hbitmap_set(b, bit);
	else
		hbitmap_clear(b, bit);
	bits[bit] = set;
	assert_int_equal(hbitmap_test(b, bit), set);
	assert_int_equal(hbitmap_next(b, from), naive_next(bits, n, from));
}

/* Proves: set, clear, test, next and count agree with a byte array for sizes around 64^k. */
static void agrees_with_byte_array(void **state)
{
	static const u64 sizes[] = {1, 2, 63, 64, 65, 127, 4095, 4096, 4097, 5000};
	static u8 bits[5000];
	struct prng rng;

	(void)state;
	prng_seed(&rng, 1);
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct hbitmap b;
		u64 count = 0;

		memset(bits, 0, sizeof(bits));
		assert_int_equal(hbitmap_init(&b, sizes[i]), 0);
		for (unsigned int op = 0; op < 4000; op++)
			churn(&b, bits, sizes[i], &rng);
		for (u64 bit = 0; bit < sizes[i]; bit++)
			count += bits[bit];
		assert_int_equal(hbitmap_count(&b), count);
		hbitmap_fini(&b);
	}
}

/* Proves: a bitmap of no bits, an end of range search and double release are harmless. */
static void edges(void **state)
{
	struct hbitmap b;

	(void)state;
	assert_int_equal(hbitmap_init(&b, 0), 0);
	assert_int_equal(hbitmap_next(&b, 0), HBITMAP_NONE);
	hbitmap_fini(&b);
	hbitmap_fini(&b);
	assert_int_equal(hbitmap_init(&b, 64), 0);
	hbitmap_set(&b, 63);
	hbitmap_set(&b, 63);
	assert_int_equal(hbitmap_count(&b), 1);
	assert_int_equal(hbitmap_next(&b, 63), 63);
	assert_int_equal(hbitmap_next(&b, 64), HBITMAP_NONE);
	assert_int_equal(hbitmap_next(&b, HBITMAP_NONE), HBITMAP_NONE);
	hbitmap_fini(&b);
}

/* Proves: 2^28 sparse bits work through all levels, and emptying a level is seen above it. */
static void sparse_and_large(void **state)
{
	static const u64 at[] = {0, 1, 4095, 262144, 16777215, 16777216, (1ULL << 28) - 1};
	struct hbitmap b;
	u64 bit = 0;

	(void)state;
	assert_int_equal(hbitmap_init(&b, 1ULL << 28), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(at); i++)
		hbitmap_set(&b, at[i]);
	for (unsigned int i = 0; i < ARRAY_SIZE(at); i++, bit++) {
		bit = hbitmap_next(&b, bit);
		assert_int_equal(bit, at[i]);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(at); i++) {
		assert_int_equal(hbitmap_next(&b, 0), at[i]);
		hbitmap_clear(&b, at[i]);
		hbitmap_clear(&b, at[i]);
	}
	assert_int_equal(hbitmap_next(&b, 0), HBITMAP_NONE);
	assert_int_equal(hbitmap_count(&b), 0);
	hbitmap_fini(&b);
}

/* Proves: more than the address space holds is -ENOMEM, and fini copes with what is left. */
static void too_large(void **state)
{
	struct hbitmap b;

	(void)state;
	assert_int_equal(hbitmap_init(&b, ~(u64)0), -ENOMEM);
	hbitmap_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_byte_array),
		cmocka_unit_test(edges),
		cmocka_unit_test(sparse_and_large),
		cmocka_unit_test(too_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
