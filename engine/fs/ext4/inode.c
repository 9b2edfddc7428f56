/*
 * Mirrors fs/ext4/inode.c: who gets large folios, looking blocks up, delayed allocation, writing.
 */
#include "fs/ext4/ext4.h"

#include <errno.h>
#include <string.h>

#include "block/blkdev.h"
#include "fs/balloc.h"
#include "fs/extents.h"
#include "mm/internal.h"

/* ---- blocks ---- */

static void map_bh(struct buffer_head *bh, const struct fs_extent *e, u64 iblock)
{
	set_buffer_mapped(bh);
	bh->b_blocknr = e->pblk + (iblock - e->lblk);
}

int ext4_get_block(struct inode *inode, u64 iblock, struct buffer_head *bh, bool create)
{
	const struct fs_extent *e = extents_lookup(inode, iblock);

	(void)create;
	if (e && e->state == EXTENT_WRITTEN)
		map_bh(bh, e, iblock);
	return 0;
}

/* A delayed block is "new" until writeback: nothing of it is on disk. */
static void delay_bh(struct buffer_head *bh)
{
	set_buffer_mapped(bh);
	set_buffer_new(bh);
	set_buffer_delay(bh);
	bh->b_blocknr = 0;
}

static int ext4_da_get_block_prep(struct inode *inode, u64 iblock, struct buffer_head *bh,
				  bool create)
{
	const struct fs_extent *e = extents_lookup(inode, iblock);
	struct fs_extent delayed = { .lblk = iblock, .len = 1, .state = EXTENT_DELAYED };
	int ret;

	(void)create;
	charge(inode->i_sb->s_machine, COST_GET_BLOCK, 1);
	if (!e || e->state == EXTENT_DELAYED) {
		ret = e ? 0 : extents_set(inode, &delayed);
		if (!ret)
			delay_bh(bh);
		return ret;
	}
	map_bh(bh, e, iblock);
	if (e->state == EXTENT_UNWRITTEN) {
		set_buffer_unwritten(bh);
		set_buffer_new(bh);
	}
	return 0;
}

/* Where the next block should go: behind the one before it in the file. */
static u64 ext4_ext_find_goal(const struct inode *inode, u64 lblk)
{
	unsigned int i = extents_find(inode, lblk);

	while (i--) {
		const struct fs_extent *e = &inode->i_extents[i];

		if (e->state != EXTENT_DELAYED)
			return e->pblk + e->len;
	}
	return 0;
}

int ext4_alloc_delayed(struct inode *inode, u64 lblk)
{
	const struct fs_extent *e = extents_lookup(inode, lblk);
	struct fs_extent placed = { .lblk = lblk, .state = EXTENT_WRITTEN };
	s64 got;

	if (!e || e->state != EXTENT_DELAYED)
		return 0;
	placed.len = min_t(u64, e->lblk + e->len - lblk, MAX_WRITEPAGES_EXTENT_LEN);
	got = block_alloc(inode->i_sb->s_space, ext4_ext_find_goal(inode, lblk), placed.len,
			  &placed.pblk);
	if (got < 0)
		return got;
	placed.len = got;
	return extents_set(inode, &placed);
}

/* ---- writing ---- */

static size_t ext4_size_hint(const struct inode *inode, unsigned int len)
{
	return knob(inode->i_sb->s_machine, EXT4_LARGE) ? len : 0;
}

static int ext4_da_write_begin(struct address_space *mapping, loff_t pos, unsigned int len,
			       struct folio **foliop)
{
	struct inode *inode = mapping->host;
	struct machine *m = mapping_machine(mapping);
	struct folio *folio;
	int ret = __filemap_get_folio(mapping, pos >> m->page_shift, FGP_WRITEBEGIN,
				      ext4_size_hint(inode, len), &folio);

	if (ret)
		return ret;
	len = min_t(u64, len, folio_pos(folio) + folio_size(folio) - pos);
	folio_wait_writeback(folio);
	ret = __block_write_begin(folio, pos, len, ext4_da_get_block_prep);
	if (ret) {
		folio_unlock(folio);
		folio_put(folio);
		return ret;
	}
	*foliop = folio;
	return 0;
}

static int ext4_da_write_end(struct address_space *mapping, loff_t pos, unsigned int len,
			     unsigned int copied, struct folio *folio)
{
	struct inode *inode = mapping->host;
	struct machine *m = mapping_machine(mapping);
	loff_t old_size = inode->i_size;
	size_t from = pos - folio_pos(folio);

	(void)len;
	block_commit_write(folio, from, from + copied);
	if (pos + copied > inode->i_size)
		inode->i_size = pos + copied;
	folio_unlock(folio);
	folio_put(folio);
	if (pos > old_size && knob(m, EXT4_GAP_ZERO) && !knob(m, EXT4_GAP_ZERO_EARLY))
		ext4_block_truncate_page(inode, old_size);
	return copied;
}

