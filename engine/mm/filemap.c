/*
 * The page cache: adding, removing, looking up, locking, reading.
 *
 * Mirrors mm/filemap.c. What a version does differently is asked by knob() at its place.
 */
#include <errno.h>
#include <string.h>

#include "block/blkdev.h"
#include "mm/internal.h"

/* include/linux/fs.h: the folio left the mapping while we slept, look it up again. */
#define AOP_TRUNCATED_PAGE 0x80001

void address_space_init_once(struct address_space *mapping, struct inode *host)
{
	struct mm_state *mm = host->i_sb->s_machine->mm;

	memset(mapping, 0, sizeof(*mapping));
	mapping->host = host;
	mapping->gfp_mask = GFP_KERNEL;
	xa_init(&mapping->i_pages, &mm->xa_nodes);
	INIT_LIST_HEAD(&mapping->i_mmap);
	list_add_tail(&mapping->m_mappings, &mm->mappings);
}

void mapping_set_folio_order_range(struct address_space *mapping, unsigned int min,
				   unsigned int max)
{
	unsigned int limit = mapping_machine(mapping)->max_pagecache_order;

	min = min(min, limit);
	max = max(min, min(max, limit));
	mapping->flags &= ~((unsigned long)AS_FOLIO_ORDER_MASK << AS_FOLIO_ORDER_MIN |
			    (unsigned long)AS_FOLIO_ORDER_MASK << AS_FOLIO_ORDER_MAX);
	mapping->flags |= (unsigned long)min << AS_FOLIO_ORDER_MIN |
			  (unsigned long)max << AS_FOLIO_ORDER_MAX;
}

/* ---- adding and removing ---- */

struct folio *filemap_alloc_folio(struct machine *m, gfp_t gfp, unsigned int order)
{
	struct folio *folio;

	charge(m, COST_ALLOC_FOLIO, 1);
	charge(m, COST_ALLOC_ORDER, order);
	sched_point(m); /* may sleep */
	folio = folio_alloc(m, gfp, order);
	trace_event(&m->trace, EV_fl_folio_alloc, order, 0, 0, folio ? folio->_pfn : 0,
		    folio ? 0 : ENOMEM);
	return folio;
}

/* Is the range free of folios? Hands out the last shadow entry met there. */
static int check_conflict(struct xa_state *xas, void **shadowp)
{
	void *entry;

	xas_for_each_conflict(xas, entry) {
		if (!xa_is_value(entry))
			return -EEXIST;
		*shadowp = entry;
	}
	return 0;
}

/*
 * What xas_split_alloc() saw before xa_lock was taken. It fills the nodes that a split will need with
 * the entry it found; kernels before ADD_SPLIT_RECHECK put them into the tree whatever is there now.
 */
struct split_alloc {
	void *entry;
	unsigned int order;	/* 0: nothing was prepared */
};

/* Allocating the nodes may sleep, once for each. */
static struct split_alloc prepare_split(struct address_space *mapping, pgoff_t index,
					unsigned int order)
{
	struct machine *m = mapping_machine(mapping);
	struct split_alloc alloc = { 0 };
	XA_STATE(xas, &mapping->i_pages, index);

	if (knob(m, ADD_SPLIT_RECHECK) || !m->sched)
		return alloc;
	alloc.entry = xas_load(&xas);
	alloc.order = alloc.entry ? xas_get_order(&xas) : 0;
	if (alloc.order / XA_CHUNK_SHIFT <= order / XA_CHUNK_SHIFT)
		return (struct split_alloc){ 0 };
	for (unsigned int i = 0; i < 1U << alloc.order % XA_CHUNK_SHIFT; i++)
		sched_point(m);
	return alloc;
}

/* A shadow larger than the folio is cut first, so that the rest of it stays. */
static int split_shadow(struct xa_state *xas, void *shadow, unsigned int order,
			const struct split_alloc *alloc)
{
	unsigned int shadow_order;
	int ret = 0;

	xas_set_order(xas, xas->xa_index, order);
	xas_load(xas);
	shadow_order = xas_get_order(xas);
	if (shadow_order > order) {
		xas_split(xas, alloc->order == shadow_order ? alloc->entry : shadow, shadow_order);
		ret = xas_error(xas);
	}
	xas_reset(xas);
	return ret;
}

