/*
 * Page tables: PMDs by number, a table of PTEs where one is needed.
 *
 * Mirrors mm/pgtable-generic.c and the walk of include/linux/pgtable.h in purpose.
 */
#include <errno.h>
#include <stdlib.h>

#include "mm/internal.h"
#include "mm/mm.h"

struct pmd *pmd_offset(struct mm_struct *mm, unsigned long addr)
{
	unsigned long nr = addr >> pmd_shift(mm->machine);

	if (mm->last_pmd && mm->last_nr == nr)
		return mm->last_pmd;
	mm->last_pmd = xa_load(&mm->pgd, nr);
	mm->last_nr = nr;
	return mm->last_pmd;
}

struct pmd *pmd_alloc(struct mm_struct *mm, unsigned long addr)
{
	struct pmd *pmd = pmd_offset(mm, addr);

	if (pmd)
		return pmd;
	pmd = calloc(1, sizeof(*pmd));
	if (!pmd)
		return NULL;
	if (xa_is_err(xa_store(&mm->pgd, addr >> pmd_shift(mm->machine), pmd))) {
		free(pmd);
		return NULL;
	}
	mm->last_pmd = pmd;
	return pmd;
}

int pte_alloc(struct mm_struct *mm, struct pmd *pmd)
{
	if (pmd->pte)
		return 0;
	pmd->pte = calloc(ptrs_per_pte(mm->machine), sizeof(*pmd->pte));
	return pmd->pte ? 0 : -ENOMEM;
}

void free_pgtables(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	unsigned int shift = pmd_shift(mm->machine);
	unsigned long index = start >> shift, last = (end - 1) >> shift;
	struct pmd *pmd;

	mm->last_pmd = NULL;
	while ((pmd = xa_find(&mm->pgd, &index, last, XA_PRESENT))) {
		/* A neighbour may still use the table at either end. */
		if (!pmd->present && !pmd->huge) {
			xa_erase(&mm->pgd, index);
			if (pmd->pte)
				charge(mm->machine, COST_PGTABLE_FREE, 1);
			free(pmd->pte);
			free(pmd);
		}
		index++;
	}
}
