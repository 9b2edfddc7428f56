/*
 * tmpfs and anonymous shared memory: finding and making folios, faults, truncation.
 *
 * Mirrors mm/shmem.c; policies are in shmem_huge.c, reading in shmem_read.c and shmem_splice.c,
 * writing in shmem_write.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mm/internal.h"
#include "mm/shmem_fs.h"
#include "mm/writeback.h"

/* ---- mounting ---- */

int shmem_fill_super(struct super_block *sb, const char *options)
{
	struct shmem_sb_info *sbinfo = calloc(1, sizeof(*sbinfo));
	int huge = SHMEM_HUGE_NEVER;

	if (!sbinfo)
		return -ENOMEM;
	sb->s_fs_info = sbinfo;
	if (!strncmp(options, "huge=", 5))
		huge = shmem_parse_huge(options + 5);
	if (huge < 0 || huge > SHMEM_HUGE_ADVISE)
		return -EINVAL;
	sbinfo->huge = huge;
	sbinfo->max_blocks = sb->s_machine->mm->zone.managed_pages / 2;
	return 0;
}

/* Marked for large folios, so that a turn of a write covers one; decided when the inode is made. */
int shmem_init_inode(struct inode *inode)
{
	struct machine *m = inode->i_sb->s_machine;

	inode->i_private = calloc(1, sizeof(struct shmem_inode_info));
	if (!inode->i_private)
		return -ENOMEM;
	inode->i_data.a_ops = &shmem_aops;
	if (!knob(m, SHMEM_LARGE_IF_HUGE) || SHMEM_SB(inode->i_sb)->huge)
		mapping_set_folio_order_range(inode->i_mapping, 0, m->max_pagecache_order);
	return 0;
}

void shmem_remount_huge(struct super_block *sb, enum shmem_huge huge)
{
	SHMEM_SB(sb)->huge = huge;
}

void shmem_make_anonymous(struct inode *inode)
{
	inode->i_nlink = 0;
}

/* ---- accounts ---- */

static int shmem_inode_acct_blocks(struct inode *inode, unsigned long pages)
{
	struct shmem_sb_info *sbinfo = SHMEM_SB(inode->i_sb);

	if (sbinfo->max_blocks && sbinfo->used_blocks + pages > sbinfo->max_blocks)
		return -ENOSPC;
	sbinfo->used_blocks += pages;
	SHMEM_I(inode)->alloced += pages;
	return 0;
}

void shmem_uncharge(struct inode *inode, unsigned long pages)
{
	SHMEM_SB(inode->i_sb)->used_blocks -= pages;
	SHMEM_I(inode)->alloced -= pages;
}

/* ---- making folios ---- */

/* Charge and insert; on success the cache owns it beside the caller. */
static int shmem_add_to_page_cache(struct inode *inode, struct folio *folio, pgoff_t index,
				   enum page_provenance provenance)
{
	unsigned long pages = folio_nr_pages(folio);
	int error = shmem_inode_acct_blocks(inode, pages);

	if (error == -ENOSPC && shmem_unused_huge_shrink(inode->i_sb))
		error = shmem_inode_acct_blocks(inode, pages);
	if (error)
		return error;
	folio_set_swapbacked(folio);
	error = filemap_add_folio(inode->i_mapping, folio, round_down(index, pages), GFP_KERNEL,
				  provenance);
	if (error)
		shmem_uncharge(inode, pages);
	return error;
}

/* The largest of @orders that can be had, in the end order 0. */
static struct folio *shmem_alloc_folio(struct machine *m, unsigned long orders)
{
	while (orders) {
		unsigned int order = ilog2(orders);
		struct folio *folio;

		folio = filemap_alloc_folio(m, __GFP_NORETRY | __GFP_NOWARN, order);
		if (folio)
			return folio;
		orders &= ~BIT(order);
	}
	return filemap_alloc_folio(m, GFP_KERNEL, 0);
}

static int alloc_and_add(struct inode *inode, pgoff_t index, unsigned long orders,
			 enum page_provenance provenance, struct folio **ret)
{
	struct folio *folio = shmem_alloc_folio(inode->i_sb->s_machine, orders);
	int error;