/* Put the folio into the tree, under xa_lock. */
static int store_folio(struct address_space *mapping, struct folio *folio, pgoff_t index,
		       const struct split_alloc *alloc, void **shadowp)
{
	struct machine *m = mapping_machine(mapping);
	unsigned int order = folio_order(folio);
	XA_STATE_ORDER(xas, &mapping->i_pages, index, order);
	void *shadow = NULL;
	int ret;

	ret = check_conflict(&xas, &shadow);
	if (ret)
		return ret;
	if (shadow)
		ret = split_shadow(&xas, shadow, order, alloc);
	if (ret)
		return ret;
	folio->mapping = mapping;
	folio->index = index;
	xas_store(&xas, folio);
	ret = xas_error(&xas);
	if (ret) {
		folio->mapping = NULL;
		return ret;
	}
	charge(m, COST_ADD_SLOT, folio_nr_pages(folio));
	folio_ref_add(folio, folio_nr_pages(folio));
	mapping->nrpages += folio_nr_pages(folio);
	m->mm->vm.nr_file_pages += folio_nr_pages(folio);
	*shadowp = shadow;
	return 0;
}

int __filemap_add_folio(struct address_space *mapping, struct folio *folio, pgoff_t index,
			gfp_t gfp, void **shadowp)
{
	const struct split_alloc alloc = prepare_split(mapping, index, folio_order(folio));
	struct machine *m = mapping_machine(mapping);
	int ret;

	(void)gfp;
	lock_excl(m, XA_LOCK, &mapping->xa_lock);
	charge(m, COST_ADD_FOLIO, 1);
	ret = store_folio(mapping, folio, index, &alloc, shadowp);
	unlock_excl(m, XA_LOCK, &mapping->xa_lock);
	return ret;
}

int filemap_add_folio(struct address_space *mapping, struct folio *folio, pgoff_t index,
		      gfp_t gfp, enum page_provenance provenance)
{
	struct machine *m = mapping_machine(mapping);
	void *shadow = NULL;
	int ret;

	folio_set_locked(folio);
	ret = __filemap_add_folio(mapping, folio, index, gfp, &shadow);
	if (unlikely(ret)) {
		folio_clear_locked(folio);
		trace_event(&m->trace, EV_fl_add_failed, folio->_order, mapping->host->i_ino, index,
			    folio->_pfn, -ret);
		return ret;
	}
	page_state_insert(folio, provenance);
	trace_event(&m->trace, EV_mm_filemap_add_to_page_cache, folio->_order,
		    mapping->host->i_ino, index, folio->_pfn, provenance);
	if (shadow)
		workingset_refault(folio, shadow);
	folio_add_lru(folio);
	return 0;
}

static void page_cache_delete(struct address_space *mapping, struct folio *folio, void *shadow)
{
	XA_STATE_ORDER(xas, &mapping->i_pages, folio->index, folio_order(folio));

	xas_store(&xas, shadow);
	folio->mapping = NULL;
	mapping->nrpages -= folio_nr_pages(folio);
}

void __filemap_remove_folio(struct folio *folio, void *shadow)
{
	struct address_space *mapping = folio->mapping;
	struct machine *m = mapping_machine(mapping);
	unsigned int used = page_state_remove(folio);

	charge(m, COST_REMOVE_FOLIO, 1);
	trace_event(&m->trace, EV_mm_filemap_delete_from_page_cache, folio->_order,
		    mapping->host->i_ino, folio->index, folio->_pfn, used);
	m->mm->vm.nr_file_pages -= folio_nr_pages(folio);
	if (shmem_mapping(mapping))
		shmem_uncharge(mapping->host, folio_nr_pages(folio));
	page_cache_delete(mapping, folio, shadow);
}

void filemap_free_folio(struct address_space *mapping, struct folio *folio)
{
	(void)mapping;
	folio_put_refs(folio, folio_nr_pages(folio));
}

void filemap_remove_folio(struct folio *folio)
{
	struct address_space *mapping = folio->mapping;
	struct machine *m = mapping_machine(mapping);

	lock_excl(m, XA_LOCK, &mapping->xa_lock);
	__filemap_remove_folio(folio, NULL);
	unlock_excl(m, XA_LOCK, &mapping->xa_lock);
	filemap_free_folio(mapping, folio);
}