/* Zero bytes of one block in a locked folio; it may turn out to be a hole. */
static int zero_block_range(struct inode *inode, struct folio *folio, loff_t from, size_t length)
{
	size_t offset = from - folio_pos(folio);
	struct buffer_head *bh = create_empty_buffers(folio);
	char *p = folio_address(folio);
	int ret;

	if (!bh)
		return -ENOMEM;
	bh += offset >> inode->i_blkbits;
	if (!buffer_mapped(bh))
		ext4_get_block(inode, from >> inode->i_blkbits, bh, false);
	if (!buffer_mapped(bh))
		return 0;
	if (folio_test_uptodate(folio))
		set_buffer_uptodate(bh);
	if (!buffer_uptodate(bh) && !buffer_delay(bh)) {
		ret = bh_read(folio, bh, round_down(offset, (size_t)1 << inode->i_blkbits));
		if (ret)
			return ret;
	}
	charge(folio_machine(folio), COST_ZERO_BYTE, length);
	if (p)
		memset(p + offset, 0, length);
	set_buffer_dirty(bh);
	filemap_dirty_folio(folio->mapping, folio);
	return 0;
}

int ext4_block_zero_range(struct inode *inode, loff_t from, loff_t end)
{
	struct machine *m = inode->i_sb->s_machine;
	struct folio *folio;
	int ret = __filemap_get_folio(inode->i_mapping, from >> m->page_shift,
				      FGP_LOCK | FGP_CREAT, 0, &folio);

	if (ret)
		return ret;
	folio_wait_writeback(folio);
	ret = zero_block_range(inode, folio, from, end - from);
	folio_unlock(folio);
	folio_put(folio);
	return ret;
}

int ext4_block_truncate_page(struct inode *inode, loff_t from)
{
	loff_t block = 1 << inode->i_blkbits;

	return from & (block - 1) ? ext4_block_zero_range(inode, from, round_up(from, block)) : 0;
}

/* ---- operations ---- */

static int ext4_read_folio(struct file *file, struct folio *folio)
{
	(void)file;
	return ext4_mpage_readpages(folio->mapping->host, NULL, folio);
}

static void ext4_readahead(struct readahead_control *rac)
{
	ext4_mpage_readpages(rac->mapping->host, rac, NULL);
}

static bool ext4_release_folio(struct folio *folio, gfp_t gfp)
{
	(void)gfp;
	return try_to_free_buffers(folio);
}

static const struct address_space_operations ext4_da_aops = {
	.read_folio = ext4_read_folio,
	.readahead = ext4_readahead,
	.write_begin = ext4_da_write_begin,
	.write_end = ext4_da_write_end,
	.writepages = ext4_writepages,
	.dirty_folio = block_dirty_folio,
	.is_partially_uptodate = block_is_partially_uptodate,
	.release_folio = ext4_release_folio,
	.invalidate_folio = block_invalidate_folio,
};

static vm_fault_t ext4_page_mkwrite(struct vm_fault *vmf)
{
	struct inode *inode = vmf->vma->vm_file->f_inode;

	lock_acquire(inode->i_sb->s_machine, LOCK_INVALIDATE_LOCK);
	return vmf_fs_error(block_page_mkwrite(vmf->vma, vmf, ext4_da_get_block_prep));
}

static const struct vm_operations_struct ext4_file_vm_ops = {
	.fault = filemap_fault,
	.map_pages = filemap_map_pages,
	.page_mkwrite = ext4_page_mkwrite,
};

static int ext4_sync_file(struct file *file)
{
	return filemap_write_and_wait_range(file->f_mapping, 0, INT64_MAX);
}

static const struct file_operations ext4_file_operations = {
	.write_iter = ext4_buffered_write_iter,
	.fsync = ext4_sync_file,
	.fallocate = ext4_fallocate,
	.setattr_size = ext4_setattr_size,
	.release = ext4_release_file,
	.vm_ops = &ext4_file_vm_ops,
};

/* The journal must be able to hold one folio's blocks: EXT4_MAX_PAGECACHE_ORDER(). */
static unsigned int ext4_max_order(const struct inode *inode)
{
	const struct machine *m = inode->i_sb->s_machine;

	if (!knob(m, EXT4_LARGE))
		return 0;
	return min(m->max_pagecache_order, 11 + inode->i_blkbits - m->page_shift);
}

void ext4_init_inode(struct inode *inode)
{
	inode->i_data.a_ops = &ext4_da_aops;
	inode->i_fop = &ext4_file_operations;
	mapping_set_folio_order_range(inode->i_mapping, 0, ext4_max_order(inode));
}
