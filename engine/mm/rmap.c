/*
 * Who maps a folio: mapcounts, NR_FILE_MAPPED, and the walk over all mappings.
 *
 * Mirrors mm/rmap.c, include/linux/rmap.h; the statistics are mm/memcontrol.c and mm/vmstat.c.
 * Differs: one struct a folio, so the mapcounts of single pages lie in an array by page frame,
 * touched for large folios only.
 */
#include <string.h>

#include "mm/internal.h"
#include "mm/mm.h"

/* mm/memcontrol.c MEMCG_CHARGE_BATCH */
#define MEMCG_CHARGE_BATCH 64

/* ---- NR_FILE_MAPPED ---- */

long calculate_normal_threshold(unsigned int cpus, u64 zone_bytes)
{
	u64 mem = zone_bytes >> 27; /* 128 MiB */
	long fls_cpus = cpus ? ilog2(cpus) + 1 : 0, fls_mem = mem ? ilog2(mem) + 1 : 0;

	return min(125L, 2 * fls_cpus * (1 + fls_mem));
}

void lruvec_stat_mod_folio(struct folio *folio, long val, enum cost_id id)
{
	struct machine *m = folio_machine(folio);
	struct lruvec_stats *stats = &m->mm->stats;

	charge(m, id, 1);
	if (knob(m, STAT_MEMCG_LOCK))
		charge(m, COST_STAT_MEMCG, 1);
	if (knob(m, STAT_PRIMITIVE))
		charge(m, COST_STAT_IRQ_SAFE, 1);
	m->mm->vm.nr_file_mapped += val;
	stats->node_diff += val;
	if (stats->node_diff > stats->threshold || stats->node_diff < -stats->threshold) {
		stats->node_diff = 0;
		charge(m, COST_NODE_FLUSH, 1);
	}
	stats->memcg_pending += val < 0 ? -val : val;
	if (stats->memcg_pending >= MEMCG_CHARGE_BATCH) {
		stats->memcg_pending = 0;
		charge(m, COST_MEMCG_FLUSH, 1);
	}
}

/* ---- mapcounts ---- */

static u16 *page_mapcounts(const struct folio *folio)
{
	return folio_machine(folio)->mm->page_mapcount + folio->_pfn;
}

unsigned int folio_page_mapcount(const struct folio *folio, unsigned int nr)
{
	return folio_test_large(folio) ? page_mapcounts(folio)[nr] : (unsigned int)folio->_mapcount;
}

/* Locked operations on a large folio's counters for a run of @nr pages, beside the pages' own. */
static unsigned int large_rmw(const struct machine *m, unsigned int nr)
{
	return (knob(m, NR_MAPPED_RMW) ? 1 : nr) + knob(m, LARGE_MAPCOUNT);
}

static void charge_owner(struct machine *m)
{
	if (knob(m, MM_OWNER_LOCK))
		charge(m, COST_MM_OWNER, 1);
}

void folio_add_file_rmap_ptes(struct folio *folio, unsigned int first, unsigned int nr)
{
	struct machine *m = folio_machine(folio);
	unsigned int newly = 0;
	u16 *mapcount;

	folio->_mapcount += nr;
	if (!folio_test_large(folio)) {
		charge(m, COST_RMW_RMAP, 1);
		newly = folio->_mapcount == 1;
	} else {
		mapcount = page_mapcounts(folio) + first;
		for (unsigned int i = 0; i < nr; i++)
			newly += !mapcount[i]++;
		folio->_nr_pages_mapped += newly;
		charge(m, COST_RMW_RMAP, nr + large_rmw(m, nr));
		charge_owner(m);
		if (folio->_entire_mapcount)
			newly = 0;
	}
	if (newly)
		lruvec_stat_mod_folio(folio, newly, COST_STAT_MAP);
}

void folio_remove_rmap_ptes(struct folio *folio, unsigned int first, unsigned int nr)
{
	struct machine *m = folio_machine(folio);
	unsigned int gone = 0;
	u16 *mapcount;

	folio->_mapcount -= nr;
	if (!folio_test_large(folio)) {
		charge(m, COST_RMW_UNMAP, 1);
		gone = !folio->_mapcount;
	} else {
		mapcount = page_mapcounts(folio) + first;
		for (unsigned int i = 0; i < nr; i++)
			gone += !--mapcount[i];
		folio->_nr_pages_mapped -= gone;
		charge(m, COST_RMW_UNMAP, nr + (knob(m, MAP_BATCH) ? large_rmw(m, nr) : 0));
		charge_owner(m);
		if (folio->_entire_mapcount)
			gone = 0;
	}
	if (gone)
		lruvec_stat_mod_folio(folio, -(long)gone, COST_STAT_UNMAP);
}

static unsigned int pmd_rmw(const struct machine *m, const struct folio *folio)
{
	if (knob(m, PMD_MAP_512))
		return 1 + folio_nr_pages(folio);
	return 2 + knob(m, LARGE_MAPCOUNT);
}