/* ---- the folio lock and I/O ---- */

bool folio_trylock(struct folio *folio)
{
	sched_point(folio_machine(folio));
	if (folio_test_locked(folio))
		return false;
	lock_acquire(folio_machine(folio), LOCK_FOLIO_LOCK);
	folio_set_locked(folio);
	return true;
}

void folio_wait_locked(struct folio *folio)
{
	struct machine *m = folio_machine(folio);
	struct trace_event ev = { .id = EV_fl_folio_wait, .order = folio->_order,
				  .index = folio->index };
	u64 start = m->clock_ps;

	if (!folio_test_locked(folio))
		return;
	folio_get(folio);
	charge(m, COST_SCHEDULE, 1);
	while (folio_test_locked(folio) && (m->sched || blk_wait_next(m)))
		if (m->sched)
			sched_wait(m, folio);
	ev.c = (m->clock_ps - start) / 1000;
	trace_event2(&m->trace, &ev);
	folio_put(folio);
}

void folio_lock(struct folio *folio)
{
	while (!folio_trylock(folio))
		folio_wait_locked(folio);
}

void folio_unlock(struct folio *folio)
{
	sched_point(folio_machine(folio));
	folio_clear_locked(folio);
	sched_wake(folio_machine(folio), folio);
}

void folio_mark_uptodate(struct folio *folio)
{
	if (folio_test_uptodate(folio))
		return;
	folio_set_uptodate(folio);
	folio_trace(folio, EV_fl_uptodate, folio->_pfn, 0);
}

void folio_end_read(struct folio *folio, bool success)
{
	charge(folio_machine(folio), COST_COMPLETE_FOLIO, 1);
	if (success)
		folio_mark_uptodate(folio);
	folio_unlock(folio);
}

bool filemap_release_folio(struct folio *folio, gfp_t gfp)
{
	const struct address_space_operations *ops = folio->mapping->a_ops;

	if (!folio_test_private(folio))
		return true;
	return ops->release_folio && ops->release_folio(folio, gfp);
}

/* ---- looking up ---- */

/*
 * A folio that was found has no references: it is on its way out of the tree, so that the next look
 * will not find it. One that a bug left in the tree is found for ever.
 */
static void look_again(struct machine *m)
{
	charge(m, COST_READ_BATCH, 1);
	sched_point(m);
}

struct folio *filemap_get_folio(struct address_space *mapping, pgoff_t index)
{
	struct folio *folio;

	while ((folio = xa_load(&mapping->i_pages, index)) && !xa_is_value(folio)) {
		if (folio_try_get(folio))
			return folio;
		look_again(mapping_machine(mapping));
	}
	return NULL;
}

unsigned int filemap_get_folios(struct address_space *mapping, pgoff_t *start, pgoff_t end,
				struct folio_batch *fbatch)
{
	XA_STATE(xas, &mapping->i_pages, *start);
	struct folio *folio;

	xas_for_each(&xas, folio, end) {
		if (xa_is_value(folio))
			continue;
		folio_get(folio);
		if (!folio_batch_add(fbatch, folio)) {
			*start = folio_next_index(folio);
			return folio_batch_count(fbatch);
		}
	}
	*start = end == ~0UL ? end : end + 1;
	return folio_batch_count(fbatch);
}

/* What an ideal search would see: no drift, for teaching (CURSOR_DRIFT off). */
static bool index_present(struct address_space *mapping, pgoff_t index)
{
	void *entry = xa_load(&mapping->i_pages, index);

	return entry && !xa_is_value(entry);
}

static bool cursor_next_present(struct xa_state *xas, bool drift)
{
	void *entry = xas_next(xas);
	struct address_space *mapping = container_of(xas->xa, struct address_space, i_pages);

	return drift ? entry && !xa_is_value(entry) : index_present(mapping, xas->xa_index);
}

static bool cursor_prev_present(struct xa_state *xas, bool drift)
{
	void *entry = xas_prev(xas);
	struct address_space *mapping = container_of(xas->xa, struct address_space, i_pages);

	return drift ? entry && !xa_is_value(entry) : index_present(mapping, xas->xa_index);
}

