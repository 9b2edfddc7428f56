/*
 * Taking pages out of the cache: truncation, hole punching, invalidation.
 *
 * Mirrors mm/truncate.c.
 */
#include <string.h>

#include "mm/internal.h"
#include "mm/mm.h"
#include "mm/writeback.h"

/* Forget evicted pages of [start, end]. mm/truncate.c clear_shadow_entries(). */
static void clear_shadow_entries(struct address_space *mapping, pgoff_t start, pgoff_t end)
{
	struct machine *m = mapping_machine(mapping);
	XA_STATE(xas, &mapping->i_pages, start);
	void *entry;

	lock_excl_smp(m, XA_LOCK, &mapping->xa_lock);
	xas_for_each(&xas, entry, end)
		if (xa_is_value(entry))
			xas_store(&xas, NULL);
	unlock_excl(m, XA_LOCK, &mapping->xa_lock);
}

long mapping_evict_folio(struct address_space *mapping, struct folio *folio)
{
	if (!mapping || folio_test_dirty(folio) || folio_test_writeback(folio))
		return 0;
	if (folio_ref_count(folio) > (long)folio_nr_pages(folio) + folio_test_private(folio) + 1)
		return 0;
	if (!filemap_release_folio(folio, GFP_KERNEL))
		return 0;
	return remove_mapping(mapping, folio);
}

static unsigned long invalidate_folio(struct address_space *mapping, struct folio *folio,
				      unsigned long *nr_failed)
{
	long removed;

	if (!folio_trylock(folio))
		return 0;
	if (folio->mapping != mapping) { /* truncated by another CPU */
		folio_unlock(folio);
		return 0;
	}
	removed = mapping_evict_folio(mapping, folio);
	folio_unlock(folio);
	if (!removed) {
		deactivate_file_folio(folio);
		if (nr_failed)
			(*nr_failed)++;
	}
	return removed;
}

unsigned long mapping_try_invalidate(struct address_space *mapping, pgoff_t start, pgoff_t end,
				     unsigned long *nr_failed)
{
	struct folio_batch fbatch;
	pgoff_t index = start;
	unsigned long count = 0;

	folio_batch_init(mapping_machine(mapping), &fbatch);
	while (index <= end && filemap_get_folios(mapping, &index, end, &fbatch)) {
		for (unsigned int i = 0; i < fbatch.nr; i++) {
			struct folio *folio = fbatch.folios[i];

			if (folio->index >= start && folio_next_index(folio) - 1 <= end)
				count += invalidate_folio(mapping, folio, nr_failed);
			folio_put(folio);
		}
		fbatch.nr = 0;
	}
	clear_shadow_entries(mapping, start, end);
	return count;
}

static void truncate_cleanup_folio(struct folio *folio)
{
	const struct address_space_operations *ops = folio->mapping->a_ops;

	if (folio_mapped(folio))
		unmap_mapping_pages(folio->mapping, folio->index, folio_nr_pages(folio), false);
	if (folio_test_private(folio) && ops->invalidate_folio)
		ops->invalidate_folio(folio, 0, folio_size(folio));
	folio_cancel_dirty(folio);
}

static void truncate_inode_folio(struct folio *folio)
{
	truncate_cleanup_folio(folio);
	filemap_remove_folio(folio);
}

void generic_error_remove_folio(struct address_space *mapping, struct folio *folio)
{
	if (folio->mapping == mapping)
		truncate_inode_folio(folio);
}

static void folio_zero_range(struct folio *folio, size_t start, size_t length)
{
	char *p = folio_address(folio);

	charge(folio_machine(folio), COST_ZERO_BYTE, length);
	if (p)
		memset(p + start, 0, length);
}

/* Split at a byte of the folio's file position range; 0 if the parts are folios of their own now.
 */
static int split_at(struct folio *folio, loff_t pos)
{
	return split_folio_at(folio, pos >> folio_machine(folio)->page_shift);
}

/* Cut the far end of a hole too, so that what lies behind it keeps its size. */
static void split_far_end(struct address_space *mapping, loff_t end)
{
	struct machine *m = mapping_machine(mapping);
	struct folio *folio = filemap_get_folio(mapping, end >> m->page_shift);

	if (!folio)
		return;
	if (folio_test_large(folio) && folio_trylock(folio)) {
		if (folio->mapping == mapping)
			split_at(folio, end);
		folio_unlock(folio);
	}
	folio_put(folio);
}