	*ret = folio;
	if (!folio)
		return -ENOMEM;
	error = shmem_add_to_page_cache(inode, folio, index, provenance);
	if (!error)
		return 0;
	folio_put(folio);
	*ret = NULL;
	return error;
}

static int shmem_alloc_and_add_folio(struct inode *inode, pgoff_t index, loff_t write_end,
				     struct vm_fault *vmf, struct folio **ret)
{
	enum page_provenance provenance = vmf ? PROVENANCE_FAULT : PROVENANCE_WRITE;
	unsigned long orders;
	int error;

	orders = shmem_allowable_huge_orders(inode, vmf ? vmf->vma : NULL, index, write_end);
	orders = shmem_suitable_orders(inode, vmf, index, orders);
	if (orders) {
		error = alloc_and_add(inode, index, orders, provenance, ret);
		if (!error || error == -EEXIST)
			return error;
	}
	return alloc_and_add(inode, index, 0, provenance, ret);
}

/* ---- looking up ---- */

static void zero_folio(struct folio *folio, size_t from, size_t to)
{
	char *p = folio_address(folio);

	charge(folio_machine(folio), COST_ZERO_BYTE, to - from);
	if (p)
		memset(p + from, 0, to - from);
}

static void folio_zero_uptodate(struct folio *folio)
{
	zero_folio(folio, 0, folio_size(folio));
	folio_mark_uptodate(folio);
}

void shmem_finish_write(struct folio *folio, size_t from, size_t to)
{
	if (!folio_test_uptodate(folio)) {
		zero_folio(folio, 0, from);
		zero_folio(folio, to, folio_size(folio));
		folio_mark_uptodate(folio);
	}
	folio_mark_dirty(folio);
}

static bool below_eof(const struct inode *inode, pgoff_t index)
{
	return (loff_t)index << inode->i_sb->s_machine->page_shift < i_size_read(inode);
}

/* The cached folio over @index, locked; NULL if there is none. */
static struct folio *lock_cached(struct inode *inode, pgoff_t index)
{
	struct folio *folio;

	while ((folio = filemap_get_folio(inode->i_mapping, index))) {
		folio_lock(folio);
		if (folio->mapping == inode->i_mapping)
			return folio;
		folio_unlock(folio);
		folio_put(folio);
	}
	return NULL;
}

/* A hole. 1: a folio was made; 0: none is wanted; -EEXIST: look again. */
static int fill_hole(struct inode *inode, pgoff_t index, loff_t write_end, enum sgp_type sgp,
		     struct vm_fault *vmf, struct folio **foliop)
{
	int error;

	if (sgp == SGP_READ)
		return 0;
	if (sgp == SGP_NOALLOC)
		return -ENOENT;
	error = shmem_alloc_and_add_folio(inode, index, write_end, vmf, foliop);
	if (error)
		return error;
	if (sgp == SGP_WRITE)
		folio_set_referenced(*foliop);
	return 1;
}

/* The end of the file moved below the page meanwhile: what was made for it goes again. */
static int give_up(struct folio *folio, bool alloced, struct folio **foliop)
{
	if (alloced)
		filemap_remove_folio(folio);
	folio_unlock(folio);
	folio_put(folio);
	*foliop = NULL;
	return -EINVAL;
}

/* Found, locked: make it what @sgp wants. */
static int ready_folio(struct inode *inode, struct folio *folio, bool alloced, pgoff_t index,
		       enum sgp_type sgp, struct folio **foliop)
{
	bool fresh_falloc = alloced && sgp == SGP_FALLOC;

	if (!folio_test_uptodate(folio) && sgp != SGP_WRITE && !fresh_falloc)
		folio_zero_uptodate(folio);
	if (sgp <= SGP_CACHE && !below_eof(inode, index))
		return give_up(folio, alloced, foliop);
	*foliop = folio;
	return 0;
}

static int get_folio(struct inode *inode, pgoff_t index, loff_t write_end, struct folio **foliop,
		     enum sgp_type sgp, struct vm_fault *vmf)
{
	struct folio *folio;
	int ret;