pgoff_t page_cache_next_miss(struct address_space *mapping, pgoff_t index, unsigned long max_scan)
{
	struct machine *m = mapping_machine(mapping);
	XA_STATE(xas, &mapping->i_pages, index);
	bool drift = knob(m, CURSOR_DRIFT);

	for (unsigned long n = max_scan; n; n--) {
		if (!cursor_next_present(&xas, drift) || xas.xa_index == 0)
			return xas.xa_index;
	}
	if (knob(m, NEXT_MISS_FIX))
		return index + max_scan;
	if (knob(m, NEXT_MISS_OUTSIDE))
		return index - 1;
	return index + max_scan - 1;
}

pgoff_t page_cache_prev_miss(struct address_space *mapping, pgoff_t index, unsigned long max_scan)
{
	struct machine *m = mapping_machine(mapping);
	XA_STATE(xas, &mapping->i_pages, index);
	bool drift = knob(m, CURSOR_DRIFT);

	for (unsigned long n = max_scan; n; n--) {
		if (!cursor_prev_present(&xas, drift) || xas.xa_index == ~0UL)
			return xas.xa_index;
	}
	return knob(m, PREV_MISS_FIX) ? index - max_scan : index - max_scan + 1;
}

/* ---- reading ---- */

static void shrink_readahead_size_eio(struct file_ra_state *ra)
{
	ra->ra_pages /= 4;
}

static bool filemap_range_uptodate(struct address_space *mapping, loff_t pos, size_t count,
				   struct folio *folio, bool need_uptodate)
{
	if (folio_test_uptodate(folio))
		return true;
	if (need_uptodate || !mapping->a_ops->is_partially_uptodate)
		return false;
	if (mapping->host->i_blkbits >= folio_shift(folio))
		return false;
	if (folio_pos(folio) > pos) {
		count -= folio_pos(folio) - pos;
		pos = 0;
	} else {
		pos -= folio_pos(folio);
	}
	if (knob(mapping_machine(mapping), WHOLE_NOT_PARTIAL) && pos == 0 &&
	    count >= folio_size(folio))
		return false;
	return mapping->a_ops->is_partially_uptodate(folio, pos, count);
}

int filemap_read_folio(struct file *file, struct folio *folio)
{
	int ret = folio->mapping->a_ops->read_folio(file, folio);

	if (ret)
		return ret;
	folio_wait_locked(folio);
	if (folio_test_uptodate(folio))
		return 0;
	shrink_readahead_size_eio(&file->f_ra);
	return -EIO;
}

/* Make the folio readable. A positive result asks for another lookup; the reference stays. */
static int filemap_update_page(struct kiocb *iocb, struct address_space *mapping, size_t count,
			       struct folio *folio, bool need_uptodate)
{
	if (!folio_trylock(folio)) {
		if (iocb->ki_flags & (IOCB_NOWAIT | IOCB_NOIO))
			return -EAGAIN;
		folio_wait_locked(folio);
		return AOP_TRUNCATED_PAGE;
	}
	if (!folio->mapping) {
		folio_unlock(folio);
		return AOP_TRUNCATED_PAGE;
	}
	if (filemap_range_uptodate(mapping, iocb->ki_pos, count, folio, need_uptodate)) {
		folio_unlock(folio);
		return 0;
	}
	if (iocb->ki_flags & (IOCB_NOIO | IOCB_NOWAIT | IOCB_WAITQ)) {
		folio_unlock(folio);
		return -EAGAIN;
	}
	return filemap_read_folio(iocb->ki_filp, folio);
}

static int filemap_create_folio(struct kiocb *iocb, struct folio_batch *fbatch)
{
	struct address_space *mapping = iocb->ki_filp->f_mapping;
	struct machine *m = mapping_machine(mapping);
	unsigned int min_order = mapping_min_folio_order(mapping);
	pgoff_t index = iocb->ki_pos >> m->page_shift >> min_order << min_order;
	struct folio *folio;
	int ret;

	if (iocb->ki_flags & (IOCB_NOWAIT | IOCB_WAITQ))
		return -EAGAIN;
	folio = filemap_alloc_folio(m, mapping_gfp_mask(mapping), min_order);
	if (!folio)
		return -ENOMEM;
	lock_shared(m, INVALIDATE_LOCK, &mapping->invalidate_lock);
	ret = filemap_add_folio(mapping, folio, index, mapping_gfp_mask(mapping),
				PROVENANCE_FORCED);
	if (ret == -EEXIST)
		ret = AOP_TRUNCATED_PAGE;
	if (!ret)
		ret = filemap_read_folio(iocb->ki_filp, folio);
	unlock_shared(m, INVALIDATE_LOCK, &mapping->invalidate_lock);
	if (ret) {
		folio_put(folio);
		return ret;
	}
	folio_batch_add(fbatch, folio);
	return 0;
}