bool truncate_inode_partial_folio(struct folio *folio, loff_t start, loff_t end)
{
	struct address_space *mapping = folio->mapping;
	struct machine *m = folio_machine(folio);
	loff_t pos = folio_pos(folio), far;
	size_t offset = start > pos ? start - pos : 0;
	size_t length = folio_size(folio) - offset;

	if ((u64)end < (u64)pos + folio_size(folio) - 1)
		length = end + 1 - pos - offset;
	if (length == folio_size(folio)) {
		truncate_inode_folio(folio);
		return true;
	}
	folio_zero_range(folio, offset, length);
	if (folio_test_private(folio) && mapping->a_ops->invalidate_folio)
		mapping->a_ops->invalidate_folio(folio, offset, length);
	if (!folio_test_large(folio))
		return true;
	far = offset + length < folio_size(folio) ? pos + (loff_t)(offset + length) : 0;
	if (!split_at(folio, pos + offset)) {
		if (far && knob(m, SPLIT_NONUNIFORM))
			split_far_end(mapping, far);
		return true;
	}
	if (folio_test_dirty(folio))
		return false;
	truncate_inode_folio(folio);
	return true;
}

void truncate_whole_folios(struct address_space *mapping, pgoff_t start, pgoff_t end, bool unfalloc)
{
	struct folio_batch fbatch;
	pgoff_t index = start;

	folio_batch_init(mapping_machine(mapping), &fbatch);
	while (index <= end && filemap_get_folios(mapping, &index, end, &fbatch)) {
		for (unsigned int i = 0; i < fbatch.nr; i++) {
			struct folio *folio = fbatch.folios[i];

			if (folio->index >= start && folio_next_index(folio) - 1 <= end) {
				folio_lock(folio);
				folio_wait_writeback(folio);
				if (folio->mapping == mapping &&
				    !(unfalloc && folio_test_uptodate(folio)))
					truncate_inode_folio(folio);
				folio_unlock(folio);
			}
			folio_put(folio);
		}
		fbatch.nr = 0;
	}
	clear_shadow_entries(mapping, start, end);
}

/* The folio over page @index, cut to [lstart, lend]; *kept tells whether it had to stay whole. */
static struct folio *cut_partial(struct address_space *mapping, pgoff_t index, loff_t lstart,
				 loff_t lend, bool *kept)
{
	struct folio *folio = filemap_get_folio(mapping, index);

	*kept = false;
	if (!folio)
		return NULL;
	folio_lock(folio);
	folio_wait_writeback(folio);
	if (folio->mapping == mapping)
		*kept = !truncate_inode_partial_folio(folio, lstart, lend);
	folio_unlock(folio);
	return folio;
}

void truncate_inode_pages_range(struct address_space *mapping, loff_t lstart, loff_t lend)
{
	unsigned int shift = mapping_machine(mapping)->page_shift;
	pgoff_t start = ((u64)lstart + (1UL << shift) - 1) >> shift;
	pgoff_t end = lend == -1 ? ~0UL : ((u64)lend + 1) >> shift; /* first page that stays */
	pgoff_t first = (u64)lstart >> shift, last = lend == -1 ? ~0UL : (u64)lend >> shift;
	bool same, kept;
	struct folio *folio;

	if (end > start)
		truncate_whole_folios(mapping, start, end == ~0UL ? end : end - 1, false);
	folio = cut_partial(mapping, first, lstart, lend == -1 ? INT64_MAX : lend, &kept);
	same = false;
	if (folio) {
		same = kept ? last < folio_next_index(folio) : false;
		if (kept)
			start = folio_next_index(folio);
		folio_put(folio);
	}
	if (!same && last != ~0UL) {
		folio = cut_partial(mapping, last, lstart, lend, &kept);
		if (folio) {
			if (kept)
				end = folio->index;
			folio_put(folio);
		}
	}
	if (end > start)
		truncate_whole_folios(mapping, start, end == ~0UL ? end : end - 1, false);
}

void truncate_inode_pages_final(struct address_space *mapping)
{
	truncate_inode_pages_range(mapping, 0, -1);
}

void truncate_pagecache(struct inode *inode, loff_t newsize)
{
	unsigned long page_size = mapping_machine(inode->i_mapping)->page_size;

	unmap_mapping_range(inode->i_mapping, round_up((u64)newsize, page_size), 0, true);
	truncate_inode_pages_range(inode->i_mapping, newsize, -1);
}
