/*
 * lib/bitmap.h - a bitmap that finds its next set bit in a few loads, however sparse it is.
 *
 * Mirrors    nothing; stands in for find_next_bit() where the kernel has lists or trees.
 * Invariant  bit i of level l+1 is set iff word i of level l is not 0; the top level is one
 *            word; count is the number of set bits of level 0.
 * Owner      hbitmap_init() maps the words, hbitmap_fini() unmaps them. Pages never touched
 *            cost nothing, so 2^28 bits are cheap as long as they are clear.
 * Errors     -ENOMEM from hbitmap_init(), nothing else fails.
 * Differs    no range checks: bits at and above nbits must not be named.
 */
#ifndef FL_LIB_BITMAP_H
#define FL_LIB_BITMAP_H

#include "lib/types.h"

#define HBITMAP_LEVELS 11
#define HBITMAP_NONE   (~(u64)0)

struct hbitmap {
	u64 *level[HBITMAP_LEVELS]; /* level[0]: the bits; above: one bit a word below */
	unsigned int levels;	    /* levels in use, at least 1 */
	u64 nbits;		    /* valid bits are 0 .. nbits - 1 */
	u64 count;		    /* set bits */
	size_t bytes;		    /* size of the mapping that starts at level[0] */
};

/*
 * Make @b a bitmap of @nbits clear bits (0 is allowed).
 * Returns 0, or -ENOMEM with @b in a state that hbitmap_fini() accepts.
 */
int hbitmap_init(struct hbitmap *b, u64 nbits);

/* Release the memory of @b; also right for a zeroed struct and after a failed init. */
void hbitmap_fini(struct hbitmap *b);

/* First set bit >= @from, or HBITMAP_NONE; any @from is allowed. */
u64 hbitmap_next(const struct hbitmap *b, u64 from);

/* Tell the levels above the bits that word @word went from 0 to not 0 (or back). */
void hbitmap_word_filled(struct hbitmap *b, u64 word);
void hbitmap_word_emptied(struct hbitmap *b, u64 word);

/* Number of set bits. */
static inline u64 hbitmap_count(const struct hbitmap *b)
{
	return b->count;
}

/* Is bit @bit (< nbits) set? */
static inline bool hbitmap_test(const struct hbitmap *b, u64 bit)
{
	return b->level[0][bit >> 6] >> (bit & 63) & 1;
}

/* Set bit @bit (< nbits); nothing happens if it is set. */
static inline void hbitmap_set(struct hbitmap *b, u64 bit)
{
	u64 *word = &b->level[0][bit >> 6];
	u64 old = *word;

	*word = old | 1ULL << (bit & 63);
	b->count += *word != old;
	if (unlikely(!old))
		hbitmap_word_filled(b, bit >> 6);
}

/* Clear bit @bit (< nbits); nothing happens if it is clear. */
static inline void hbitmap_clear(struct hbitmap *b, u64 bit)
{
	u64 *word = &b->level[0][bit >> 6];
	u64 old = *word;

	if (!(old >> (bit & 63) & 1))
		return;
	*word = old & ~(1ULL << (bit & 63));
	b->count--;
	if (unlikely(!*word))
		hbitmap_word_emptied(b, bit >> 6);
}

#endif
