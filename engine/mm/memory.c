/*
 * Page faults on mapped files.
 *
 * Mirrors the first half of mm/memory.c; the loop around it is arch/x86/mm/fault.c and mm/gup.c.
 * Taking mappings away is in memory_zap.c. Differs: shared file mappings only, so there is no
 * copy on write; faults start under the VMA lock wherever the kernel has it.
 */
#include <errno.h>

#include "mm/internal.h"
#include "mm/mm.h"
#include "mm/writeback.h"

/* A fault that keeps asking for a retry is broken; the kernel itself gives no more than three. */
#define MAX_FAULT_TRIES 16

void set_fault_around_bytes(struct machine *m, unsigned long bytes)
{
	unsigned long pages = max(bytes >> m->page_shift, 1UL);

	m->mm->fault_around_pages = 1U << ilog2(min(pages, ptrs_per_pte(m)));
}

/* ---- mapping what was found ---- */

/* Without somebody to ask before the first store a shared mapping is writable from the start. */
static bool vma_wants_writenotify(const struct vm_area_struct *vma)
{
	return vma->vm_ops->page_mkwrite || !(vma->vm_flags & VM_WRITE);
}

static pte_t make_pte(const struct vm_area_struct *vma, const struct folio *folio,
		      unsigned int flags)
{
	pte_t pte = (uintptr_t)folio | PTE_PRESENT | PTE_YOUNG;

	if (flags & FAULT_FLAG_WRITE)
		return pte | PTE_WRITE | PTE_DIRTY;
	return vma_wants_writenotify(vma) ? pte : pte | PTE_WRITE;
}

/* Without batches every page counts by itself (v6.1 do_set_pte()). */
void set_pte_range(struct vm_fault *vmf, struct folio *folio, unsigned int first, unsigned int nr,
		   unsigned int t)
{
	struct mm_struct *mm = vmf->vma->vm_mm;
	struct machine *m = mm->machine;
	pte_t pte = make_pte(vmf->vma, folio, vmf->flags);
	bool batch = knob(m, MAP_BATCH);

	charge2(m, COST_SET_PTE, batch ? 1 : nr, COST_PTE_STORE, nr);
	if (batch)
		folio_add_file_rmap_ptes(folio, first, nr);
	else
		for (unsigned int i = 0; i < nr; i++)
			folio_add_file_rmap_ptes(folio, first + i, 1);
	for (unsigned int i = 0; i < nr; i++)
		vmf->pmd->pte[t + i] = pte;
	vmf->pmd->present += nr;
	mm->rss += nr;
	if (!knob(m, RSS_UNIT))
		charge(m, COST_RSS, batch ? 1 : nr);
	if (vmf->vma->vm_flags & VM_LOCKED)
		mlock_vma_folio(folio, nr);
	trace_event(&m->trace, EV_fl_set_pte_range, folio->_order, folio->mapping->host->i_ino,
		    folio->index + first, nr, !!(vmf->flags & FAULT_FLAG_WRITE));
}

/* Is the region wholly inside the VMA and at the same offset in memory and file? */
static bool thp_vma_suitable(const struct vm_area_struct *vma, unsigned long address)
{
	const struct machine *m = vma->vm_mm->machine;
	unsigned long size = 1UL << pmd_shift(m), haddr = round_down(address, size);
	unsigned long page = vma->vm_start >> m->page_shift;

	if ((page - vma->vm_pgoff) & (ptrs_per_pte(m) - 1))
		return false;
	return haddr >= vma->vm_start && haddr + size <= vma->vm_end;
}

static bool folio_has_poison(const struct folio *folio)
{
	const u8 *state = folio_machine(folio)->page_state + folio->_pfn;

	if (!folio_test_hwpoison(folio) && !folio_test_has_hwpoisoned(folio))
		return false;
	for (unsigned long i = 0; i < folio_nr_pages(folio); i++)
		if (state[i] & PAGE_HWPOISON)
			return true;
	return false;
}

