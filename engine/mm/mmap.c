/*
 * VMAs: where mappings lie and what they map.
 *
 * Mirrors mm/mmap.c, mm/vma.c. Differs: a VMA is unmapped as a whole or not at all; VMAs never
 * merge and are kept in a list, since a run has a handful of them.
 */
#include <errno.h>
#include <stdlib.h>

#include "mm/internal.h"
#include "mm/mm.h"

/* Below the stack of x86-64; a multiple of every PMD size but not a matter of luck as there. */
#define TASK_MMAP_BASE 0x7ff000000000UL

struct mm_struct *mm_alloc(struct machine *m)
{
	struct mm_struct *mm = calloc(1, sizeof(*mm));

	if (!mm)
		return NULL;
	mm->machine = m;
	mm->mmap_base = TASK_MMAP_BASE;
	INIT_LIST_HEAD(&mm->mmap);
	xa_init(&mm->pgd, &m->mm->xa_nodes);
	list_add_tail(&mm->mmlist, &m->mm->mms);
	return mm;
}

void mmput(struct mm_struct *mm)
{
	struct vm_area_struct *vma, *next;

	if (!mm)
		return;
	list_for_each_entry_safe(vma, next, &mm->mmap, vm_list)
		do_munmap(vma);
	list_del(&mm->mmlist);
	xa_destroy(&mm->pgd);
	free(mm);
}

void mm_drop(struct mm_struct *mm)
{
	struct vm_area_struct *vma, *next;
	unsigned long index = 0;
	struct pmd *pmd;

	if (!mm)
		return;
	while ((pmd = xa_find(&mm->pgd, &index, ~0UL, XA_PRESENT))) {
		xa_erase(&mm->pgd, index);
		free(pmd->pte);
		free(pmd);
	}
	list_for_each_entry_safe(vma, next, &mm->mmap, vm_list) {
		file_drop(vma->vm_file);
		free(vma);
	}
	list_del(&mm->mmlist);
	xa_destroy(&mm->pgd);
	free(mm);
}

struct vm_area_struct *vma_lookup(const struct mm_struct *mm, unsigned long addr)
{
	struct vm_area_struct *vma;

	list_for_each_entry(vma, &mm->mmap, vm_list)
		if (addr >= vma->vm_start && addr < vma->vm_end)
			return vma;
	return NULL;
}

static unsigned long lowest_mapping(const struct mm_struct *mm)
{
	const struct vm_area_struct *vma;
	unsigned long low = mm->mmap_base;

	list_for_each_entry(vma, &mm->mmap, vm_list)
		low = min(low, vma->vm_start);
	return low;
}

bool mm_has_room(const struct mm_struct *mm, u64 len)
{
	/* Aligning costs up to two PMD sizes, and page 0 is nobody's. */
	u64 spare = 2ULL << pmd_shift(mm->machine);
	u64 low = lowest_mapping(mm);

	return low > spare && len < low - spare;
}

/* Downwards from the lowest mapping. mm/huge_memory.c thp_get_unmapped_area() for long ones. */
static unsigned long get_unmapped_area(const struct mm_struct *mm, unsigned long len,
				       unsigned long pgoff)
{
	const struct machine *m = mm->machine;
	unsigned long size = 1UL << pmd_shift(m), top = lowest_mapping(mm);

	if (len < size)
		return top - len;
	top = round_down(top - len, size) + ((pgoff << m->page_shift) & (size - 1));
	return top + len <= mm->mmap_base ? top : top - size;
}

static struct vm_area_struct *vm_area_alloc(struct mm_struct *mm, struct file *file)
{
	struct vm_area_struct *vma = calloc(1, sizeof(*vma));
	const struct file_operations *fop = file->f_inode->i_fop;

	if (!vma)
		return NULL;
	vma->vm_mm = mm;
	vma->vm_file = get_file(file);
	vma->vm_ops = fop && fop->vm_ops ? fop->vm_ops : &generic_file_vm_ops;
	return vma;
}

int do_mmap(struct mm_struct *mm, struct file *file, unsigned long addr, unsigned long len,
	    unsigned long vm_flags, unsigned long pgoff, struct vm_area_struct **ret)
{
	struct machine *m = mm->machine;
	struct vm_area_struct *vma;

	*ret = NULL;
	len = round_up(len, m->page_size);
	if (!len || addr & (m->page_size - 1))
		return -EINVAL;
	if (!addr && !mm_has_room(mm, len))
		return -ENOMEM;
	vma = vm_area_alloc(mm, file);
	if (!vma)
		return -ENOMEM;
	charge(m, COST_MMAP, 1);
	vma->vm_start = addr ? addr : get_unmapped_area(mm, len, pgoff);
	vma->vm_end = vma->vm_start + len;
	vma->vm_flags = vm_flags | VM_SHARED;
	vma->vm_pgoff = pgoff;
	lock_excl(m, MMAP_LOCK, &mm->mmap_lock);
	lock_excl(m, I_MMAP_RWSEM, &file->f_mapping->i_mmap_rwsem);
	list_add(&vma->vm_list, &mm->mmap);
	list_add_tail(&vma->shared, &file->f_mapping->i_mmap);
	unlock_excl(m, I_MMAP_RWSEM, &file->f_mapping->i_mmap_rwsem);
	unlock_excl(m, MMAP_LOCK, &mm->mmap_lock);
	*ret = vma;
	return 0;
}

void do_munmap(struct vm_area_struct *vma)
{
	struct mm_struct *mm = vma->vm_mm;
	struct machine *m = mm->machine;
	struct address_space *mapping = vma->vm_file->f_mapping;

	charge(m, COST_MUNMAP, 1);
	lock_excl(m, MMAP_LOCK, &mm->mmap_lock);
	lock_excl_smp(m, VMA_LOCK, &vma->vm_lock);
	if (vma->vm_flags & VM_LOCKED)
		do_munlock(vma);
	zap_page_range(vma, vma->vm_start, vma->vm_end);
	lock_excl(m, I_MMAP_RWSEM, &mapping->i_mmap_rwsem);
	list_del(&vma->shared);
	unlock_excl(m, I_MMAP_RWSEM, &mapping->i_mmap_rwsem);
	free_pgtables(mm, vma->vm_start, vma->vm_end);
	list_del(&vma->vm_list);
	unlock_excl(m, VMA_LOCK, &vma->vm_lock);
	unlock_excl(m, MMAP_LOCK, &mm->mmap_lock);
	fput(vma->vm_file);
	free(vma);
}