	do {
		if (sgp <= SGP_CACHE && !below_eof(inode, index))
			return -EINVAL;
		folio = lock_cached(inode, index);
		if (folio && sgp == SGP_WRITE)
			folio_mark_accessed(folio);
		if (folio && (folio_test_uptodate(folio) || sgp != SGP_READ))
			return ready_folio(inode, folio, false, index, sgp, foliop);
		if (folio) {
			folio_unlock(folio);
			folio_put(folio);
		}
		ret = fill_hole(inode, index, write_end, sgp, vmf, &folio);
	} while (ret == -EEXIST);
	return ret <= 0 ? ret : ready_folio(inode, folio, true, index, sgp, foliop);
}

int shmem_get_folio_gfp(struct inode *inode, pgoff_t index, loff_t write_end, struct folio **foliop,
			enum sgp_type sgp, struct vm_fault *vmf)
{
	struct machine *m = inode->i_sb->s_machine;
	int ret;

	*foliop = NULL;
	charge(m, COST_SHMEM_LOOKUP, 1);
	if (index > (u64)INT64_MAX >> m->page_shift)
		return -EFBIG;
	ret = get_folio(inode, index, write_end, foliop, sgp, vmf);
	trace_event(&m->trace, EV_fl_shmem_lookup, *foliop ? (*foliop)->_order : 0, inode->i_ino,
		    index, sgp, -ret);
	return ret;
}

vm_fault_t shmem_fault(struct vm_fault *vmf)
{
	struct inode *inode = vmf->vma->vm_file->f_inode;
	int error = shmem_get_folio_gfp(inode, vmf->pgoff, 0, &vmf->folio, SGP_CACHE, vmf);

	if (error)
		return error == -ENOMEM ? VM_FAULT_OOM : VM_FAULT_SIGBUS;
	return VM_FAULT_LOCKED;
}

/* ---- truncation ---- */

pgoff_t shmem_fallocend(const struct inode *inode, pgoff_t eof)
{
	return max(eof, SHMEM_I(inode)->fallocend);
}

/*
 * A folio at an edge of the range, dirty and cut to [lstart, lend]. *kept: it had to stay whole.
 * Unlike SGP_READ it is found past the end of the file and if only fallocated.
 */
static struct folio *cut_edge(struct inode *inode, pgoff_t index, loff_t lstart, loff_t lend,
			      bool *kept, pgoff_t *next)
{
	struct folio *folio = lock_cached(inode, index);

	*kept = false;
	if (!folio)
		return NULL;
	*next = folio_next_index(folio);
	folio_mark_dirty(folio);
	*kept = !truncate_inode_partial_folio(folio, lstart, lend);
	folio_unlock(folio);
	return folio;
}

static void cut_edges(struct inode *inode, loff_t lstart, loff_t lend, pgoff_t *start, pgoff_t *end)
{
	unsigned int shift = inode->i_sb->s_machine->page_shift;
	pgoff_t first = (u64)lstart >> shift, last = (u64)lend >> shift, next;
	bool same = first == last, kept;
	struct folio *folio = cut_edge(inode, first, lstart, lend, &kept, &next);

	if (folio) {
		same = last < next;
		if (kept)
			*start = next;
		if (kept && same)
			*end = folio->index;
		folio_put(folio);
	}
	if (same)
		return;
	folio = cut_edge(inode, last, lstart, lend, &kept, &next);
	if (!folio)
		return;
	if (kept)
		*end = folio->index;
	folio_put(folio);
}

/* @last inclusive; nothing if it lies below @start. */
static void remove_range(struct inode *inode, pgoff_t start, pgoff_t end, bool unfalloc)
{
	if (end > start)
		truncate_whole_folios(inode->i_mapping, start, end - 1, unfalloc);
}

void shmem_undo_range(struct inode *inode, loff_t lstart, loff_t lend, bool unfalloc)
{
	struct shmem_inode_info *info = SHMEM_I(inode);
	struct machine *m = inode->i_sb->s_machine;
	pgoff_t start = DIV_ROUND_UP((u64)lstart, m->page_size);
	pgoff_t end = lend == -1 ? ~0UL : ((u64)lend + 1) >> m->page_shift;

	if (info->fallocend > start && info->fallocend <= end && !unfalloc)
		info->fallocend = start;
	remove_range(inode, start, end, unfalloc);
	if (!unfalloc) {
		cut_edges(inode, lstart, lend == -1 ? INT64_MAX : lend, &start, &end);
		remove_range(inode, start, end, false);
	}
}