static int filemap_readahead(struct kiocb *iocb, struct file *file, struct address_space *mapping,
			     struct folio *folio, pgoff_t last_index)
{
	DEFINE_READAHEAD(ractl, file, &file->f_ra, mapping, folio->index);

	if (iocb->ki_flags & IOCB_NOIO)
		return -EAGAIN;
	page_cache_async_ra(&ractl, folio, last_index - folio->index);
	return 0;
}

/*
 * The contiguous folios from @index on, up to one that is marked, not uptodate, fills the batch
 * or reaches @max: only the last of a batch can need work.
 */
static void filemap_get_read_batch(struct address_space *mapping, pgoff_t index, pgoff_t max,
				   struct folio_batch *fbatch)
{
	struct machine *m = mapping_machine(mapping);
	XA_STATE(xas, &mapping->i_pages, index);
	struct folio *folio;

	for (folio = xas_load(&xas); folio; folio = xas_next(&xas)) {
		if (xas.xa_index > max || xa_is_value(folio) || xa_is_sibling(folio))
			break;
		if (unlikely(!folio_try_get(folio))) {
			look_again(m);
			xas_set(&xas, xas.xa_index);
			continue;
		}
		if (!folio_batch_add(fbatch, folio) || !folio_test_uptodate(folio) ||
		    folio_test_readahead(folio) || folio_next_index(folio) > max)
			break;
		xas_advance(&xas, folio_next_index(folio) - 1);
	}
	charge2(m, COST_GET_PAGES, 1, COST_READ_BATCH, fbatch->nr);
}

static pgoff_t read_last_index(const struct machine *m, const struct address_space *mapping,
			       loff_t pos, size_t count)
{
	u64 end = (u64)pos + count;

	if (knob(m, LAST_INDEX_ROUND))
		end = round_up(end, m->page_size << mapping_min_folio_order(mapping));
	return (end + m->page_size - 1) >> m->page_shift;
}

/* Drop the last folio of the batch; true if others are left. */
static bool drop_last(struct folio_batch *fbatch)
{
	folio_put(fbatch->folios[--fbatch->nr]);
	return fbatch->nr != 0;
}

/* Work the last folio of the batch needs. 0, negative errno, or AOP_TRUNCATED_PAGE to retry. */
static int finish_last_folio(struct kiocb *iocb, size_t count, struct folio_batch *fbatch,
			     pgoff_t last_index, bool need_uptodate)
{
	struct file *file = iocb->ki_filp;
	struct address_space *mapping = file->f_mapping;
	struct folio *folio = fbatch->folios[fbatch->nr - 1];
	int ret = 0;

	if (folio_test_readahead(folio))
		ret = filemap_readahead(iocb, file, mapping, folio, last_index);
	if (!ret && !folio_test_uptodate(folio)) {
		if (knob(mapping_machine(mapping), SKIP_NONUPTODATE) && fbatch->nr > 1)
			ret = AOP_TRUNCATED_PAGE;
		else
			ret = filemap_update_page(iocb, mapping, count, folio, need_uptodate);
	}
	if (ret && drop_last(fbatch))
		return 0;
	return ret;
}

static void trace_get_pages(struct machine *m, const struct address_space *mapping, pgoff_t index,
			    pgoff_t last_index)
{
	if (trace_count(&m->trace, EV_mm_filemap_get_pages, 0)) {
		struct trace_event ev = { .id = EV_mm_filemap_get_pages,
					  .ino = mapping->host->i_ino, .index = index,
					  .c = last_index - 1 };

		trace_dispatch(&m->trace, &ev);
	}
}