vm_fault_t do_set_pmd(struct vm_fault *vmf, struct folio *folio)
{
	struct mm_struct *mm = vmf->vma->vm_mm;
	struct machine *m = mm->machine;

	if (folio_order(folio) != pmd_order(m) || !thp_vma_suitable(vmf->vma, vmf->address) ||
	    folio_has_poison(folio))
		return VM_FAULT_FALLBACK;
	if (vmf->vma->vm_flags & VM_NOHUGEPAGE && knob(m, PMD_MAP_ASKS_THP))
		return VM_FAULT_FALLBACK;
	charge(m, COST_PMD_MAP, 1);
	lock_excl(m, PTL, &vmf->pmd->ptl);
	folio_add_file_rmap_pmd(folio);
	vmf->pmd->huge = make_pte(vmf->vma, folio, vmf->flags);
	mm->rss += folio_nr_pages(folio);
	charge(m, COST_RSS, 1);
	m->mm->vm.thp_file_mapped++;
	trace_event(&m->trace, EV_fl_map_pmd, folio->_order, folio->mapping->host->i_ino,
		    folio->index, folio_nr_pages(folio), !!(vmf->flags & FAULT_FLAG_WRITE));
	unlock_excl(m, PTL, &vmf->pmd->ptl);
	return 0;
}

static bool pte_range_none(const struct pmd *pmd, unsigned int t, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		if (pmd->pte[t + i])
			return false;
	return true;
}

/* May finish_fault() map all of the folio? Its page @idx belongs to PTE @t. */
static bool finish_whole_folio(const struct vm_fault *vmf, const struct folio *folio,
			       unsigned long idx, unsigned long t)
{
	const struct vm_area_struct *vma = vmf->vma;
	const struct machine *m = vma->vm_mm->machine;
	unsigned long nr = folio_nr_pages(folio), vma_off = vmf->pgoff - vma->vm_pgoff;
	pgoff_t eof = DIV_ROUND_UP(i_size_read(folio->mapping->host), m->page_size);

	if (!knob(m, WHOLE_FOLIO_FINISH) || nr == 1 || eof < folio_next_index(folio))
		return false;
	if (vma_off < idx || vma_off + (nr - idx) > vma_pages(vma))
		return false;
	if (t < idx || t + (nr - idx) > ptrs_per_pte(m))
		return false;
	return pte_range_none(vmf->pmd, t - idx, nr);
}

/* A table for the PMD, the one at hand if there is one. */
static vm_fault_t install_table(struct vm_fault *vmf)
{
	struct machine *m = vmf->vma->vm_mm->machine;

	if (vmf->pmd->pte)
		return 0;
	if (!vmf->prealloc_pte)
		charge(m, COST_PGTABLE_ALLOC, 1);
	vmf->prealloc_pte = false;
	return pte_alloc(vmf->vma->vm_mm, vmf->pmd) ? VM_FAULT_OOM : 0;
}

/* With MAP_EOF_GUARD a folio that reaches past the last page is not mapped by a PMD here either. */
static bool finish_takes_pmd(const struct vm_fault *vmf, const struct folio *folio)
{
	const struct machine *m = vmf->vma->vm_mm->machine;
	pgoff_t eof = DIV_ROUND_UP(i_size_read(folio->mapping->host), m->page_size);

	if (!pmd_none(vmf->pmd) || !folio_test_large(folio))
		return false;
	return !knob(m, MAP_EOF_GUARD) || eof >= folio_next_index(folio);
}

vm_fault_t finish_fault(struct vm_fault *vmf)
{
	struct machine *m = vmf->vma->vm_mm->machine;
	struct folio *folio = vmf->folio;
	unsigned long idx = vmf->pgoff - folio->index, t = pte_index(m, vmf->address), nr = 1;

	if (finish_takes_pmd(vmf, folio) && do_set_pmd(vmf, folio) != VM_FAULT_FALLBACK)
		return 0;
	if (vmf->pmd->huge)
		return VM_FAULT_NOPAGE;
	if (install_table(vmf))
		return VM_FAULT_OOM;
	lock_excl(m, PTL, &vmf->pmd->ptl);
	if (vmf->pmd->pte[t]) {
		unlock_excl(m, PTL, &vmf->pmd->ptl);
		return VM_FAULT_NOPAGE;
	}
	if (finish_whole_folio(vmf, folio, idx, t)) {
		nr = folio_nr_pages(folio);
		t -= idx;
		idx = 0;
	}
	set_pte_range(vmf, folio, idx, nr, t);
	if (knob(m, RSS_UNIT))
		charge(m, COST_RSS, 1);
	folio_ref_add(folio, nr - 1);
	unlock_excl(m, PTL, &vmf->pmd->ptl);
	return 0;
}

