/*
 * Mirrors mm/page-writeback.c.
 */
#include "mm/writeback.h"

#include <errno.h>

#include "block/blkdev.h"
#include "mm/internal.h"

static void set_tag(struct folio *folio, xa_mark_t tag, bool on)
{
	struct address_space *mapping = folio->mapping;
	struct machine *m = folio_machine(folio);
	XA_STATE(xas, &mapping->i_pages, folio->index);

	lock_excl(m, XA_LOCK, &mapping->xa_lock);
	xas_load(&xas);
	if (on)
		xas_set_mark(&xas, tag);
	else
		xas_clear_mark(&xas, tag);
	unlock_excl(m, XA_LOCK, &mapping->xa_lock);
}

bool filemap_dirty_folio(struct address_space *mapping, struct folio *folio)
{
	struct machine *m = mapping_machine(mapping);

	if (folio_test_dirty(folio))
		return false;
	folio_set_dirty(folio);
	set_tag(folio, PAGECACHE_TAG_DIRTY, true);
	m->mm->vm.nr_dirty += folio_nr_pages(folio);
	trace_event(&m->trace, EV_writeback_dirty_folio, folio->_order, mapping->host->i_ino,
		    folio->index, folio->_pfn, 0);
	return true;
}

bool folio_mark_dirty(struct folio *folio)
{
	struct address_space *mapping = folio->mapping;

	if (mapping->a_ops->dirty_folio)
		return mapping->a_ops->dirty_folio(mapping, folio);
	return filemap_dirty_folio(mapping, folio);
}

static bool mapping_can_writeback(const struct address_space *mapping)
{
	return inode_to_bdi(mapping->host)->capabilities & BDI_CAP_WRITEBACK;
}

bool folio_clear_dirty_for_io(struct folio *folio)
{
	if (!folio_test_clear_dirty(folio))
		return false;
	folio_machine(folio)->mm->vm.nr_dirty -= folio_nr_pages(folio);
	folio_trace(folio, EV_fl_clean, folio->_pfn, 0);
	return true;
}

void folio_cancel_dirty(struct folio *folio)
{
	if (!mapping_can_writeback(folio->mapping)) {
		if (folio_test_clear_dirty(folio))
			folio_trace(folio, EV_fl_clean, folio->_pfn, 0);
		return;
	}
	if (folio_clear_dirty_for_io(folio))
		set_tag(folio, PAGECACHE_TAG_DIRTY, false);
}

static void start_writeback(struct folio *folio, bool keep_write)
{
	struct machine *m = folio_machine(folio);

	folio_set_writeback(folio);
	folio_trace(folio, EV_fl_writeback_start, folio->_pfn, 0);
	m->mm->vm.nr_writeback += folio_nr_pages(folio);
	set_tag(folio, PAGECACHE_TAG_WRITEBACK, true);
	if (!folio_test_dirty(folio))
		set_tag(folio, PAGECACHE_TAG_DIRTY, false);
	if (!keep_write)
		set_tag(folio, PAGECACHE_TAG_TOWRITE, false);
}

void folio_start_writeback(struct folio *folio)
{
	start_writeback(folio, false);
}

void folio_start_writeback_keepwrite(struct folio *folio)
{
	start_writeback(folio, true);
}

void folio_end_writeback(struct folio *folio)
{
	folio_clear_writeback(folio);
	folio_trace(folio, EV_fl_writeback_end, folio->_pfn, 0);
	folio_machine(folio)->mm->vm.nr_writeback -= folio_nr_pages(folio);
	set_tag(folio, PAGECACHE_TAG_WRITEBACK, false);
	sched_wake(folio_machine(folio), folio);
}

void folio_wait_writeback(struct folio *folio)
{
	struct machine *m = folio_machine(folio);

	while (folio_test_writeback(folio) && (m->sched || blk_wait_next(m)))
		if (m->sched)
			sched_wait(m, folio);
}

void tag_pages_for_writeback(struct address_space *mapping, pgoff_t start, pgoff_t end)
{
	XA_STATE(xas, &mapping->i_pages, start);
	void *entry;

	xas_for_each_marked(&xas, entry, end, PAGECACHE_TAG_DIRTY)
		xas_set_mark(&xas, PAGECACHE_TAG_TOWRITE);
}

