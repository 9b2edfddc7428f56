/*
 * Taking mappings away: munmap, MADV_DONTNEED, truncation, reclaim.
 *
 * Mirrors the second half of mm/memory.c (zap_pte_range() and friends), mm/mmu_gather.c and
 * zap_huge_pmd() of mm/huge_memory.c.
 */
#include <stdlib.h>

#include "mm/internal.h"
#include "mm/mm.h"
#include "mm/writeback.h"

/* mm/mmu_gather.c: slots in the struct, slots in a further page, and how many of these at most. */
#define MMU_GATHER_BUNDLE      8
#define MAX_GATHER_BATCH       510
#define MAX_GATHER_BATCH_COUNT 19

/* A run of pages of one folio whose references go once the TLB is flushed. */
struct gathered {
	struct folio *folio;
	unsigned int nr;
	unsigned int first; /* page of the folio it begins with */
	bool delayed_rmap;  /* its rmap is still there */
};

struct mmu_gather {
	struct machine *m;
	bool young;	      /* young PTEs mark their folio accessed */
	bool even_cows;	      /* markers of bad pages go, too */
	unsigned int batch;   /* slots used in the batch that is filled */
	unsigned int batches; /* further batches taken so far */
	unsigned int nr, cap;
	bool delayed_rmap; /* of one of the runs gathered */
	struct gathered *gathered;
};

static void tlb_gather_mmu(struct mmu_gather *tlb, struct machine *m, bool young, bool even_cows)
{
	*tlb = (struct mmu_gather){.m = m, .young = young, .even_cows = even_cows};
}

/* The TLB was flushed: what was dirty loses its rmap too. mm/mmu_gather.c */
static void tlb_flush_rmaps(struct mmu_gather *tlb)
{
	for (unsigned int i = 0; tlb->delayed_rmap && i < tlb->nr; i++) {
		struct gathered *g = &tlb->gathered[i];

		if (g->delayed_rmap)
			folio_remove_rmap_ptes(g->folio, g->first, g->nr);
		g->delayed_rmap = false;
	}
	tlb->delayed_rmap = false;
}

/* Flush the TLB and drop the references gathered. mm/mmu_gather.c tlb_flush_mmu(). */
static void tlb_flush_mmu(struct mmu_gather *tlb)
{
	struct machine *m = tlb->m;

	if (!tlb->nr)
		return;
	charge(m, COST_TLB_FLUSH, 1);
	tlb_flush_rmaps(tlb);
	for (unsigned int i = 0; i < tlb->nr; i++) {
		charge(m, COST_RMW_PUT, 1);
		folio_put_refs(tlb->gathered[i].folio, tlb->gathered[i].nr);
	}
	tlb->nr = tlb->batch = tlb->batches = 0;
}

static void tlb_finish_mmu(struct mmu_gather *tlb)
{
	tlb_flush_mmu(tlb);
	free(tlb->gathered);
}

/* Without memory for another run its references go at once, as if the gather were full. */
static bool gather(struct mmu_gather *tlb, const struct gathered *g)
{
	if (tlb->nr == tlb->cap) {
		unsigned int cap = tlb->cap ? 2 * tlb->cap : 64;
		struct gathered *p = realloc(tlb->gathered, cap * sizeof(*p));

		if (!p) {
			if (g->delayed_rmap)
				folio_remove_rmap_ptes(g->folio, g->first, g->nr);
			charge(tlb->m, COST_RMW_PUT, 1);
			folio_put_refs(g->folio, g->nr);
			return false;
		}
		tlb->gathered = p;
		tlb->cap = cap;
	}
	tlb->gathered[tlb->nr++] = *g;
	tlb->delayed_rmap |= g->delayed_rmap;
	return true;
}

/* Remember a run; true if the gather is full and must be flushed. __tlb_remove_folio_pages(). */
static bool tlb_remove_folio_pages(struct mmu_gather *tlb, const struct gathered *g)
{
	bool pair = knob(tlb->m, GATHER_PAIR);
	unsigned int slots = pair && g->nr > 1 ? 2 : 1;
	unsigned int max = tlb->batches ? MAX_GATHER_BATCH : MMU_GATHER_BUNDLE;

	if (!gather(tlb, g))
		return true;
	charge(tlb->m, COST_GATHER_SLOT, slots);
	tlb->batch += slots;
	if (tlb->batch < max - pair)
		return false;
	if (tlb->batches == MAX_GATHER_BATCH_COUNT)
		return true;
	tlb->batches++;
	tlb->batch = 0;
	return false;
}

/* ---- PTEs ---- */

