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
#include "mm/mm.h"

static int broken(struct fl_error *err, const struct folio *folio, const char *what)
{
	return fl_error_set(err, -EINVAL, NULL, 0,
			    "folio pfn 0x%x index %lu order %u refcount %d flags 0x%lx: %s",
			    folio->_pfn, folio->index, folio->_order, folio->_refcount,
			    folio->flags, what);
}

/* Do the counters of who maps the folio agree with each other? */
static int check_mapcounts(const struct folio *folio, struct fl_error *err)
{
	s32 sum = folio->_entire_mapcount;
	unsigned int mapped = 0;

	if (!folio_test_large(folio))
		return folio->_mapcount < 0 || folio->_entire_mapcount || folio->_nr_pages_mapped
			       ? broken(err, folio, "mapcounts of a single page wrong")
			       : 0;
	for (unsigned long i = 0; i < folio_nr_pages(folio); i++) {
		sum += folio_page_mapcount(folio, i);
		mapped += folio_page_mapcount(folio, i) > 0;
	}
	if (sum != folio->_mapcount)
		return broken(err, folio, "its pages' mapcounts do not add up to its own");
	if (mapped != folio->_nr_pages_mapped)
		return broken(err, folio, "_nr_pages_mapped is not the pages mapped");
	return 0;
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
	if (folio->_order > m->max_pagecache_order || (folio->_order == 1 && !knob(m, ORDER1)))
		return broken(err, folio, "an order this kernel does not have");
	if (folio->_refcount < (s32)nr + folio->_mapcount)
		return broken(err, folio, "fewer references than cache and mappings hold");
	for (unsigned long i = 0; i < nr; i++)
		if (xa_load(&mapping->i_pages, folio->index + i) != folio)
			return broken(err, folio, "an index of it does not lead to it");
	return check_mapcounts(folio, err);
}

/* The n-th LRU batch of all CPUs, or NULL. */
static const struct folio_batch *nth_fbatch(const struct machine *m, unsigned int n)
{
	const struct cpu_fbatches *fbatches = &m->mm->cpus[n / 3].fbatches;

	if (n / 3 > m->nr_cpus)
		return NULL;
	return n % 3 == 0   ? &fbatches->lru_add
	       : n % 3 == 1 ? &fbatches->lru_deactivate_file
			    : &fbatches->lru_activate;
}

/* How often a folio waits in LRU batches: one that is marked again and again may do so often. */
static s32 batched_refs(const struct machine *m, const struct folio *folio)
{
	const struct folio_batch *fbatch;
	s32 refs = 0;

	for (unsigned int b = 0; (fbatch = nth_fbatch(m, b)); b++)
		for (unsigned int i = 0; i < fbatch->nr; i++)
			refs += fbatch->folios[i] == folio;
	return refs;
}

/*
 * At rest only the cache, LRU batches, the file system's private data and, of a bad page, the
 * handler of its failure hold references, and no lock is held without I/O.
 */
static int check_idle_folio(struct machine *m, const struct folio *folio, struct fl_error *err)
{
	s32 extra = folio->_refcount - (s32)folio_nr_pages(folio) - folio->_mapcount;

	if (extra)
		extra -= batched_refs(m, folio);
	if (!m->blk && folio_test_locked(folio))
		return broken(err, folio, "locked without I/O");
	if (extra < 0 || extra > folio_test_private(folio) + folio_test_hwpoison(folio))
		return broken(err, folio, "references nobody holds");
	for (unsigned long i = 0; i < folio_nr_pages(folio); i++)
		if (!(m->page_state[folio->_pfn + i] & PAGE_PROVENANCE_MASK))
			return broken(err, folio, "a page without provenance");
	return vm_check_folio(folio, err);
}

/* Sums over all page tables, to be laid beside the folios' own counts. */
struct map_sums {
	u64 mappings;	    /* PTEs and PMDs */
	u64 folio_mappings; /* _mapcount of all folios */
	u64 mapped;	    /* NR_FILE_MAPPED as the folios say */
};

/* What the folio adds to NR_FILE_MAPPED. */
static u64 folio_pages_mapped(const struct folio *folio)
{
	if (folio->_entire_mapcount)
		return folio_nr_pages(folio);
	return folio_test_large(folio) ? folio->_nr_pages_mapped : folio->_mapcount > 0;
}

