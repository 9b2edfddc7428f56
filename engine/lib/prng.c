#include "lib/prng.h"

static u64 splitmix64(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

void prng_seed(struct prng *p, u64 seed)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(p->s); i++)
		p->s[i] = splitmix64(&seed);
}

static u64 rotate_left(u64 v, unsigned int n)
{
	return v << n | v >> (64 - n);
}

u64 prng_u64(struct prng *p)
{
	u64 *s = p->s;
	u64 result = rotate_left(s[1] * 5, 7) * 9;
	u64 shifted = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= shifted;
	s[3] = rotate_left(s[3], 45);
	return result;
}

/*
 * Lemire's method: the high half of a 64 x 64 bit product is the answer; the few low halves
 * that would favour some answers (2^64 mod n of them) are drawn again.
 */
u64 prng_below(struct prng *p, u64 n)
{
	unsigned __int128 product = (unsigned __int128)prng_u64(p) * n;

	if ((u64)product < n) {
		u64 reject = -n % n;

		while ((u64)product < reject)
			product = (unsigned __int128)prng_u64(p) * n;
	}
	return product >> 64;
}

u64 prng_between(struct prng *p, u64 lo, u64 hi)
{
	u64 n = hi - lo + 1;

	return n ? lo + prng_below(p, n) : prng_u64(p);
}