/* One page table, or a part of it, being emptied. */
struct zap {
	struct mmu_gather *tlb;
	struct vm_area_struct *vma;
	struct pmd *pmd;
	unsigned long table; /* address of the table's first page */
	bool dirty;	     /* a dirty PTE was met: the TLB is flushed before the lock goes */
};

/* PTEs from @t on, before @end, that map consecutive pages of one folio; their bits together. */
static unsigned int folio_pte_batch(const struct zap *z, unsigned int t, unsigned int end,
				    pte_t *bits)
{
	const pte_t *pte = z->pmd->pte;
	struct folio *folio = pte_folio(pte[t]);
	unsigned int nr = 1;

	*bits = pte[t] & PTE_FLAGS;
	if (!knob(z->tlb->m, STAT_PER_UNMAP) || !folio_test_large(folio))
		return 1;
	while (t + nr < end && pte_folio(pte[t + nr]) == folio) {
		*bits |= pte[t + nr] & PTE_FLAGS;
		nr++;
	}
	return nr;
}

static void zap_dirty(struct folio *folio)
{
	charge(folio_machine(folio), COST_DIRTY_FOLIO, 1);
	folio_mark_dirty(folio);
}

static void zap_accessed(const struct zap *z, struct folio *folio, unsigned int nr, pte_t bits)
{
	if (!(bits & PTE_YOUNG) || !z->tlb->young)
		return;
	for (unsigned int i = knob(z->tlb->m, ZAP_MARK_ACCESSED) ? 1 : nr; i; i--)
		folio_mark_accessed(folio);
}

/* Empty a run; true if the gather is full. zap_present_folio_ptes(). */
static bool zap_present_ptes(struct zap *z, unsigned int t, unsigned int nr, pte_t bits)
{
	struct machine *m = z->tlb->m;
	struct folio *folio = pte_folio(z->pmd->pte[t]);
	unsigned int first =
		linear_page_index(z->vma, z->table + ((u64)t << m->page_shift)) - folio->index;
	struct gathered g = {.folio = folio, .nr = nr, .first = first};

	charge2(m, COST_ZAP_BATCH, 1, COST_ZAP_PTE, nr);
	for (unsigned int i = 0; i < nr; i++)
		z->pmd->pte[t + i] = 0;
	z->pmd->present -= nr;
	if (bits & PTE_DIRTY) {
		zap_dirty(folio);
		z->dirty = true;
		g.delayed_rmap = knob(m, DELAYED_RMAP);
	}
	zap_accessed(z, folio, nr, bits);
	trace_event(&m->trace, EV_fl_unmap, folio->_order, folio->mapping->host->i_ino,
		    folio->index + first, nr, bits);
	if (!g.delayed_rmap)
		folio_remove_rmap_ptes(folio, first, nr);
	return tlb_remove_folio_pages(z->tlb, &g);
}

/* Returns how many entries are gone; none of them was in the rss. */
static unsigned int zap_marker(struct zap *z, unsigned int t)
{
	if (!z->tlb->even_cows)
		return 0;
	z->pmd->pte[t] = 0;
	z->pmd->present--;
	return 1;
}

static void zap_pte_range(struct zap *z, unsigned int t, unsigned int end)
{
	struct machine *m = z->tlb->m;
	unsigned int before;

	lock_excl(m, PTL, &z->pmd->ptl);
	before = z->pmd->present;
	while (t < end && z->pmd->present) {
		unsigned int nr;
		pte_t bits;

		if (!z->pmd->pte[t]) {
			t++;
			continue;
		}
		if (z->pmd->pte[t] & PTE_MARKER_POISONED) {
			before -= zap_marker(z, t++);
			continue;
		}
		nr = folio_pte_batch(z, t, end, &bits);
		if (zap_present_ptes(z, t, nr, bits))
			tlb_flush_mmu(z->tlb);
		t += nr;
	}
	if (z->dirty) {
		charge(m, COST_TLB_FLUSH, 1);
		tlb_flush_rmaps(z->tlb);
	}
	z->vma->vm_mm->rss -= before - z->pmd->present;
	charge(m, COST_RSS, 1);
	unlock_excl(m, PTL, &z->pmd->ptl);
}

/* ---- PMDs ---- */

