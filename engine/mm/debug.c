/*
 * Is the miniature still sound? Asserted in debug builds, after every operation on what it
 * touched and regularly on everything.
 *
 * Mirrors mm/debug.c in purpose.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "mm/internal.h"

static int broken(struct fl_error *err, const struct folio *folio, const char *what)
{
	return fl_error_set(err, -EINVAL, NULL, 0,
			    "folio pfn 0x%x index %lu order %u refcount %d flags 0x%lx: %s",
			    folio->_pfn, folio->index, folio->_order, folio->_refcount,
			    folio->flags, what);
}

int vm_check_folio(const struct folio *folio, struct fl_error *err)
{
	struct machine *m = folio_machine(folio);
	const struct address_space *mapping = folio->mapping;
	unsigned long nr = folio_nr_pages(folio);

	if (folio->_pfn & (nr - 1) || folio->_pfn + nr > m->max_pfn)
		return broken(err, folio, "page frames not naturally aligned or outside memory");
	if (folio->_refcount < 1)
		return broken(err, folio, "no references");
	if (!mapping)
		return 0;
	if (folio->index & (nr - 1))
		return broken(err, folio, "index not naturally aligned");
	if (folio->_order > m->max_pagecache_order ||
	    (folio->_order == 1 && !knob(m, ORDER1)))
		return broken(err, folio, "an order this kernel does not have");
	if (folio->_refcount < (s32)nr)
		return broken(err, folio, "fewer references than the page cache holds");
	for (unsigned long i = 0; i < nr; i++)
		if (xa_load(&mapping->i_pages, folio->index + i) != folio)
			return broken(err, folio, "an index of it does not lead to it");
	return 0;
}

/* At rest only the cache and LRU batches hold references, and no lock is held without I/O. */
static int check_idle_folio(struct machine *m, const struct folio *folio, struct fl_error *err)
{
	s32 extra = folio->_refcount - (s32)folio_nr_pages(folio);

	if (!m->blk && folio_test_locked(folio))
		return broken(err, folio, "locked without I/O");
	if (extra < 0 || extra > 3)
		return broken(err, folio, "references nobody holds");
	for (unsigned long i = 0; i < folio_nr_pages(folio); i++)
		if (!(m->page_state[folio->_pfn + i] & PAGE_PROVENANCE_MASK))
			return broken(err, folio, "a page without provenance");
	return vm_check_folio(folio, err);
}

static int check_mapping(struct machine *m, struct address_space *mapping, u64 *pages,
			 u64 *folios, struct fl_error *err)
{
	XA_STATE(xas, &mapping->i_pages, 0);
	struct folio *folio;
	unsigned long nr = 0;
	int ret = xa_check(&mapping->i_pages, err);

	if (ret)
		return ret;
	xas_for_each(&xas, folio, ~0UL) {
		if (xa_is_value(folio))
			continue;
		ret = check_idle_folio(m, folio, err);
		if (ret)
			return ret;
		if (folio->mapping != mapping)
			return broken(err, folio, "cached in another mapping than it says");
		nr += folio_nr_pages(folio);
		(*folios)++;
	}
	if (nr != mapping->nrpages)
		return fl_error_set(err, -EINVAL, NULL, 0, "nrpages %lu, but %lu are cached",
				    mapping->nrpages, nr);
	*pages += nr;
	return 0;
}

static int check_lru(const struct lruvec *lruvec, struct fl_error *err)
{
	for (unsigned int i = 0; i < NR_LRU_LISTS; i++) {
		const struct folio *folio;
		unsigned long nr = 0;

		list_for_each_entry(folio, &lruvec->lists[i], lru) {
			if (!folio_test_lru(folio) || folio_lru_list(folio) != i)
				return broken(err, folio, "on the wrong LRU list");
			nr += folio_nr_pages(folio);
		}
		if (nr != lruvec->nr[i])
			return fl_error_set(err, -EINVAL, NULL, 0,
					    "LRU list %u counts %lu pages, holds %lu", i,
					    lruvec->nr[i], nr);
	}
	return 0;
}

static int check_zone(const struct machine *m, struct fl_error *err)
{
	const struct zone *zone = &m->mm->zone;
	u64 free = 0;

	for (unsigned int o = 0; o <= m->max_page_order; o++)
		free += hbitmap_count(&zone->free_area[o]) << o;
	if (free != zone->nr_free)
		return fl_error_set(err, -EINVAL, NULL, 0,
				    "the free lists hold %" PRIu64 " pages, nr_free is %lu", free,
				    zone->nr_free);
	if (free + m->mm->live_pages + zone->pinned != zone->managed_pages)
		return fl_error_set(err, -EINVAL, NULL, 0,
				    "%" PRIu64 " free + %lu in folios + %lu pinned pages are not %lu",
				    free, m->mm->live_pages, zone->pinned, zone->managed_pages);
	return 0;
}

void vm_check_nothing_left(const struct machine *m)
{
	const struct mm_state *mm = m->mm;

	if (!mm || (!mm->live_folios && !mm->live_pages && !mm->xa_nodes.live &&
		    mm->zone.nr_free + mm->zone.pinned == mm->zone.managed_pages))
		return;
	fprintf(stderr, "leak: %" PRIu64 " folios, %lu pages, %" PRIu64 " tree nodes\n",
		mm->live_folios, mm->live_pages, mm->xa_nodes.live);
	abort();
}

int vm_check_machine(struct machine *m, struct fl_error *err)
{
	struct address_space *mapping;
	u64 pages = 0, folios = 0;
	int ret;

	list_for_each_entry(mapping, &m->mm->mappings, m_mappings) {
		ret = check_mapping(m, mapping, &pages, &folios, err);
		if (ret)
			return ret;
	}
	if (pages != m->mm->vm.nr_file_pages || pages != m->mm->live_pages ||
	    folios != m->mm->live_folios)
		return fl_error_set(err, -EINVAL, NULL, 0,
				    "%" PRIu64 " pages in %" PRIu64 " folios are cached, but %lu in %"
				    PRIu64 " are alive and %lu counted", pages, folios,
				    m->mm->live_pages, m->mm->live_folios,
				    m->mm->vm.nr_file_pages);
	ret = check_lru(&m->mm->lruvec, err);
	return ret ? ret : check_zone(m, err);
}
