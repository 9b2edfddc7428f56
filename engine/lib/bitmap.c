#include "lib/bitmap.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/*
 * Words of each level into @words; returns the number of levels. Every level has one word
 * more than the bits need, so that hbitmap_next() may look one past the end of a level.
 */
static unsigned int level_sizes(u64 nbits, u64 words[HBITMAP_LEVELS])
{
	unsigned int levels = 0;
	u64 n = nbits;

	do {
		n = (n >> 6) + 1;
		words[levels++] = n;
	} while (n > 1);
	return levels;
}

int hbitmap_init(struct hbitmap *b, u64 nbits)
{
	u64 words[HBITMAP_LEVELS], total = 0;
	void *mem;

	memset(b, 0, sizeof(*b));
	b->nbits = nbits;
	b->levels = level_sizes(nbits, words);
	for (unsigned int l = 0; l < b->levels; l++)
		total += words[l];
	mem = mmap(NULL, total * sizeof(u64), PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mem == MAP_FAILED) {
		memset(b, 0, sizeof(*b));
		return -ENOMEM;
	}
	b->bytes = total * sizeof(u64);
	b->level[0] = mem;
	for (unsigned int l = 1; l < b->levels; l++)
		b->level[l] = b->level[l - 1] + words[l - 1];
	return 0;
}

void hbitmap_fini(struct hbitmap *b)
{
	if (b->bytes)
		munmap(b->level[0], b->bytes);
	memset(b, 0, sizeof(*b));
}

void hbitmap_word_filled(struct hbitmap *b, u64 word)
{
	for (unsigned int l = 1; l < b->levels; l++, word >>= 6) {
		u64 old = b->level[l][word >> 6];

		b->level[l][word >> 6] = old | 1ULL << (word & 63);
		if (old)
			return;
	}
}

void hbitmap_word_emptied(struct hbitmap *b, u64 word)
{
	for (unsigned int l = 1; l < b->levels; l++, word >>= 6) {
		u64 left = b->level[l][word >> 6] & ~(1ULL << (word & 63));

		b->level[l][word >> 6] = left;
		if (left)
			return;
	}
}

/* Follow first set bits from bit @bit of level @l down to a bit of level 0. */
static u64 descend(const struct hbitmap *b, unsigned int l, u64 bit)
{
	while (l--)
		bit = bit << 6 | __ffs(b->level[l][bit]);
	return bit;
}

u64 hbitmap_next(const struct hbitmap *b, u64 from)
{
	if (from >= b->nbits)
		return HBITMAP_NONE;
	for (unsigned int l = 0; l < b->levels; l++) {
		u64 left = b->level[l][from >> 6] & ~0ULL << (from & 63);

		if (left)
			return descend(b, l, (from & ~63ULL) | __ffs(left));
		from = (from >> 6) + 1;
	}
	return HBITMAP_NONE;
}