/* ---- kinds of faults ---- */

/* Is the page that ->fault found fit to be mapped? */
static vm_fault_t check_poison(struct vm_fault *vmf)
{
	struct folio *folio = vmf->folio;
	struct machine *m = folio_machine(folio);

	vm_fault_t ret = VM_FAULT_HWPOISON;

	if (!(m->page_state[folio->_pfn + (vmf->pgoff - folio->index)] & PAGE_HWPOISON))
		return 0;
	if (folio_mapped(folio) && knob(m, MF_UNMAP_FOLIO))
		unmap_mapping_pages(folio->mapping, folio->index, folio_nr_pages(folio), false);
	else if (folio_mapped(folio))
		unmap_mapping_pages(folio->mapping, vmf->pgoff, 1, false);
	if (mapping_evict_folio(folio->mapping, folio))
		ret = VM_FAULT_NOPAGE; /* a clean page was dropped: try again */
	folio_unlock(folio);
	folio_put(folio);
	return ret;
}

static vm_fault_t __do_fault(struct vm_fault *vmf)
{
	vm_fault_t ret = vmf->vma->vm_ops->fault(vmf), poison;

	if (ret & (VM_FAULT_ERROR | VM_FAULT_NOPAGE | VM_FAULT_RETRY))
		return ret;
	poison = check_poison(vmf);
	return poison ? poison : ret;
}

/* The window of PTEs around the fault, aligned in virtual addresses. */
static vm_fault_t do_fault_around(struct vm_fault *vmf)
{
	struct machine *m = vmf->vma->vm_mm->machine;
	unsigned long nr = m->mm->fault_around_pages, t = pte_index(m, vmf->address);
	unsigned long v = vmf->pgoff - vmf->vma->vm_pgoff;
	unsigned long from = max(round_down(t, nr), t - min(t, v));
	unsigned long to = min(from + nr, min(ptrs_per_pte(m), t + vma_pages(vmf->vma) - v)) - 1;

	charge(m, COST_FAULT_AROUND, 1);
	if (pmd_none(vmf->pmd)) {
		charge(m, COST_PGTABLE_ALLOC, 1);
		vmf->prealloc_pte = true;
	}
	return vmf->vma->vm_ops->map_pages(vmf, vmf->pgoff + from - t, vmf->pgoff + to - t);
}

static vm_fault_t do_read_fault(struct vm_fault *vmf)
{
	struct machine *m = vmf->vma->vm_mm->machine;
	vm_fault_t ret;

	if (vmf->vma->vm_ops->map_pages && m->mm->fault_around_pages > 1) {
		ret = do_fault_around(vmf);
		if (ret)
			return ret;
	}
	ret = __do_fault(vmf);
	if (ret & (VM_FAULT_ERROR | VM_FAULT_NOPAGE | VM_FAULT_RETRY))
		return ret;
	ret |= finish_fault(vmf);
	folio_unlock(vmf->folio);
	if (ret & (VM_FAULT_ERROR | VM_FAULT_NOPAGE | VM_FAULT_RETRY))
		folio_put(vmf->folio);
	return ret;
}

static vm_fault_t do_page_mkwrite(struct vm_fault *vmf)
{
	struct machine *m = vmf->vma->vm_mm->machine;
	struct folio *folio = vmf->folio;

	if (!vmf->vma->vm_ops->page_mkwrite) {
		folio_lock(folio);
		return VM_FAULT_LOCKED;
	}
	charge(m, COST_PAGE_MKWRITE, 1);
	trace_event(&m->trace, EV_fl_page_mkwrite, folio->_order, vmf->vma->vm_file->f_inode->i_ino,
		    folio->index, 0, 0);
	return vmf->vma->vm_ops->page_mkwrite(vmf);
}

/* The folio is mapped writable and locked: dirty it and let it go. */
static void fault_dirty_shared_page(struct vm_fault *vmf)
{
	charge(vmf->vma->vm_mm->machine, COST_DIRTY_FOLIO, 1);
	folio_mark_dirty(vmf->folio);
	folio_unlock(vmf->folio);
}