static int check_mapping(struct machine *m, struct address_space *mapping, u64 *pages, u64 *folios,
			 struct map_sums *sums, struct fl_error *err)
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
		sums->folio_mappings += folio->_mapcount;
		sums->mapped += folio_pages_mapped(folio);
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

static int check_pte(const struct vm_area_struct *vma, unsigned long addr, pte_t pte,
		     struct fl_error *err)
{
	const struct folio *folio = pte_folio(pte);
	pgoff_t pgoff = linear_page_index(vma, addr);

	if (!(pte & PTE_PRESENT) || folio->mapping != vma->vm_file->f_mapping)
		return broken(err, folio, "mapped, but not of the file that is mapped there");
	if (pgoff < folio->index || pgoff >= folio_next_index(folio))
		return broken(err, folio, "mapped where another page belongs");
	return 0;
}

/* One PMD region of a VMA; counts the entries of it that lie in the VMA. */
static int check_pmd(const struct vm_area_struct *vma, const struct pmd *pmd, unsigned long table,
		     struct map_sums *sums, struct fl_error *err)
{
	const struct machine *m = vma->vm_mm->machine;
	int ret = 0;

	if (pmd->huge && pmd->present)
		return fl_error_set(err, -EINVAL, NULL, 0, "a PMD is huge and has PTEs");
	if (pmd->huge) {
		sums->mappings++;
		return check_pte(vma, table, pmd->huge, err);
	}
	for (unsigned long t = 0; pmd->present && t < ptrs_per_pte(m) && !ret; t++) {
		unsigned long addr = table + (t << m->page_shift);

		if (!pmd->pte[t] || pmd->pte[t] & PTE_MARKER_POISONED || addr < vma->vm_start ||
		    addr >= vma->vm_end)
			continue;
		sums->mappings++;
		ret = check_pte(vma, addr, pmd->pte[t], err);
	}
	return ret;
}

static int check_mm(struct mm_struct *mm, struct map_sums *sums, struct fl_error *err)
{
	unsigned int shift = pmd_shift(mm->machine);
	struct vm_area_struct *vma;
	int ret = 0;

	list_for_each_entry(vma, &mm->mmap, vm_list) {
		unsigned long index = vma->vm_start >> shift, last = (vma->vm_end - 1) >> shift;
		struct pmd *pmd;

		while (!ret && (pmd = xa_find(&mm->pgd, &index, last, XA_PRESENT))) {
			ret = check_pmd(vma, pmd, index << shift, sums, err);
			index++;
		}
	}
	return ret;
}

/* Every PTE leads to the right page, and all counts of mappings agree. */
static int check_mappings(struct machine *m, struct map_sums *sums, struct fl_error *err)
{
	struct mm_struct *mm;
	int ret = 0;

	list_for_each_entry(mm, &m->mm->mms, mmlist) {
		ret = check_mm(mm, sums, err);
		if (ret)
			return ret;
	}
	if (sums->mappings != sums->folio_mappings || sums->mapped != m->mm->vm.nr_file_mapped)
		return fl_error_set(err, -EINVAL, NULL, 0,
				    "%" PRIu64 " PTEs and PMDs, but folios count %" PRIu64
				    "; %" PRIu64 " pages are mapped, NR_FILE_MAPPED is %lu",
				    sums->mappings, sums->folio_mappings, sums->mapped,
				    m->mm->vm.nr_file_mapped);
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
	if (free + m->mm->live_pages + zone->pinned + m->mm->mf.off_buddy != zone->managed_pages)
		return fl_error_set(err, -EINVAL, NULL, 0,
				    "%" PRIu64
				    " free + %lu in folios + %lu pinned pages are not %lu",
				    free, m->mm->live_pages, zone->pinned, zone->managed_pages);
	return 0;
}

/* Bad pages that left their cache: single, held by nobody but the handler of the failure. */
static u64 count_kept(const struct machine *m)
{
	u64 kept = 0;

	for (u64 i = 0; m->mm->mf.num_poisoned_pages && i < m->mm->next_folio; i++) {
		const struct folio *folio = &m->mm->folios[i];

		kept += folio->_refcount == 1 && !folio->mapping && folio_test_hwpoison(folio) &&
			!folio_test_large(folio);
	}
	return kept;
}

