/*
 * lib/prng.h - repeatable random numbers: xoshiro256** seeded through splitmix64.
 *
 * Mirrors    Blackman and Vigna's public domain reference (prng.di.unimi.it): same numbers.
 * Invariant  the state is never all zero; equal seeds give equal sequences on every compiler.
 * Owner      the caller owns the struct; one generator a purpose keeps runs repeatable.
 * Errors     none.
 * Differs    not for secrets.
 */
#ifndef FL_LIB_PRNG_H
#define FL_LIB_PRNG_H

#include "lib/types.h"

struct prng {
	u64 s[4]; /* state of xoshiro256** */
};

/* Start the sequence that belongs to @seed; any value is good. */
void prng_seed(struct prng *p, u64 seed);

/* The next 64 random bits. */
u64 prng_u64(struct prng *p);

/* A number in 0 .. @n - 1, all equally likely; 0 if @n is 0 or 1 (state moves all the same). */
u64 prng_below(struct prng *p, u64 n);

/* A number in @lo .. @hi, both included, all equally likely; @lo <= @hi. */
u64 prng_between(struct prng *p, u64 lo, u64 hi);

#endif