static int filemap_get_pages(struct kiocb *iocb, size_t count, struct folio_batch *fbatch,
			     bool need_uptodate)
{
	struct file *file = iocb->ki_filp;
	struct address_space *mapping = file->f_mapping;
	struct machine *m = mapping_machine(mapping);
	pgoff_t index = iocb->ki_pos >> m->page_shift;
	pgoff_t last_index = read_last_index(m, mapping, iocb->ki_pos, count);
	pgoff_t batch_max = knob(m, READ_BATCH_END) ? last_index - 1 : last_index;
	int ret;

	do {
		filemap_get_read_batch(mapping, index, batch_max, fbatch);
		if (!fbatch->nr) {
			DEFINE_READAHEAD(ractl, file, &file->f_ra, mapping, index);

			if (iocb->ki_flags & IOCB_NOIO)
				return -EAGAIN;
			page_cache_sync_ra(&ractl, last_index - index);
			filemap_get_read_batch(mapping, index, batch_max, fbatch);
		}
		if (!fbatch->nr) {
			ret = filemap_create_folio(iocb, fbatch);
			if (ret <= 0)
				return ret;
			continue;
		}
		ret = finish_last_folio(iocb, count, fbatch, last_index, need_uptodate);
	} while (ret == AOP_TRUNCATED_PAGE);
	if (!ret)
		trace_get_pages(m, mapping, index, last_index);
	return ret;
}

static bool pos_same_folio(loff_t pos1, loff_t pos2, const struct folio *folio)
{
	unsigned int shift = folio_shift(folio);

	return pos1 >> shift == pos2 >> shift;
}

static size_t copy_folio_to_iter(struct machine *m, struct folio *folio, size_t offset,
				 size_t bytes, struct iov_iter *iter)
{
	const char *from = folio_address(folio);

	charge2(m, COST_COPY_FOLIO, 1, COST_COPY_BYTE, bytes);
	if (!bytes) /* the folio behind the request that v6.1 still has in its batch */
		return 0;
	page_state_use(m, folio, offset, bytes);
	if (from && iter->ubuf)
		memcpy(iter->ubuf, from + offset, bytes);
	if (iter->ubuf)
		iter->ubuf += bytes;
	iter->count -= bytes;
	return bytes;
}

/* Copy what the batch has of [ki_pos, end); returns the bytes. */
static ssize_t copy_batch(struct machine *m, struct kiocb *iocb, struct iov_iter *iter,
			  struct folio_batch *fbatch, loff_t end, loff_t *last_pos)
{
	ssize_t copied = 0;

	if (!pos_same_folio(iocb->ki_pos, *last_pos - 1, fbatch->folios[0]))
		folio_mark_accessed(fbatch->folios[0]);
	for (unsigned int i = 0; i < fbatch->nr; i++) {
		struct folio *folio = fbatch->folios[i];
		size_t fsize = folio_size(folio);
		size_t offset = iocb->ki_pos & (fsize - 1);
		size_t bytes = min_t(loff_t, end - iocb->ki_pos, fsize - offset);

		if (end < folio_pos(folio))
			break;
		if (i > 0)
			folio_mark_accessed(folio);
		copied += copy_folio_to_iter(m, folio, offset, bytes, iter);
		iocb->ki_pos += bytes;
		*last_pos = iocb->ki_pos;
	}
	return copied;
}

static void put_batch(struct folio_batch *fbatch)
{
	for (unsigned int i = 0; i < fbatch->nr; i++)
		folio_put(fbatch->folios[i]);
	fbatch->nr = 0;
}

ssize_t filemap_read(struct kiocb *iocb, struct iov_iter *iter, ssize_t already_read)
{
	struct file *filp = iocb->ki_filp;
	struct address_space *mapping = filp->f_mapping;
	struct inode *inode = mapping->host;
	struct machine *m = mapping_machine(mapping);
	loff_t once = filp->f_ra.prev_pos;
	loff_t *last_pos = knob(m, PREV_POS_ONCE) ? &once : &filp->f_ra.prev_pos;
	struct folio_batch fbatch;
	int error = 0;

	if (iocb->ki_pos >= inode->i_sb->s_maxbytes || !iter->count)
		return 0;
	iter->count = min_t(u64, iter->count, inode->i_sb->s_maxbytes - iocb->ki_pos);
	folio_batch_init(m, &fbatch);
	while (iter->count && iocb->ki_pos < i_size_read(inode) && !error) {
		loff_t isize;

		error = filemap_get_pages(iocb, iter->count, &fbatch, false);
		if (error < 0)
			break;
		isize = i_size_read(inode);
		if (iocb->ki_pos < isize)
			already_read += copy_batch(m, iocb, iter, &fbatch,
						   min_t(loff_t, isize, iocb->ki_pos + iter->count),
						   last_pos);
		put_batch(&fbatch);
	}
	filp->f_ra.prev_pos = *last_pos;
	return already_read ? already_read : error;
}

