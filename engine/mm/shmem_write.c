/*
 * Changing files in memory: write, fallocate, truncate.
 *
 * Mirrors mm/shmem.c: shmem_write_begin(), shmem_write_end(), shmem_fallocate(), shmem_setattr();
 * the loop around the first two is generic_perform_write().
 */
#include <errno.h>

#include "mm/internal.h"
#include "mm/shmem_fs.h"
#include "mm/writeback.h"

/*
 * May [pos, ...) of the folio be written? 0: all of it; > 0: so many bytes (only with the fallback
 * that Linux does not have); -EIO.
 */
static int check_poison(const struct folio *folio, loff_t pos)
{
	const struct machine *m = folio_machine(folio);
	bool page = folio_page_hwpoison(folio, pos >> m->page_shift);

	if (knob(m, SHMEM_WRITE_FALLBACK)) {
		if (page)
			return -EIO;
		return folio_contain_hwpoisoned_page(folio)
			       ? (int)(m->page_size - (pos & (m->page_size - 1)))
			       : 0;
	}
	if (knob(m, SHMEM_WRITE_FOLIO_POISON))
		page = folio_contain_hwpoisoned_page(folio);
	return page ? -EIO : 0;
}

/* How much of @len one turn writes; @poison is what check_poison() says. */
static size_t fitting(const struct folio *folio, loff_t pos, size_t len, int poison)
{
	if (poison < 0)
		return 0;
	len = min_t(size_t, len, folio_size(folio) - (pos & (folio_size(folio) - 1)));
	return poison ? min_t(size_t, len, poison) : len;
}

static int shmem_write_begin(struct address_space *mapping, loff_t pos, unsigned int len,
			     struct folio **foliop)
{
	struct machine *m = mapping_machine(mapping);
	int ret =
		shmem_get_folio(mapping->host, pos >> m->page_shift, pos + len, foliop, SGP_WRITE);

	if (ret)
		return ret;
	ret = check_poison(*foliop, pos);
	trace_event(&m->trace, EV_fl_shmem_write, (*foliop)->_order, mapping->host->i_ino, pos, len,
		    fitting(*foliop, pos, len, ret));
	if (ret < 0) {
		folio_unlock(*foliop);
		folio_put(*foliop);
		*foliop = NULL;
	}
	return ret;
}

static int shmem_write_end(struct address_space *mapping, loff_t pos, unsigned int len,
			   unsigned int copied, struct folio *folio)
{
	struct inode *inode = mapping->host;
	size_t from = pos & (folio_size(folio) - 1);

	(void)len;
	if (pos + copied > inode->i_size)
		inode->i_size = pos + copied;
	shmem_finish_write(folio, from, from + copied);
	folio_unlock(folio);
	folio_put(folio);
	return copied;
}

static bool noop_dirty_folio(struct address_space *mapping, struct folio *folio)
{
	bool was = folio_test_dirty(folio);

	(void)mapping;
	folio_set_dirty(folio);
	if (!was)
		folio_trace(folio, EV_fl_dirty, folio->_pfn, 0);
	return !was;
}

const struct address_space_operations shmem_aops = {
	.write_begin = shmem_write_begin,
	.write_end = shmem_write_end,
	.dirty_folio = noop_dirty_folio,
};

/* ---- size and space ---- */

int shmem_setattr_size(struct inode *inode, loff_t newsize)
{
	loff_t oldsize = inode->i_size;
	loff_t holebegin = round_up((u64)newsize, inode->i_sb->s_machine->page_size);

	inode->i_size = newsize;
	if (newsize > oldsize)
		return 0;
	if (oldsize > holebegin)
		unmap_mapping_range(inode->i_mapping, holebegin, 0, true);
	if (SHMEM_I(inode)->alloced)
		shmem_undo_range(inode, newsize, -1, false);
	return 0;
}

long shmem_punch_hole(struct inode *inode, loff_t offset, loff_t len)
{
	unsigned long page_size = inode->i_sb->s_machine->page_size;
	loff_t unmap_start = round_up((u64)offset, page_size);
	loff_t unmap_end = round_down((u64)offset + len, page_size) - 1;

	if (unmap_end > unmap_start)
		unmap_mapping_range(inode->i_mapping, unmap_start, 1 + unmap_end - unmap_start,
				    false);
	shmem_undo_range(inode, offset, offset + len - 1, false);
	return 0;
}

/* Folios for every hole of pages [start, end); *indexp is how far it came. */
static int fill_range(struct inode *inode, pgoff_t start, pgoff_t end, loff_t write_end,
		      pgoff_t *indexp)
{
	struct folio *folio;

	for (*indexp = start; *indexp < end; *indexp = folio_next_index(folio)) {
		int error = shmem_get_folio(inode, *indexp, write_end, &folio, SGP_FALLOC);

		if (error)
			return error;
		folio_mark_dirty(folio);
		folio_unlock(folio);
		folio_put(folio); /* the cache still has it */
	}
	return 0;
}

long shmem_fallocate(struct inode *inode, loff_t offset, loff_t len)
{
	struct shmem_inode_info *info = SHMEM_I(inode);
	const struct shmem_sb_info *sbinfo = SHMEM_SB(inode->i_sb);
	struct machine *m = inode->i_sb->s_machine;
	pgoff_t start = offset >> m->page_shift, undo_fallocend = info->fallocend, index;
	pgoff_t end = DIV_ROUND_UP((u64)offset + len, m->page_size);
	int error;

	if (sbinfo->max_blocks && end - start > sbinfo->max_blocks)
		return -ENOSPC;
	info->fallocend = max(info->fallocend, end);
	error = fill_range(inode, start, end, offset + len, &index);
	if (error) {
		info->fallocend = undo_fallocend;
		if (index > start)
			shmem_undo_range(inode, (loff_t)start << m->page_shift,
					 ((loff_t)index << m->page_shift) - 1, true);
		return error;
	}
	if (offset + len > inode->i_size)
		inode->i_size = offset + len;
	return 0;
}