/* Every bad page inside a free block was let in there as a part of a larger one. */
static int check_poison(const struct machine *m, struct fl_error *err)
{
	const struct zone *zone = &m->mm->zone;
	unsigned long bad = 0;

	if (!m->mm->mf.num_poisoned_pages)
		return 0;
	for (unsigned long pfn = 0; pfn < m->max_pfn; pfn++) {
		bool is_free = false;

		if (!page_hwpoison(m, pfn))
			continue;
		for (unsigned int o = 0; o <= m->max_page_order; o++)
			is_free |= hbitmap_test(&zone->free_area[o], pfn >> o);
		bad += is_free;
	}
	if (bad != m->mm->mf.in_buddy)
		return fl_error_set(err, -EINVAL, NULL, 0,
				    "%lu bad pages are free, %lu are known to be", bad,
				    m->mm->mf.in_buddy);
	return 0;
}

void vm_check_nothing_left(const struct machine *m)
{
	const struct mm_state *mm = m->mm;
	u64 kept;

	if (!mm)
		return;
	kept = count_kept(m);
	if (mm->live_folios == kept && mm->live_pages == kept && !mm->xa_nodes.live &&
	    mm->zone.nr_free + mm->zone.pinned + mm->mf.off_buddy + kept == mm->zone.managed_pages)
		return;
	fprintf(stderr, "leak: %" PRIu64 " folios, %lu pages, %" PRIu64 " tree nodes\n",
		mm->live_folios, mm->live_pages, mm->xa_nodes.live);
	abort();
}

/* Does the folio also wait before place @i of batch @b? */
static bool batched_before(const struct machine *m, const struct folio *folio, unsigned int b,
			   unsigned int i)
{
	const struct folio_batch *fbatch;

	for (unsigned int c = 0; c <= b && (fbatch = nth_fbatch(m, c)); c++)
		for (unsigned int k = 0; k < (c < b ? fbatch->nr : i); k++)
			if (fbatch->folios[k] == folio)
				return true;
	return false;
}

/* Add the folios that left their cache and live on only in an LRU batch, each once. */
static void count_batched(const struct machine *m, u64 *pages, u64 *folios)
{
	const struct folio_batch *fbatch;

	for (unsigned int b = 0; (fbatch = nth_fbatch(m, b)); b++)
		for (unsigned int i = 0; i < fbatch->nr; i++) {
			const struct folio *folio = fbatch->folios[i];

			if (folio->mapping || batched_before(m, folio, b, i))
				continue;
			*pages += folio_nr_pages(folio);
			(*folios)++;
		}
}

int vm_check_machine(struct machine *m, struct fl_error *err)
{
	struct address_space *mapping;
	struct map_sums sums = {0};
	u64 pages = 0, folios = 0, cached;
	int ret;

	list_for_each_entry(mapping, &m->mm->mappings, m_mappings) {
		ret = check_mapping(m, mapping, &pages, &folios, &sums, err);
		if (ret)
			return ret;
	}
	cached = pages;
	count_batched(m, &pages, &folios);
	pages += count_kept(m);
	folios += count_kept(m);
	if (cached != m->mm->vm.nr_file_pages || pages != m->mm->live_pages ||
	    folios != m->mm->live_folios)
		return fl_error_set(err, -EINVAL, NULL, 0,
				    "%" PRIu64 " pages in %" PRIu64
				    " folios are held, but %lu in %" PRIu64
				    " are alive and %lu counted",
				    pages, folios, m->mm->live_pages, m->mm->live_folios,
				    m->mm->vm.nr_file_pages);
	ret = check_mappings(m, &sums, err);
	if (!ret)
		ret = check_lru(&m->mm->lruvec, err);
	if (!ret)
		ret = check_zone(m, err);
	return ret ? ret : check_poison(m, err);
}

void vm_bug_on_folio(const struct folio *folio, const char *condition, const char *file)
{
	struct machine *m = folio_machine(folio);

	machine_bug(m,
		    "page: refcount:%d mapcount:%d mapping:ino %u index:0x%lx pfn:0x%x\n"
		    "head: order:%u locked:%d uptodate:%d private:%d\n"
		    "page dumped because: VM_BUG_ON_FOLIO(%s)\n"
		    "------------[ cut here ]------------\n"
		    "kernel BUG at %s!\n",
		    folio_ref_count(folio), (int)folio->_mapcount, folio->mapping->host->i_ino,
		    folio->index, folio->_pfn, folio->_order, folio_test_locked(folio),
		    folio_test_uptodate(folio), folio_test_private(folio), condition, file);
}
