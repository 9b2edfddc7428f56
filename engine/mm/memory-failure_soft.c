/*
 * Pages that are retired before they fail, and pages that turn out to be good.
 *
 * Mirrors soft_offline_page() and unpoison_memory() of mm/memory-failure.c, and of mm/migrate.c
 * what moves one single page of the cache.
 */
#include <errno.h>
#include <string.h>

#include "mm/internal.h"
#include "mm/memory-failure.h"
#include "mm/mm.h"
#include "mm/writeback.h"

/* ---- migration ---- */

/* @dst takes the place of @src in the cache, bytes, flags and all. folio_migrate_mapping(). */
static void migrate_into(struct folio *dst, struct folio *src)
{
	struct machine *m = folio_machine(src);
	struct address_space *mapping = src->mapping;
	XA_STATE(xas, &mapping->i_pages, src->index);

	charge2(m, COST_REMOVE_FOLIO, 1, COST_ADD_FOLIO, 1);
	lock_acquire(m, LOCK_XA_LOCK);
	dst->mapping = mapping;
	dst->index = src->index;
	dst->flags = src->flags & ~(BIT(PG_lru) | BIT(PG_locked) | BIT(PG_hwpoison));
	dst->private = src->private;
	xas_load(&xas);
	xas_store(&xas, dst); /* the slot keeps its marks */
	m->page_state[dst->_pfn] = m->page_state[src->_pfn];
	m->page_state[src->_pfn] = 0;
	if (m->data)
		memcpy(folio_address(dst), folio_address(src), m->page_size);
	folio_get(dst);
	src->mapping = NULL;
	src->private = NULL;
	folio_clear_private(src);
	folio_clear_dirty(src);
	folio_put(src);
}

/* Move a locked single page elsewhere: 0, -EBUSY, -ENOMEM. */
static int migrate_page(struct folio *src)
{
	struct machine *m = folio_machine(src);
	struct folio *dst;

	try_to_unmap(src);
	if (folio_mapped(src) || folio_ref_count(src) != 2)
		return -EBUSY;
	dst = filemap_alloc_folio(m, GFP_KERNEL, 0);
	if (!dst)
		return -ENOMEM;
	if (folio_test_lru(src)) {
		lruvec_del_folio(&m->mm->lruvec, src);
		folio_clear_lru(src);
	}
	migrate_into(dst, src);
	folio_add_lru(dst);
	folio_put(dst);
	return 0;
}

/* ---- soft offline ---- */

/* The page is empty and ours alone: mark it, and keep the reference for ever. */
static void page_handle_poison(struct machine *m, unsigned long pfn)
{
	set_page_hwpoison(m, pfn);
	m->mm->mf.num_poisoned_pages++;
}

static int soft_offline_free_page(struct machine *m, unsigned long pfn)
{
	if (!take_page_off_buddy(m, pfn))
		return -EBUSY;
	page_handle_poison(m, pfn);
	return 0;
}

static int soft_offline_in_use_page(struct machine *m, unsigned long pfn, struct folio *folio)
{
	int ret = 0;

	if (folio_test_large(folio) && try_to_split_thp_page(m, pfn, &folio)) {
		folio_put(folio);
		return -EBUSY;
	}
	lru_add_drain(m);
	folio_lock(folio);
	folio_wait_writeback(folio);
	if (folio->mapping && !mapping_evict_folio(folio->mapping, folio))
		ret = migrate_page(folio);
	folio_unlock(folio);
	if (ret) {
		folio_put(folio);
		return ret == -ENOMEM ? ret : -EBUSY;
	}
	page_handle_poison(m, pfn);
	return 0;
}

int soft_offline_page(struct machine *m, unsigned long pfn, int flags)
{
	struct folio *folio;
	int ret = 1;

	if (pfn >= m->max_pfn)
		return -ENXIO;
	folio = pfn_folio(m, pfn);
	if (m->mm->mf.disable_soft_offline && knob(m, MF_SOFT_SYSCTL))
		ret = -EOPNOTSUPP;
	else if (page_hwpoison(m, pfn))
		ret = 0;
	if (ret <= 0) {
		if (folio && flags & MF_COUNT_INCREASED)
			folio_put(folio);
		return ret;
	}
	if (!folio)
		return soft_offline_free_page(m, pfn);
	if (!(flags & MF_COUNT_INCREASED))
		folio_get(folio);
	return soft_offline_in_use_page(m, pfn, folio);
}

/* ---- unpoison ---- */

/* Somebody still uses the page: references besides the handler's, mappings, a cache. */
static bool in_use(const struct folio *folio)
{
	return folio->mapping || folio_mapped(folio) || folio_ref_count(folio) > 1;
}

int unpoison_memory(struct machine *m, unsigned long pfn)
{
	struct folio *folio;

	if (pfn >= m->max_pfn)
		return -ENXIO;
	if (m->mm->mf.hw_memory_failure)
		return -EOPNOTSUPP;
	folio = pfn_folio(m, pfn);
	if (!page_hwpoison(m, pfn) || (folio && in_use(folio)))
		return -EBUSY;
	clear_page_hwpoison(m, pfn);
	m->mm->mf.num_poisoned_pages--;
	if (folio)
		folio_put(folio);
	else
		put_page_back_buddy(m, pfn);
	return 0;
}