/* Pages whose NR_FILE_MAPPED depends on the first or last PMD mapping. */
static long pmd_stat(const struct folio *folio)
{
	return (long)folio_nr_pages(folio) - folio->_nr_pages_mapped;
}

void folio_add_file_rmap_pmd(struct folio *folio)
{
	struct machine *m = folio_machine(folio);

	folio->_mapcount++;
	charge(m, COST_RMW_RMAP, pmd_rmw(m, folio));
	charge_owner(m);
	if (folio->_entire_mapcount++)
		return;
	m->mm->vm.nr_file_pmdmapped += folio_nr_pages(folio);
	if (pmd_stat(folio))
		lruvec_stat_mod_folio(folio, pmd_stat(folio), COST_STAT_MAP);
}

void folio_remove_rmap_pmd(struct folio *folio)
{
	struct machine *m = folio_machine(folio);

	folio->_mapcount--;
	charge(m, COST_RMW_UNMAP, pmd_rmw(m, folio));
	charge_owner(m);
	if (--folio->_entire_mapcount)
		return;
	m->mm->vm.nr_file_pmdmapped -= folio_nr_pages(folio);
	if (pmd_stat(folio))
		lruvec_stat_mod_folio(folio, -pmd_stat(folio), COST_STAT_UNMAP);
}

/* ---- the walk over all mappings ---- */

bool vma_has_recency(const struct vm_area_struct *vma)
{
	if (vma->vm_flags & VM_SEQ_READ)
		return false;
	if (!knob(vma->vm_mm->machine, ZAP_RECENCY))
		return true;
	return !(vma->vm_flags & VM_RAND_READ) && !(vma->vm_file->f_mode & FMODE_NOREUSE);
}

/* The part of the folio that the VMA covers, as addresses; false if none. */
static bool folio_in_vma(const struct folio *folio, const struct vm_area_struct *vma,
			 unsigned long *start, unsigned long *end)
{
	pgoff_t first = max_t(pgoff_t, folio->index, vma->vm_pgoff);
	pgoff_t last = min_t(pgoff_t, folio_next_index(folio), vma->vm_pgoff + vma_pages(vma));

	if (first >= last)
		return false;
	*start = vma_address(vma, first);
	*end = vma_address(vma, last);
	return true;
}

/* Young PTEs and PMDs of [start, end) that map @folio; they become old. */
static unsigned int test_clear_young(struct vm_area_struct *vma, const struct folio *folio,
				     unsigned long start, unsigned long end)
{
	const struct machine *m = vma->vm_mm->machine;
	unsigned int young = 0;

	for (unsigned long addr = start; addr < end; addr += m->page_size) {
		struct pmd *pmd = pmd_offset(vma->vm_mm, addr);
		pte_t *pte = pmd && pmd->pte ? &pmd->pte[pte_index(m, addr)] : NULL;

		if (pmd && pmd->huge && addr == start)
			pte = &pmd->huge;
		if (!pte || pte_folio(*pte) != folio || !(*pte & PTE_YOUNG))
			continue;
		*pte &= ~PTE_YOUNG;
		young++;
	}
	return young;
}

unsigned int folio_referenced(struct folio *folio, unsigned long *vm_flags)
{
	struct machine *m = folio_machine(folio);
	struct address_space *mapping = folio->mapping;
	struct vm_area_struct *vma;
	unsigned long start, end;
	unsigned int referenced = 0;

	*vm_flags = 0;
	if (!folio_mapped(folio) || !folio->mapping)
		return 0;
	lock_shared(m, I_MMAP_RWSEM, &mapping->i_mmap_rwsem);
	list_for_each_entry(vma, &mapping->i_mmap, shared) {
		unsigned int young;

		if (!folio_in_vma(folio, vma, &start, &end))
			continue;
		charge(m, COST_FOLIO_REFERENCED, 1);
		*vm_flags |= vma->vm_flags & VM_LOCKED;
		young = test_clear_young(vma, folio, start, end);
		if (!young || !vma_has_recency(vma))
			continue;
		referenced += young;
		*vm_flags |= vma->vm_flags;
	}
	unlock_shared(m, I_MMAP_RWSEM, &mapping->i_mmap_rwsem);
	return referenced;
}

void try_to_unmap(struct folio *folio)
{
	struct machine *m = folio_machine(folio);
	struct address_space *mapping = folio->mapping;
	struct vm_area_struct *vma;
	unsigned long start, end;

	if (!folio_mapped(folio))
		return;
	lock_shared(m, I_MMAP_RWSEM, &mapping->i_mmap_rwsem);
	list_for_each_entry(vma, &mapping->i_mmap, shared) {
		if (!folio_in_vma(folio, vma, &start, &end))
			continue;
		charge(m, COST_TRY_TO_UNMAP, 1);
		unmap_folio_range(vma, start, end);
	}
	unlock_shared(m, I_MMAP_RWSEM, &mapping->i_mmap_rwsem);
}