static vm_fault_t do_shared_fault(struct vm_fault *vmf)
{
	vm_fault_t ret = __do_fault(vmf), tmp;

	if (ret & (VM_FAULT_ERROR | VM_FAULT_NOPAGE | VM_FAULT_RETRY))
		return ret;
	folio_unlock(vmf->folio);
	tmp = do_page_mkwrite(vmf);
	if (!tmp || tmp & (VM_FAULT_ERROR | VM_FAULT_NOPAGE)) {
		folio_put(vmf->folio);
		return tmp;
	}
	ret |= finish_fault(vmf);
	if (ret & (VM_FAULT_ERROR | VM_FAULT_NOPAGE | VM_FAULT_RETRY)) {
		folio_unlock(vmf->folio);
		folio_put(vmf->folio);
		return ret;
	}
	fault_dirty_shared_page(vmf);
	return ret;
}

/* Mapped for reading, now written: ask the file system, then make the one PTE writable. */
static vm_fault_t wp_page_shared(struct vm_fault *vmf, pte_t *pte)
{
	struct folio *folio = pte_folio(*pte);
	struct machine *m = folio_machine(folio);
	vm_fault_t ret;

	folio_get(folio);
	vmf->folio = folio;
	ret = do_page_mkwrite(vmf);
	if (!ret || ret & (VM_FAULT_ERROR | VM_FAULT_NOPAGE)) {
		folio_put(folio);
		return ret;
	}
	lock_excl(m, PTL, &vmf->pmd->ptl);
	if (pte_folio(*pte) == folio) /* nobody unmapped it meanwhile */
		*pte |= PTE_WRITE | PTE_DIRTY | PTE_YOUNG;
	unlock_excl(m, PTL, &vmf->pmd->ptl);
	fault_dirty_shared_page(vmf);
	folio_put(folio);
	return 0;
}

static vm_fault_t handle_pte_fault(struct vm_fault *vmf)
{
	struct machine *m = vmf->vma->vm_mm->machine;
	pte_t *pte = vmf->pmd->pte ? &vmf->pmd->pte[pte_index(m, vmf->address)] : NULL;
	vm_fault_t ret;

	if (pte && *pte & PTE_MARKER_POISONED)
		return VM_FAULT_HWPOISON;
	if (pte && *pte)
		return vmf->flags & FAULT_FLAG_WRITE ? wp_page_shared(vmf, pte) : 0;
	ret = vmf->flags & FAULT_FLAG_WRITE ? do_shared_fault(vmf) : do_read_fault(vmf);
	if (vmf->prealloc_pte)
		charge(m, COST_PGTABLE_FREE, 1);
	return ret;
}

vm_fault_t handle_mm_fault(struct vm_area_struct *vma, unsigned long address, unsigned int flags)
{
	struct mm_struct *mm = vma->vm_mm;
	struct vm_fault vmf = {
		.vma = vma,
		.flags = flags,
		.address = round_down(address, mm->machine->page_size),
		.pgoff = linear_page_index(vma, address),
		.pmd = pmd_alloc(mm, address),
	};

	charge(mm->machine, COST_HANDLE_MM_FAULT, 1);
	mm->machine->mm->vm.pgfault++;
	if (!vmf.pmd)
		return VM_FAULT_OOM;
	if (vmf.pmd->huge) {
		if (!(flags & FAULT_FLAG_WRITE))
			return 0;
		split_huge_pmd(vma, vmf.pmd, address);
	}
	return handle_pte_fault(&vmf);
}

/* ---- who faults ---- */

/*
 * Does the next try count as a second one (FAULT_FLAG_TRIED)? Where file faults first run under
 * the VMA lock, a try that waited but read nothing is followed by a fresh one under mmap_lock.
 */
static unsigned int next_flags(const struct machine *m, unsigned int flags, vm_fault_t ret)
{
	if (!(flags & FAULT_FLAG_VMA_LOCK) || ret & VM_FAULT_MAJOR)
		flags |= FAULT_FLAG_TRIED;
	if (!knob(m, RETRY_TRIED_MAJOR))
		flags |= FAULT_FLAG_TRIED;
	return flags & ~FAULT_FLAG_VMA_LOCK;
}