struct folio *filemap_next_tagged(struct address_space *mapping, pgoff_t *index, pgoff_t end,
				  xa_mark_t tag)
{
	XA_STATE(xas, &mapping->i_pages, *index);
	struct folio *folio = *index <= end ? xas_find_marked(&xas, end, tag) : NULL;

	if (!folio)
		return NULL;
	folio_get(folio);
	*index = folio_next_index(folio);
	return folio;
}

int write_cache_pages(struct address_space *mapping, struct writeback_control *wbc,
		      writepage_t writepage, void *data)
{
	unsigned int shift = mapping_machine(mapping)->page_shift;
	pgoff_t index = wbc->range_start >> shift, end = (u64)wbc->range_end >> shift;
	struct folio *folio;
	int ret = 0;

	tag_pages_for_writeback(mapping, index, end);
	while ((folio = filemap_next_tagged(mapping, &index, end, PAGECACHE_TAG_TOWRITE))) {
		int err = 0;

		folio_lock(folio);
		folio_wait_writeback(folio);
		if (folio->mapping == mapping && folio_clear_dirty_for_io(folio))
			err = writepage(folio, wbc, data);
		else
			folio_unlock(folio);
		if (err && !ret)
			ret = err;
		wbc->nr_to_write -= folio_nr_pages(folio);
		folio_put(folio);
		if (index > end || !index)
			break;
	}
	return ret;
}

int do_writepages(struct address_space *mapping, struct writeback_control *wbc)
{
	if (!mapping->a_ops->writepages || !xa_marked(&mapping->i_pages, PAGECACHE_TAG_DIRTY))
		return 0;
	return mapping->a_ops->writepages(mapping, wbc);
}

int __filemap_fdatawrite_range(struct address_space *mapping, loff_t start, loff_t end)
{
	struct writeback_control wbc = {
		.nr_to_write = INT64_MAX, .range_start = start, .range_end = end,
		.sync_mode = WB_SYNC_ALL,
	};

	return do_writepages(mapping, &wbc);
}

void filemap_fdatawait_pages(struct address_space *mapping, pgoff_t index, pgoff_t end)
{
	for (;;) {
		XA_STATE(xas, &mapping->i_pages, index);
		struct folio *folio = xas_find_marked(&xas, end, PAGECACHE_TAG_WRITEBACK);

		if (!folio)
			return;
		folio_get(folio);
		folio_wait_writeback(folio);
		folio_put(folio);
	}
}

int filemap_write_and_wait_range(struct address_space *mapping, loff_t lstart, loff_t lend)
{
	unsigned int shift = mapping_machine(mapping)->page_shift;
	int ret = __filemap_fdatawrite_range(mapping, lstart, lend);

	filemap_fdatawait_pages(mapping, lstart >> shift, (u64)lend >> shift);
	return ret;
}

bool filemap_range_needs_writeback(struct address_space *mapping, loff_t lstart, loff_t lend)
{
	unsigned int shift = mapping_machine(mapping)->page_shift;
	pgoff_t end = (u64)lend >> shift;
	XA_STATE(xas, &mapping->i_pages, lstart >> shift);
	struct folio *folio;

	xas_for_each(&xas, folio, end)
		if (!xa_is_value(folio) &&
		    (folio_test_dirty(folio) || folio_test_writeback(folio)))
			return true;
	return false;
}

void wakeup_flusher_threads(struct machine *m)
{
	struct address_space *mapping;

	list_for_each_entry(mapping, &m->mm->mappings, m_mappings)
		__filemap_fdatawrite_range(mapping, 0, INT64_MAX);
	blk_drain(m);
}

/* ---- errors: lib/errseq.c, all of them EIO here ---- */

#define ERRSEQ_SEEN 1u
#define ERRSEQ_CTR_INC 2u

void mapping_set_error(struct address_space *mapping, int error)
{
	(void)error;
	if (!mapping->wb_err || mapping->wb_err & ERRSEQ_SEEN)
		mapping->wb_err = (mapping->wb_err & ~ERRSEQ_SEEN) + ERRSEQ_CTR_INC;
}

u32 errseq_sample(const struct address_space *mapping)
{
	return mapping->wb_err & ERRSEQ_SEEN ? mapping->wb_err : 0;
}

int file_check_and_advance_wb_err(struct file *file)
{
	struct address_space *mapping = file->f_mapping;

	if (mapping->wb_err == file->f_wb_err)
		return 0;
	mapping->wb_err |= ERRSEQ_SEEN;
	file->f_wb_err = mapping->wb_err;
	return -EIO;
}
