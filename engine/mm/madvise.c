/*
 * madvise(2) on mapped files.
 *
 * Mirrors mm/madvise.c.
 */
#include <errno.h>

#include "mm/internal.h"
#include "mm/mm.h"

static void set_flags(struct vm_area_struct *vma, unsigned long clear, unsigned long set)
{
	vma->vm_flags = (vma->vm_flags & ~clear) | set;
}

static int madvise_willneed(struct vm_area_struct *vma, unsigned long start, unsigned long end)
{
	loff_t offset = (loff_t)linear_page_index(vma, start) << vma->vm_mm->machine->page_shift;

	return vfs_fadvise(vma->vm_file, offset, end - start, POSIX_FADV_WILLNEED_);
}

/* PTEs of the folio in [start, end): cleared of their young bits. */
static void make_old(struct vm_area_struct *vma, const struct folio *folio, unsigned long start,
		     unsigned long end)
{
	const struct machine *m = vma->vm_mm->machine;

	for (unsigned long addr = start; addr < end; addr += m->page_size) {
		struct pmd *pmd = pmd_offset(vma->vm_mm, addr);

		if (pmd && pmd->huge && pte_folio(pmd->huge) == folio)
			pmd->huge &= ~PTE_YOUNG;
		else if (pmd && pmd->pte && pte_folio(pmd->pte[pte_index(m, addr)]) == folio)
			pmd->pte[pte_index(m, addr)] &= ~PTE_YOUNG;
	}
}

/* Is the folio mapped by somebody else too, as far as its head can tell? */
static bool mapped_elsewhere(const struct folio *folio)
{
	if (folio->_entire_mapcount)
		return folio->_mapcount != 1;
	return folio->_mapcount > (s32)folio_nr_pages(folio);
}

/* Cold or out: one folio mapped in [start, end). Cut first where it sticks out of the range. */
static void cold_or_pageout_folio(struct vm_area_struct *vma, struct folio *folio,
				  unsigned long start, unsigned long end, bool pageout)
{
	pgoff_t first = linear_page_index(vma, start), last = linear_page_index(vma, end - 1);
	bool inside = folio->index >= first && folio_next_index(folio) - 1 <= last;

	if (mapped_elsewhere(folio) || folio_test_unevictable(folio))
		return;
	if (!inside) {
		if (!folio_trylock(folio))
			return;
		if (folio->mapping == vma->vm_file->f_mapping)
			split_folio_at(folio, max(first, folio->index));
		folio_unlock(folio);
		return;
	}
	make_old(vma, folio, vma_address(vma, folio->index),
		 vma_address(vma, folio->index) +
			 (folio_nr_pages(folio) << vma->vm_mm->machine->page_shift));
	folio_clear_referenced(folio);
	if (pageout)
		reclaim_folio(folio);
	else
		folio_deactivate(folio);
}

static void madvise_cold_or_pageout(struct vm_area_struct *vma, unsigned long start,
				    unsigned long end, bool pageout)
{
	struct address_space *mapping = vma->vm_file->f_mapping;
	pgoff_t index = linear_page_index(vma, start), last = linear_page_index(vma, end - 1);

	lru_add_drain(vma->vm_mm->machine);
	while (index <= last) {
		struct folio *folio = filemap_get_folio(mapping, index);

		if (!folio) {
			index++;
			continue;
		}
		index = folio_next_index(folio);
		if (folio_mapped(folio))
			cold_or_pageout_folio(vma, folio, start, end, pageout);
		folio_put(folio);
	}
}

/* A memory error, or its announcement, for each folio found from @start on. */
static int madvise_inject_error(struct vm_area_struct *vma, unsigned long start, unsigned long end,
				bool soft)
{
	struct machine *m = vma->vm_mm->machine;
	int flags = MF_COUNT_INCREASED | MF_SW_SIMULATED;
	int ret = 0;

	if (knob(m, MF_MADV_ACTION))
		flags |= MF_ACTION_REQUIRED;
	if (start & (m->page_size - 1))
		return -EINVAL;
	while (start < end && !ret) {
		pgoff_t index = linear_page_index(vma, start);
		unsigned long pfn;
		struct folio *folio;

		ret = populate_range(vma, start, start + m->page_size, false);
		folio = ret ? NULL : filemap_get_folio(vma->vm_file->f_mapping, index);
		if (!folio)
			return -EFAULT;
		pfn = folio->_pfn + (index - folio->index);
		start += folio_size(folio);
		m->mm->mf.current_mm = vma->vm_mm;
		ret = soft ? soft_offline_page(m, pfn, MF_COUNT_INCREASED)
			   : memory_failure(m, pfn, flags);
		m->mm->mf.current_mm = NULL;
	}
	return ret;
}

int do_madvise(struct vm_area_struct *vma, unsigned long start, unsigned long end, int advice)
{
	switch (advice) {
	case MADV_NORMAL_:
		set_flags(vma, VM_RAND_READ | VM_SEQ_READ, 0);
		return 0;
	case MADV_RANDOM_:
		set_flags(vma, VM_SEQ_READ, VM_RAND_READ);
		return 0;
	case MADV_SEQUENTIAL_:
		set_flags(vma, VM_RAND_READ, VM_SEQ_READ);
		return 0;
	case MADV_HUGEPAGE_:
		set_flags(vma, VM_NOHUGEPAGE, VM_HUGEPAGE);
		return 0;
	case MADV_NOHUGEPAGE_:
		set_flags(vma, VM_HUGEPAGE, VM_NOHUGEPAGE);
		return 0;
	case MADV_WILLNEED_:
		return madvise_willneed(vma, start, end);
	case MADV_DONTNEED_:
		if (vma->vm_flags & VM_LOCKED)
			return -EINVAL;
		zap_page_range(vma, start, end);
		return 0;
	case MADV_COLD_:
	case MADV_PAGEOUT_:
		if (vma->vm_flags & VM_LOCKED)
			return -EINVAL;
		madvise_cold_or_pageout(vma, start, end, advice == MADV_PAGEOUT_);
		return 0;
	case MADV_HWPOISON_:
	case MADV_SOFT_OFFLINE_:
		return madvise_inject_error(vma, start, end, advice == MADV_SOFT_OFFLINE_);
	case MADV_POPULATE_READ_:
	case MADV_POPULATE_WRITE_:
		return populate_range(vma, start, end, advice == MADV_POPULATE_WRITE_);
	}
	return -EINVAL;
}
