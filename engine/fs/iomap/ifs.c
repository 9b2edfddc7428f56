#include "fs/iomap/ifs.h"

#include "mm/internal.h"

static size_t ifs_size(const struct folio *folio)
{
	unsigned int nr = i_blocks_per_folio(folio->mapping->host, folio);

	return sizeof(struct iomap_folio_state) + (2 * nr + 63) / 64 * sizeof(u64);
}

static void set_bits(u64 *map, unsigned int from, unsigned int nr, bool on)
{
	for (unsigned int i = from; i < from + nr; i++)
		if (on)
			map[i / 64] |= 1ULL << (i % 64);
		else
			map[i / 64] &= ~(1ULL << (i % 64));
}

static bool test_bit(const u64 *map, unsigned int i)
{
	return map[i / 64] >> (i % 64) & 1;
}

struct iomap_folio_state *ifs_alloc(struct folio *folio)
{
	unsigned int nr = i_blocks_per_folio(folio->mapping->host, folio);
	struct iomap_folio_state *ifs = folio_ifs(folio);

	if (ifs || nr <= 1)
		return ifs;
	ifs = kzalloc(folio_machine(folio), ifs_size(folio));
	if (!ifs)
		return NULL;
	if (folio_test_uptodate(folio))
		set_bits(ifs->state, 0, nr, true);
	if (folio_test_dirty(folio))
		set_bits(ifs->state, nr, nr, true);
	folio->private = ifs;
	folio_set_private(folio);
	folio_get(folio);
	return ifs;
}

void ifs_free(struct folio *folio)
{
	struct iomap_folio_state *ifs = folio_ifs(folio);

	if (!ifs)
		return;
	kfree(folio_machine(folio), ifs, ifs_size(folio));
	folio->private = NULL;
	folio_clear_private(folio);
	folio_put(folio);
}

bool ifs_block_is_uptodate(const struct folio *folio, unsigned int block)
{
	const struct iomap_folio_state *ifs = folio_ifs(folio);

	return ifs ? test_bit(ifs->state, block) : folio_test_uptodate(folio);
}

bool ifs_block_is_dirty(const struct folio *folio, unsigned int block)
{
	const struct iomap_folio_state *ifs = folio_ifs(folio);
	unsigned int nr = i_blocks_per_folio(folio->mapping->host, folio);

	return !ifs || test_bit(ifs->state, nr + block);
}

/* First block touched by [off, off + len) and how many. */
static unsigned int touched(const struct folio *folio, size_t off, size_t len, unsigned int *nr)
{
	unsigned int bits = folio->mapping->host->i_blkbits, first = off >> bits;

	*nr = ((off + len - 1) >> bits) - first + 1;
	return first;
}

void iomap_set_range_uptodate(struct folio *folio, size_t off, size_t len)
{
	struct iomap_folio_state *ifs = folio_ifs(folio);
	unsigned int total = i_blocks_per_folio(folio->mapping->host, folio), first, nr;

	if (!ifs) {
		folio_mark_uptodate(folio);
		return;
	}
	first = touched(folio, off, len, &nr);
	set_bits(ifs->state, first, nr, true);
	for (unsigned int i = 0; i < total; i++)
		if (!test_bit(ifs->state, i))
			return;
	folio_mark_uptodate(folio);
}

static void set_range_dirty(struct folio *folio, size_t off, size_t len, bool dirty)
{
	struct iomap_folio_state *ifs = folio_ifs(folio);
	unsigned int total = i_blocks_per_folio(folio->mapping->host, folio), first, nr;

	if (!ifs)
		return;
	first = touched(folio, off, len, &nr);
	set_bits(ifs->state, total + first, nr, dirty);
}

void iomap_set_range_dirty(struct folio *folio, size_t off, size_t len)
{
	set_range_dirty(folio, off, len, true);
}

void iomap_clear_range_dirty(struct folio *folio, size_t off, size_t len)
{
	set_range_dirty(folio, off, len, false);
}