/* Until it is neither to be retried nor failed. */
static vm_fault_t fault_until_done(struct vm_area_struct *vma, unsigned long address,
				   unsigned int flags)
{
	struct machine *m = vma->vm_mm->machine;
	vm_fault_t ret = VM_FAULT_RETRY, major = 0;

	for (unsigned int i = 0; i < MAX_FAULT_TRIES && ret & VM_FAULT_RETRY; i++) {
		bool vma_lock = flags & FAULT_FLAG_VMA_LOCK;

		if (vma_lock)
			lock_shared(m, VMA_LOCK, &vma->vm_lock);
		else
			lock_shared(m, MMAP_LOCK, &vma->vm_mm->mmap_lock);
		ret = handle_mm_fault(vma, address, flags);
		if (vma_lock)
			unlock_shared(m, VMA_LOCK, &vma->vm_lock);
		else
			unlock_shared(m, MMAP_LOCK, &vma->vm_mm->mmap_lock);
		major |= ret & VM_FAULT_MAJOR;
		flags = next_flags(m, flags, ret);
	}
	return ret | major;
}

vm_fault_t do_user_addr_fault(struct mm_struct *mm, unsigned long address, unsigned int flags)
{
	struct vm_area_struct *vma = vma_lookup(mm, address);
	struct machine *m = mm->machine;
	vm_fault_t ret;

	charge(m, COST_PAGE_FAULT, 1);
	if (!vma)
		return VM_FAULT_SIGSEGV;
	trace_event(&m->trace, EV_fl_page_fault, 0, vma->vm_file->f_inode->i_ino,
		    linear_page_index(vma, address), !!(flags & FAULT_FLAG_WRITE),
		    pte_index(m, address));
	flags |= FAULT_FLAG_USER | FAULT_FLAG_ALLOW_RETRY | FAULT_FLAG_VMA_LOCK;
	ret = fault_until_done(vma, address, flags);
	if (ret & VM_FAULT_HWPOISON)
		mm_sigbus_hwpoison(mm, address);
	return ret;
}

/* The PTE or PMD that maps the address well enough, NULL if it has to fault. */
static pte_t *walk(struct mm_struct *mm, unsigned long address, bool write)
{
	struct pmd *pmd = pmd_offset(mm, address);
	pte_t *pte;

	if (!pmd)
		return NULL;
	if (pmd->huge)
		pte = &pmd->huge;
	else if (pmd->pte)
		pte = &pmd->pte[pte_index(mm->machine, address)];
	else
		return NULL;
	return *pte & (write ? PTE_WRITE : PTE_PRESENT) ? pte : NULL;
}

/* What the processor does with a mapped page. */
static void access_page(struct mm_struct *mm, pte_t *pte, unsigned long address, bool write,
			char *byte)
{
	struct machine *m = mm->machine;
	struct folio *folio = pte_folio(*pte);
	unsigned long mask = folio_size(folio) - 1, offset;
	const struct vm_area_struct *vma;
	char *data;

	*pte |= PTE_YOUNG | (write ? PTE_DIRTY : 0);
	charge(m, COST_USER_ACCESS, 1);
	vma = list_first_entry(&mm->mmap, struct vm_area_struct, vm_list);
	if (address < vma->vm_start || address >= vma->vm_end)
		vma = vma_lookup(mm, address);
	offset = (address - vma->vm_start + (vma->vm_pgoff << m->page_shift)) & mask;
	page_state_use(m, folio, offset, 1);
	data = folio_address(folio);
	if (!data || !byte)
		return;
	if (write)
		data[offset] = *byte;
	else
		*byte = data[offset];
}

int access_user_byte(struct mm_struct *mm, unsigned long address, bool write, char *byte)
{
	unsigned int flags = write ? FAULT_FLAG_WRITE : 0;

	for (unsigned int i = 0; i < MAX_FAULT_TRIES; i++) {
		pte_t *pte = walk(mm, address, write);

		if (likely(pte)) {
			access_page(mm, pte, address, write, byte);
			return 0;
		}
		if (do_user_addr_fault(mm, address, flags) & VM_FAULT_ERROR)
			return -EFAULT;
	}
	return -EFAULT;
}

int populate_range(struct vm_area_struct *vma, unsigned long start, unsigned long end, bool write)
{
	struct machine *m = vma->vm_mm->machine;
	unsigned int flags = FAULT_FLAG_ALLOW_RETRY | (write ? FAULT_FLAG_WRITE : 0);

	for (unsigned long addr = start; addr < end; addr += m->page_size) {
		unsigned int tries = 0;

		while (!walk(vma->vm_mm, addr, write))
			if (++tries > MAX_FAULT_TRIES ||
			    fault_until_done(vma, addr, flags) & VM_FAULT_ERROR)
				return -EFAULT;
	}
	return 0;
}
