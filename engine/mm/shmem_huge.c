/*
 * Which folio orders a file in memory gets.
 *
 * Mirrors the huge page policies of mm/shmem.c: shmem_huge_global_enabled(),
 * shmem_mapping_size_orders(), shmem_allowable_huge_orders(), shmem_unused_huge_shrink().
 */
#include <errno.h>
#include <string.h>

#include "mm/internal.h"
#include "mm/shmem_fs.h"

static const char *const huge_names[] = {
	[SHMEM_HUGE_NEVER] = "never",
	[SHMEM_HUGE_ALWAYS] = "always",
	[SHMEM_HUGE_WITHIN_SIZE] = "within_size",
	[SHMEM_HUGE_ADVISE] = "advise",
	[SHMEM_HUGE_DENY] = "deny",
	[SHMEM_HUGE_FORCE] = "force",
};

int shmem_parse_huge(const char *word)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(huge_names); i++)
		if (!strcmp(word, huge_names[i]))
			return i;
	return -EINVAL;
}

int shmem_enabled_store(struct machine *m, const char *word)
{
	struct shmem_globals *g = &m->mm->shmem;
	int huge = shmem_parse_huge(word);

	if (huge < 0)
		return huge;
	if (huge == SHMEM_HUGE_FORCE && knob(m, SHMEM_MTHP) &&
	    g->huge_shmem_orders_inherit != BIT(pmd_order(m)))
		return -EINVAL;
	g->shmem_huge = huge;
	return 0;
}

int thpsize_shmem_enabled_store(struct machine *m, unsigned int order, const char *word)
{
	struct shmem_globals *g = &m->mm->shmem;
	const struct {
		const char *word;
		unsigned long *mask;
	} masks[] = {
		{"always", &g->huge_shmem_orders_always},
		{"inherit", &g->huge_shmem_orders_inherit},
		{"within_size", &g->huge_shmem_orders_within_size},
		{"advise", &g->huge_shmem_orders_madvise},
	};
	bool known = !strcmp(word, "never");

	for (unsigned int i = 0; i < ARRAY_SIZE(masks); i++)
		known |= !strcmp(word, masks[i].word);
	if (!known || !knob(m, SHMEM_MTHP) || !order || order > pmd_order(m))
		return -EINVAL;
	for (unsigned int i = 0; i < ARRAY_SIZE(masks); i++) {
		*masks[i].mask &= ~BIT(order);
		if (!strcmp(word, masks[i].word))
			*masks[i].mask |= BIT(order);
	}
	return 0;
}

/* ---- masks ---- */

/* Orders 1 .. @highest. */
static unsigned long orders_up_to(unsigned int highest)
{
	return BIT(highest + 1) - 2;
}

static unsigned long all_orders(const struct machine *m)
{
	return orders_up_to(pmd_order(m));
}

/* The largest order that [index, write_end) fills, cut to the alignment of @index, and below. */
static unsigned long shmem_mapping_size_orders(const struct machine *m, pgoff_t index,
					       loff_t write_end)
{
	loff_t size = write_end - ((loff_t)index << m->page_shift);
	unsigned int order;

	if (!write_end || size < 2 * (loff_t)m->page_size)
		return 0;
	order = ilog2(size) - m->page_shift;
	if (index & (BIT(order) - 1))
		order = __ffs(index);
	order = min(order, pmd_order(m));
	return order ? orders_up_to(order) : 0;
}

/* What "yes" means to this kernel. */
static unsigned long enabled_orders(const struct machine *m, const struct vm_area_struct *vma,
				    pgoff_t index, loff_t write_end)
{
	if (vma)
		return knob(m, SHMEM_FAULT_ORDERS) ? all_orders(m) : BIT(pmd_order(m));
	if (knob(m, SHMEM_PMD_FIRST))
		return all_orders(m);
	if (knob(m, SHMEM_SIZE_ORDERS))
		return shmem_mapping_size_orders(m, index, write_end);
	return BIT(pmd_order(m));
}

/* The orders up to the largest one whose aligned block ends inside the file. */
static unsigned long shmem_get_orders_within_size(const struct inode *inode, unsigned long orders,
						  pgoff_t index, loff_t write_end)
{
	const struct machine *m = inode->i_sb->s_machine;
	loff_t size = i_size_read(inode);
	pgoff_t pages;

	if (knob(m, SHMEM_WITHIN_WRITE_END))
		size = max(size, write_end);
	pages = DIV_ROUND_UP((u64)size, m->page_size);
	while (orders) {
		unsigned int order = ilog2(orders);

		if (round_up(index + 1, BIT(order)) <= pages)
			return orders;
		orders &= ~BIT(order);
	}
	return 0;
}