static void zap_huge_pmd(struct zap *z)
{
	struct machine *m = z->tlb->m;
	struct folio *folio = pte_folio(z->pmd->huge);
	pte_t bits = z->pmd->huge & PTE_FLAGS;

	charge2(m, COST_ZAP_BATCH, 1, COST_ZAP_PTE, 1);
	z->pmd->huge = 0;
	if (bits & PTE_DIRTY)
		zap_dirty(folio);
	zap_accessed(z, folio, 1, bits);
	trace_event(&m->trace, EV_fl_unmap_pmd, folio->_order, folio->mapping->host->i_ino,
		    folio->index, folio_nr_pages(folio), bits);
	folio_remove_rmap_pmd(folio);
	z->vma->vm_mm->rss -= folio_nr_pages(folio);
	charge(m, COST_RSS, 1);
	if (tlb_remove_folio_pages(z->tlb, &(struct gathered){.folio = folio, .nr = 1}))
		tlb_flush_mmu(z->tlb);
}

/* A file's PMD mapping that is needed in parts goes as a whole: its pages fault again. */
static void zap_pmd(struct mmu_gather *tlb, struct vm_area_struct *vma, struct pmd *pmd,
		    unsigned long start, unsigned long end)
{
	struct machine *m = tlb->m;
	unsigned long size = 1UL << pmd_shift(m), table = round_down(start, size);
	struct zap z = {.tlb = tlb, .vma = vma, .pmd = pmd, .table = table};

	if (pmd->huge) {
		lock_excl_smp(m, PTL, &pmd->ptl);
		if (pmd->huge)
			zap_huge_pmd(&z);
		unlock_excl(m, PTL, &pmd->ptl);
	}
	if (pmd->pte && pmd->present)
		zap_pte_range(&z, pte_index(m, start),
			      end == table + size ? ptrs_per_pte(m) : pte_index(m, end));
}

static void unmap_page_range(struct mmu_gather *tlb, struct vm_area_struct *vma,
			     unsigned long start, unsigned long end)
{
	unsigned int shift = pmd_shift(tlb->m);
	unsigned long index = start >> shift, last = (end - 1) >> shift;
	struct pmd *pmd;

	while ((pmd = xa_find(&vma->vm_mm->pgd, &index, last, XA_PRESENT))) {
		unsigned long from = max(start, index << shift);
		unsigned long to = min(end, (index + 1) << shift);

		zap_pmd(tlb, vma, pmd, from, to);
		index++;
	}
}

/* ---- entry points ---- */

static void zap_range(struct vm_area_struct *vma, unsigned long start, unsigned long end,
		      bool young, bool even_cows)
{
	struct mmu_gather tlb;

	if (start >= end)
		return;
	tlb_gather_mmu(&tlb, vma->vm_mm->machine, young, even_cows);
	unmap_page_range(&tlb, vma, start, end);
	tlb_finish_mmu(&tlb);
}

void zap_page_range(struct vm_area_struct *vma, unsigned long start, unsigned long end)
{
	zap_range(vma, start, end, vma_has_recency(vma), true);
}

void unmap_folio_range(struct vm_area_struct *vma, unsigned long start, unsigned long end)
{
	zap_range(vma, start, end, false, false);
}

void split_huge_pmd(struct vm_area_struct *vma, struct pmd *pmd, unsigned long address)
{
	unsigned long size = 1UL << pmd_shift(vma->vm_mm->machine);

	if (pmd->huge)
		zap_page_range(vma, round_down(address, size), round_down(address, size) + size);
}

void unmap_mapping_pages(struct address_space *mapping, pgoff_t start, pgoff_t nr, bool even_cows)
{
	pgoff_t end = nr && start + nr > start ? start + nr : ~0UL;
	struct machine *m = mapping_machine(mapping);
	struct vm_area_struct *vma;

	if (list_empty(&mapping->i_mmap))
		return;
	lock_shared(m, I_MMAP_RWSEM, &mapping->i_mmap_rwsem);
	list_for_each_entry(vma, &mapping->i_mmap, shared) {
		pgoff_t first = max(start, vma->vm_pgoff);
		pgoff_t last = min(end, vma->vm_pgoff + vma_pages(vma));

		if (first < last)
			zap_range(vma, vma_address(vma, first), vma_address(vma, last),
				  vma_has_recency(vma), even_cows);
	}
	unlock_shared(m, I_MMAP_RWSEM, &mapping->i_mmap_rwsem);
}

void unmap_mapping_range(struct address_space *mapping, loff_t holebegin, loff_t holelen,
			 bool even_cows)
{
	unsigned int shift = mapping_machine(mapping)->page_shift;
	u64 mask = (1UL << shift) - 1;
	pgoff_t first = (u64)holebegin >> shift;

	unmap_mapping_pages(mapping, first, holelen ? ((u64)holelen + mask) >> shift : 0,
			    even_cows);
}
