/*
 * The page cache: adding, removing, looking up, locking. Reading is in filemap_read.c.
 *
 * Mirrors mm/filemap.c. What a version does differently is asked by knob() at its place.
 */
#include <errno.h>
#include <string.h>

#include "block/blkdev.h"
#include "mm/internal.h"

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
	mapping->flags |= (unsigned long)min << AS_FOLIO_ORDER_MIN | (unsigned long)max
									     << AS_FOLIO_ORDER_MAX;
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
 * What xas_split_alloc() saw before xa_lock was taken. It fills the nodes that a split will need
 * with the entry it found; kernels before ADD_SPLIT_RECHECK put them into the tree whatever is
 * there now.
 */
struct split_alloc {
	void *entry;
	unsigned int order; /* 0: nothing was prepared */
};

/* Allocating the nodes may sleep, once for each. */
static struct split_alloc prepare_split(struct address_space *mapping, pgoff_t index,
					unsigned int order)
{
	struct machine *m = mapping_machine(mapping);
	struct split_alloc alloc = {0};
	XA_STATE(xas, &mapping->i_pages, index);

	if (knob(m, ADD_SPLIT_RECHECK) || !m->sched)
		return alloc;
	alloc.entry = xas_load(&xas);
	alloc.order = alloc.entry ? xas_get_order(&xas) : 0;
	if (alloc.order / XA_CHUNK_SHIFT <= order / XA_CHUNK_SHIFT)
		return (struct split_alloc){0};
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

int filemap_add_folio(struct address_space *mapping, struct folio *folio, pgoff_t index, gfp_t gfp,
		      enum page_provenance provenance)
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
	trace_event(&m->trace, EV_mm_filemap_add_to_page_cache, folio->_order, mapping->host->i_ino,
		    index, folio->_pfn, provenance);
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
	struct trace_event ev = {
		.id = EV_fl_folio_wait, .order = folio->_order, .index = folio->index};
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

void filemap_look_again(struct machine *m)
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
		filemap_look_again(mapping_machine(mapping));
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