/* By the mount's policy, or for files without a name by shmem_enabled. */
static unsigned long shmem_huge_global_enabled(struct inode *inode,
					       const struct vm_area_struct *vma, pgoff_t index,
					       loff_t write_end)
{
	const struct machine *m = inode->i_sb->s_machine;
	const struct shmem_globals *g = &m->mm->shmem;
	unsigned char huge = inode->i_nlink ? SHMEM_SB(inode->i_sb)->huge : g->shmem_huge;
	unsigned long orders = enabled_orders(m, vma, index, write_end), within;

	if (g->shmem_huge == SHMEM_HUGE_DENY)
		return 0;
	if (g->shmem_huge == SHMEM_HUGE_FORCE)
		return BIT(pmd_order(m));
	switch (huge) {
	case SHMEM_HUGE_ALWAYS:
		return orders;
	case SHMEM_HUGE_WITHIN_SIZE:
		within = shmem_get_orders_within_size(inode, orders, index, write_end);
		if (within)
			return within;
		/* fallthrough */
	case SHMEM_HUGE_ADVISE:
		return vma && vma->vm_flags & VM_HUGEPAGE ? orders : 0;
	default:
		return 0;
	}
}

unsigned long shmem_allowable_huge_orders(struct inode *inode, const struct vm_area_struct *vma,
					  pgoff_t index, loff_t write_end)
{
	const struct machine *m = inode->i_sb->s_machine;
	const struct shmem_globals *g = &m->mm->shmem;
	unsigned long global, mask = g->huge_shmem_orders_always;

	if (pmd_order(m) > m->max_pagecache_order || (vma && vma->vm_flags & VM_NOHUGEPAGE))
		return 0;
	global = shmem_huge_global_enabled(inode, vma, index, write_end);
	if (!vma || inode->i_nlink || !knob(m, SHMEM_MTHP))
		return global;
	if (g->shmem_huge == SHMEM_HUGE_DENY)
		return 0;
	if (g->shmem_huge == SHMEM_HUGE_FORCE)
		return g->huge_shmem_orders_inherit;
	mask |= shmem_get_orders_within_size(inode, g->huge_shmem_orders_within_size, index, 0);
	if (vma->vm_flags & VM_HUGEPAGE)
		mask |= g->huge_shmem_orders_madvise;
	if (global)
		mask |= g->huge_shmem_orders_inherit;
	return mask & all_orders(m);
}

/* Does the block of @order around the fault lie in its VMA, aligned there as in the file? */
static bool vma_suitable_order(const struct vm_fault *vmf, unsigned int order)
{
	const struct vm_area_struct *vma = vmf->vma;
	const struct machine *m = vma->vm_mm->machine;
	unsigned long size = m->page_size << order, haddr = round_down(vmf->address, size);

	if (((vma->vm_start >> m->page_shift) - vma->vm_pgoff) & (BIT(order) - 1))
		return false;
	return haddr >= vma->vm_start && haddr + size <= vma->vm_end;
}

unsigned long shmem_suitable_orders(struct inode *inode, const struct vm_fault *vmf, pgoff_t index,
				    unsigned long orders)
{
	unsigned long suitable = 0;

	for (unsigned long left = orders; left; left &= left - 1) {
		unsigned int order = __ffs(left);
		unsigned long at = round_down(index, BIT(order)), last = at + BIT(order) - 1;

		if (vmf && !vma_suitable_order(vmf, order))
			continue;
		if (xa_find(&inode->i_mapping->i_pages, &at, last, XA_PRESENT))
			break; /* nor is a larger one free */
		suitable |= BIT(order);
	}
	return suitable;
}

unsigned long shmem_blksize(struct inode *inode)
{
	const struct machine *m = inode->i_sb->s_machine;

	return shmem_allowable_huge_orders(inode, NULL, 0, 0) ? m->page_size << pmd_order(m)
							      : m->page_size;
}

/* ---- space ---- */

/* Cut the folio that reaches past the end of the file: pages it gave back. */
static unsigned long shrink_inode(struct inode *inode)
{
	struct machine *m = inode->i_sb->s_machine;
	pgoff_t eof = DIV_ROUND_UP((u64)i_size_read(inode), m->page_size);
	unsigned long before = SHMEM_I(inode)->alloced;
	struct folio *folio = eof ? filemap_get_folio(inode->i_mapping, eof - 1) : NULL;

	if (!folio)
		return 0;
	if (folio_next_index(folio) > eof && folio_trylock(folio)) {
		split_folio(folio);
		folio_unlock(folio);
	}
	folio_put(folio);
	return before - SHMEM_I(inode)->alloced;
}

unsigned long shmem_unused_huge_shrink(struct super_block *sb)
{
	unsigned long freed = 0;
	struct inode *inode;

	list_for_each_entry(inode, &sb->s_inodes, i_sb_list)
		freed += shrink_inode(inode);
	return freed;
}