/*
 * The folio that a read of @count bytes at the file position would find as its whole batch, with
 * nothing to do but copy: uptodate, unmarked, accessed by the read before. NULL if there is none.
 */
static struct folio *plain_hit(const struct file *file, size_t count)
{
	struct address_space *mapping = file->f_mapping;
	struct machine *m = mapping_machine(mapping);
	loff_t pos = file->f_pos;
	struct folio *folio = xa_load(&mapping->i_pages, pos >> m->page_shift);

	if (!folio || xa_is_value(folio) || !folio_test_uptodate(folio) ||
	    folio_test_readahead(folio) || count >= folio_size(folio))
		return NULL;
	return pos_same_folio(pos, file->f_ra.prev_pos - 1, folio) ? folio : NULL;
}

/* Where reads stop being plain: at the folio's or the file's end; a page earlier on v6.1. */
static loff_t plain_end(const struct file *file, const struct folio *folio)
{
	const struct machine *m = folio_machine(folio);
	loff_t end = folio_pos(folio) + folio_size(folio);

	if (!knob(m, READ_BATCH_END))
		end -= m->page_size;
	return min(end, i_size_read(file->f_inode));
}

u64 filemap_read_plain(struct file *file, size_t count, u64 n)
{
	struct machine *m = mapping_machine(file->f_mapping);
	struct folio *folio;
	loff_t end;

	if (m->data || m->trace.sinks || m->sched || m->next_io_ps != ~0ULL || !count)
		return 0;
	folio = plain_hit(file, count);
	end = folio ? plain_end(file, folio) : 0;
	if (end - file->f_pos < (loff_t)count)
		return 0;
	n = min(n, (u64)(end - file->f_pos) / count);
	charge2(m, COST_GET_PAGES, n, COST_READ_BATCH, n);
	charge2(m, COST_COPY_FOLIO, n, COST_COPY_BYTE, n * count);
	trace_count_many(&m->trace, EV_mm_filemap_get_pages, n);
	page_state_use(m, folio, file->f_pos & (folio_size(folio) - 1), n * count);
	file->f_pos += n * count;
	file->f_ra.prev_pos = file->f_pos;
	return n;
}

/* Hand the folios of a batch to the pipe; returns the bytes. */
static size_t splice_batch(struct machine *m, struct file *in, loff_t *ppos, size_t len,
			   struct folio_batch *fbatch, loff_t isize)
{
	size_t total = 0;

	for (unsigned int i = 0; i < fbatch->nr && len; i++) {
		struct folio *folio = fbatch->folios[i];
		size_t offset = *ppos & (folio_size(folio) - 1), n;

		if (folio_pos(folio) >= isize)
			break;
		folio_mark_accessed(folio);
		n = min(len, folio_size(folio) - offset);
		n = min_t(loff_t, n, isize - *ppos);
		charge(m, COST_COPY_FOLIO, 1);
		page_state_use(m, folio, offset, n);
		len -= n;
		total += n;
		*ppos += n;
		in->f_ra.prev_pos = *ppos;
	}
	return total;
}

ssize_t filemap_splice_read(struct file *in, loff_t *ppos, size_t len)
{
	struct inode *inode = in->f_mapping->host;
	struct machine *m = mapping_machine(in->f_mapping);
	struct kiocb iocb = { .ki_filp = in };
	struct folio_batch fbatch;
	size_t total = 0;
	int error = 0;

	if (*ppos >= inode->i_sb->s_maxbytes)
		return 0;
	folio_batch_init(m, &fbatch);
	while (len && *ppos < i_size_read(inode)) {
		size_t n;

		iocb.ki_pos = *ppos;
		error = filemap_get_pages(&iocb, len, &fbatch, true);
		if (error < 0)
			break;
		n = splice_batch(m, in, ppos, len, &fbatch, i_size_read(inode));
		put_batch(&fbatch);
		total += n;
		len -= n;
		if (!n)
			break;
	}
	return total ? (ssize_t)total : error;
}
