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
	if (!mapping->dirtied_ps)
		mapping->dirtied_ps = m->clock_ps + 1;
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

/* Lock a folio for writing; false, unlocked: there is nothing to write, or it is being written. */
static bool take_dirty(struct address_space *mapping, struct folio *folio,
		       const struct writeback_control *wbc)
{
	folio_lock(folio);
	if (folio->mapping == mapping &&
	    (wbc->sync_mode == WB_SYNC_ALL || !folio_test_writeback(folio))) {
		folio_wait_writeback(folio);
		if (folio_clear_dirty_for_io(folio))
			return true;
	}
	folio_unlock(folio);
	return false;
}

/* Folios of [index, end]; *next is where it stopped. */
static int write_range(struct address_space *mapping, struct writeback_control *wbc, pgoff_t index,
		       pgoff_t end, writepage_t writepage, void *data)
{
	bool sync = wbc->sync_mode == WB_SYNC_ALL;
	xa_mark_t tag = sync ? PAGECACHE_TAG_TOWRITE : PAGECACHE_TAG_DIRTY;
	struct folio *folio;
	int ret = 0;

	if (sync)
		tag_pages_for_writeback(mapping, index, end);
	while ((sync || wbc->nr_to_write > 0) &&
	       (folio = filemap_next_tagged(mapping, &index, end, tag))) {
		int err = take_dirty(mapping, folio, wbc) ? writepage(folio, wbc, data) : 0;

		if (err && !ret)
			ret = err;
		wbc->nr_to_write -= folio_nr_pages(folio);
		folio_put(folio);
		if (index > end || !index)
			break;
	}
	mapping->writeback_index = index;
	return ret;
}

int write_cache_pages(struct address_space *mapping, struct writeback_control *wbc,
		      writepage_t writepage, void *data)
{
	unsigned int shift = mapping_machine(mapping)->page_shift;
	pgoff_t start = mapping->writeback_index;
	int ret;

	if (!wbc->range_cyclic)
		return write_range(mapping, wbc, wbc->range_start >> shift,
				   (u64)wbc->range_end >> shift, writepage, data);
	ret = write_range(mapping, wbc, start, ~0UL, writepage, data);
	if (!ret && start && wbc->nr_to_write > 0)
		ret = write_range(mapping, wbc, 0, start - 1, writepage, data);
	return ret;
}

int do_writepages(struct address_space *mapping, struct writeback_control *wbc)
{
	int ret;

	if (!mapping->a_ops->writepages || !xa_marked(&mapping->i_pages, PAGECACHE_TAG_DIRTY))
		return 0;
	ret = mapping->a_ops->writepages(mapping, wbc);
	if (!xa_marked(&mapping->i_pages, PAGECACHE_TAG_DIRTY))
		mapping->dirtied_ps = 0;
	return ret;
}

int __filemap_fdatawrite_range(struct address_space *mapping, loff_t start, loff_t end)
{
	struct writeback_control wbc = {
		.nr_to_write = INT64_MAX,
		.range_start = start,
		.range_end = end,
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
		if (!xa_is_value(folio) && (folio_test_dirty(folio) || folio_test_writeback(folio)))
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

/* ---- limits ---- */

/* What could be dirty, by and large: mm/page-writeback.c global_dirtyable_memory(). */
static unsigned long global_dirtyable_memory(const struct machine *m)
{
	return m->mm->zone.nr_free + m->mm->vm.nr_file_pages;
}

/* The flusher: a thread of its own, with no handle of the writer, beside the writer's clock. */
static void flush_mapping(struct machine *m, struct address_space *mapping, long nr)
{
	struct writeback_control wbc = {
		.nr_to_write = nr, .range_end = INT64_MAX, .range_cyclic = true};
	enum machine_context context = m->context;
	void *journal_info = m->journal_info[m->cpu];

	m->context = CONTEXT_KSWAPD;
	m->journal_info[m->cpu] = NULL;
	do_writepages(mapping, &wbc);
	m->journal_info[m->cpu] = journal_info;
	m->context = context;
}

/* Dirty data older than DIRTY_EXPIRE_PS. fs/fs-writeback.c wb_check_old_data_flush() */
static void flush_old_data(struct machine *m)
{
	struct address_space *mapping;

	if (m->clock_ps - m->mm->last_kupdate_ps < DIRTY_WRITEBACK_PS)
		return;
	m->mm->last_kupdate_ps = m->clock_ps;
	list_for_each_entry(mapping, &m->mm->mappings, m_mappings)
		if (mapping->dirtied_ps && mapping_can_writeback(mapping) &&
		    m->clock_ps - mapping->dirtied_ps >= DIRTY_EXPIRE_PS)
			flush_mapping(m, mapping, INT64_MAX);
}

static void flush_background(struct machine *m, unsigned long limit)
{
	struct address_space *mapping;

	list_for_each_entry(mapping, &m->mm->mappings, m_mappings)
		if (m->mm->vm.nr_dirty > limit && mapping_can_writeback(mapping))
			flush_mapping(m, mapping, m->mm->vm.nr_dirty - limit);
}

void balance_dirty_pages_ratelimited(struct address_space *mapping)
{
	struct machine *m = mapping_machine(mapping);
	const struct vm_counters *vm = &m->mm->vm;
	unsigned long memory = global_dirtyable_memory(m);

	if (m->sched || !mapping_can_writeback(mapping))
		return;
	flush_old_data(m);
	if (vm->nr_dirty <= memory * DIRTY_BACKGROUND_RATIO / 100)
		return;
	flush_background(m, memory * DIRTY_BACKGROUND_RATIO / 100);
	while (vm->nr_dirty + vm->nr_writeback > memory * DIRTY_RATIO / 100 && blk_wait_next(m))
		;
}

/* ---- errors: lib/errseq.c, all of them EIO here ---- */

#define ERRSEQ_SEEN    1u
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
