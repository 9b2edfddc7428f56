/*
 * Mirrors fs/ext4/inode.c: who gets large folios, looking blocks up, delayed allocation, writing.
 */
#include "fs/ext4/ext4.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "block/blkdev.h"
#include "fs/ext4/ext4_jbd2.h"
#include "fs/ext4/ondisk.h"
#include "fs/extents.h"
#include "fs/super.h"
#include "mm/internal.h"

/* ---- blocks ---- */

static void map_bh(struct buffer_head *bh, const struct fs_extent *e, u64 iblock)
{
	set_buffer_mapped(bh);
	bh->b_blocknr = e->pblk + (iblock - e->lblk);
}

/*
 * Blocks from @lblk to the end of its indirect block, that one included: the first twelve hang off
 * the inode. fs/ext4/indirect.c ext4_block_to_path().
 */
static u64 blocks_to_boundary(const struct inode *inode, u64 lblk)
{
	u64 ptrs = 1u << (inode->i_blkbits - 2);

	return lblk < 12 ? 12 - lblk : ptrs - ((lblk - 12) & (ptrs - 1));
}

void ext4_map_blocks(struct inode *inode, struct ext4_map_blocks *map)
{
	u64 run;
	const struct fs_extent *e = inode_map_block(inode, map->m_lblk, &run);

	charge(inode->i_sb->s_machine, COST_ES_LOOKUP, 1);
	map->m_len = min(map->m_len, run);
	map->mapped = e && e->state == EXTENT_WRITTEN;
	map->boundary = false;
	map->m_pblk = e ? e->pblk + (map->m_lblk - e->lblk) : 0;
	if (map->mapped && !(inode->i_flags & EXT4_EXTENTS_FL)) {
		run = blocks_to_boundary(inode, map->m_lblk);
		map->boundary = map->m_len >= run;
		map->m_len = min(map->m_len, run);
	}
}

/* A delayed block is "new" until writeback: nothing of it is on disk. */
static void delay_bh(struct buffer_head *bh)
{
	set_buffer_mapped(bh);
	set_buffer_new(bh);
	set_buffer_delay(bh);
	bh->b_blocknr = 0;
}

/* Does the cluster of @iblock hold a block already, placed or delayed? */
static bool cluster_is_used(const struct inode *inode, u64 iblock)
{
	u64 blocks = EXT4_SB(inode->i_sb)->config.cluster_blocks;
	u64 first = iblock - iblock % blocks;
	unsigned int i = extents_find(inode, first);

	return i < inode->i_nr_extents && inode->i_extents[i].lblk < first + blocks;
}

/* A hole is looked up once more under i_data_sem before its cluster is reserved, once. */
static int ext4_insert_delayed_block(struct inode *inode, u64 iblock)
{
	struct machine *m = inode->i_sb->s_machine;
	struct fs_extent delayed = {.lblk = iblock, .len = 1, .state = EXTENT_DELAYED};

	charge2(m, COST_ES_LOOKUP, 1, COST_DA_RESERVE, !cluster_is_used(inode, iblock));
	return extents_set(inode, &delayed);
}

int ext4_da_get_block_prep(struct inode *inode, u64 iblock, struct buffer_head *bh, bool create)
{
	const struct fs_extent *e = extents_lookup(inode, iblock);
	int ret;

	(void)create;
	charge2(inode->i_sb->s_machine, COST_GET_BLOCK, 1, COST_ES_LOOKUP, 1);
	if (!e || e->state == EXTENT_DELAYED) {
		ret = e ? 0 : ext4_insert_delayed_block(inode, iblock);
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

/* Blocks for [lblk, lblk + want), where the file has none; *placed is what they became. */
static s64 place_blocks(handle_t *handle, struct inode *inode, u64 want, struct fs_extent *placed)
{
	s64 got = ext4_mb_new_blocks(handle, inode, ext4_ext_find_goal(inode, placed->lblk), want,
				     &placed->pblk);
	int ret;

	if (got < 0)
		return got;
	placed->len = got;
	ret = extents_set(inode, placed);
	if (!ret)
		ret = ext4_ext_dirty(handle, inode, placed->lblk, placed->len);
	return ret ? ret : got;
}

s64 ext4_map_create_blocks(handle_t *handle, struct inode *inode, u64 lblk, u64 len, bool unwritten,
			   u64 *pblk)
{
	const struct fs_extent *e = extents_lookup(inode, lblk);
	struct fs_extent placed = {
		.lblk = lblk,
		.state = unwritten ? EXTENT_UNWRITTEN : EXTENT_WRITTEN,
	};
	struct machine *m = inode->i_sb->s_machine;
	s64 got;
	int ret = 0;

	charge2(m, COST_ES_LOOKUP, 1, COST_EXT_MAP, 1);
	if (!e) /* cut off meanwhile */
		return -ENOENT;
	len = min(len, e->lblk + e->len - lblk);
	if (e->state == EXTENT_DELAYED) {
		got = place_blocks(handle, inode, len, &placed);
		*pblk = placed.pblk;
	} else {
		*pblk = e->pblk + (lblk - e->lblk);
		got = len;
		if (e->state == EXTENT_UNWRITTEN && !unwritten)
			ret = extents_set_state(inode, lblk, len, EXTENT_WRITTEN);
		if (!ret)
			ret = ext4_ext_dirty(handle, inode, lblk, len);
	}
	trace_event(&m->trace, EV_ext4_ext_map_blocks_exit, 0, inode->i_ino, lblk, len,
		    max_t(s64, got, 0));
	if (!ret && got > 0 && !unwritten)
		ext4_jbd2_inode_add_write(handle, inode, lblk << inode->i_blkbits,
					  got << inode->i_blkbits);
	return ret ? ret : got;
}

/* Make one block: new in a hole, or written where it was not. A delayed one gets its place. */
static int make_block(struct inode *inode, u64 iblock, const struct fs_extent *e)
{
	struct fs_extent placed = {.lblk = iblock, .state = EXTENT_WRITTEN};
	handle_t *handle = ext4_journal_current_handle(inode);
	s64 ret;

	if (e && e->state == EXTENT_UNWRITTEN) {
		ret = extents_set_state(inode, iblock, 1, EXTENT_WRITTEN);
		if (!ret)
			ret = ext4_ext_dirty(handle, inode, iblock, 1);
	} else {
		ret = place_blocks(handle, inode, 1, &placed);
	}
	if (ret < 0)
		return ret;
	ext4_jbd2_inode_add_write(handle, inode, iblock << inode->i_blkbits,
				  1LL << inode->i_blkbits);
	return 0;
}

int ext4_get_block(struct inode *inode, u64 iblock, struct buffer_head *bh, bool create)
{
	const struct fs_extent *e = extents_lookup(inode, iblock);
	bool fresh = create && (!e || e->state != EXTENT_WRITTEN);
	int ret = 0;

	charge2(inode->i_sb->s_machine, COST_GET_BLOCK, create, COST_ES_LOOKUP, 1);
	if (fresh) {
		ret = ext4_journal_ensure_extent_credits(ext4_journal_current_handle(inode), inode);
		if (!ret)
			ret = make_block(inode, iblock, e);
		if (ret)
			return ret;
		set_buffer_new(bh);
		e = extents_lookup(inode, iblock);
	}
	if (e && e->state == EXTENT_WRITTEN)
		map_bh(bh, e, iblock);
	return 0;
}

/* ---- writing ---- */

get_block_t ext4_write_get_block(const struct inode *inode)
{
	return test_opt(inode->i_sb, EXT4_MOUNT_DELALLOC) && !ext4_should_journal_data(inode)
		       ? ext4_da_get_block_prep
		       : ext4_get_block;
}

static size_t ext4_size_hint(const struct inode *inode, unsigned int len)
{
	return knob(inode->i_sb->s_machine, EXT4_LARGE) ? len : 0;
}

/* The locked folio for the write at @pos, not under writeback; *len is cut to its end. */
static int write_begin_get_folio(struct address_space *mapping, loff_t pos, unsigned int *len,
				 struct folio **foliop)
{
	struct inode *inode = mapping->host;
	int ret = __filemap_get_folio(mapping, pos >> mapping_machine(mapping)->page_shift,
				      FGP_WRITEBEGIN, ext4_size_hint(inode, *len), foliop);

	if (ret)
		return ret;
	*len = min_t(u64, *len, folio_pos(*foliop) + folio_size(*foliop) - pos);
	folio_wait_writeback(*foliop);
	return 0;
}

static int ext4_block_write_begin(struct folio *folio, loff_t pos, unsigned int len,
				  get_block_t get_block)
{
	int ret = __block_write_begin(folio, pos, len, get_block);

	if (ret) {
		folio_unlock(folio);
		folio_put(folio);
	}
	return ret;
}

static int ext4_da_write_begin(struct address_space *mapping, loff_t pos, unsigned int len,
			       struct folio **foliop)
{
	struct inode *inode = mapping->host;
	int ret = ext4_try_to_write_inline_data(inode, pos, len, ext4_da_get_block_prep, foliop);

	trace_event(&mapping_machine(mapping)->trace, EV_ext4_da_write_begin, 0, inode->i_ino, pos,
		    len, 0);
	if (ret)
		return min(ret, 0);
	charge(mapping_machine(mapping), COST_DA_WRITE, 1);
	ret = write_begin_get_folio(mapping, pos, &len, foliop);
	return ret ? ret : ext4_block_write_begin(*foliop, pos, len, ext4_da_get_block_prep);
}

/* Data of the blocks of [from, to) goes through the journal. ext4_dirty_journalled_data() */
static int journal_blocks(handle_t *handle, struct folio *folio, size_t from, size_t to)
{
	struct inode *inode = folio->mapping->host;
	struct buffer_head *bh = folio_buffers(folio);
	u64 first = folio_pos(folio) >> inode->i_blkbits;
	int ret = 0;

	for (size_t i = from >> inode->i_blkbits; i << inode->i_blkbits < to && !ret; i++) {
		if (!buffer_mapped(&bh[i]))
			continue;
		ret = jbd2_journal_dirty_data(handle, bh[i].b_blocknr, inode, first + i);
		clear_buffer_dirty(&bh[i]);
		set_buffer_jbddirty(&bh[i]);
	}
	EXT4_I(inode)->i_datasync_tid = EXT4_I(inode)->i_sync_tid = handle->h_transaction->t_tid;
	return ret;
}

/* The folio again, under a handle; -ESTALE: it was cut off while it was not locked. */
static int lock_under_handle(struct address_space *mapping, struct folio *folio)
{
	folio_lock(folio);
	if (folio->mapping == mapping) {
		folio_wait_writeback(folio);
		return 0;
	}
	folio_unlock(folio);
	folio_put(folio);
	return -ESTALE;
}

static int try_write_begin(struct address_space *mapping, loff_t pos, unsigned int len,
			   struct folio **foliop)
{
	struct inode *inode = mapping->host;
	handle_t *handle;
	int ret = write_begin_get_folio(mapping, pos, &len, foliop);

	if (ret)
		return ret;
	/* A transaction that has to be committed first may want to write this folio. */
	folio_unlock(*foliop);
	ret = ext4_journal_start(inode, EXT4_HT_WRITE_PAGE, ext4_write_begin_credits(inode),
				 &handle);
	if (ret) {
		folio_put(*foliop);
		return ret;
	}
	ret = lock_under_handle(mapping, *foliop);
	if (!ret)
		ret = ext4_block_write_begin(*foliop, pos, len, ext4_get_block);
	if (ret)
		ext4_journal_stop(handle);
	return ret;
}

/*
 * Blocks are made at once, in one handle a folio, which stays open until write_end. Without credits
 * or room for more blocks another transaction is tried.
 */
static int ext4_write_begin(struct address_space *mapping, loff_t pos, unsigned int len,
			    struct folio **foliop)
{
	struct inode *inode = mapping->host;
	int ret = ext4_try_to_write_inline_data(inode, pos, len, ext4_get_block, foliop);
	int retries = 0;

	trace_event(&mapping_machine(mapping)->trace, EV_ext4_write_begin, 0, inode->i_ino, pos,
		    len, 0);
	if (ret)
		return min(ret, 0);
	do
		ret = try_write_begin(mapping, pos, len, foliop);
	while (ret == -EAGAIN || ret == -ESTALE ||
	       (ret == -ENOSPC && ext4_should_retry_alloc(inode, &retries)));
	return ret;
}

/* The old last block up to the write, if it was not full. */
static void zero_gap(struct inode *inode, loff_t old_size, loff_t pos)
{
	loff_t block = 1 << inode->i_blkbits;

	if (old_size & (block - 1))
		ext4_block_zero_range(inode, old_size, min(pos, round_up(old_size, block)));
}

/*
 * What the three kinds of writing end with: size, unlocking, the gap behind the old end. @disksize:
 * the size on disk may follow; @dirty: a delayed write makes its inode dirty.
 */
static int finish_write(struct folio *folio, loff_t pos, unsigned int copied, bool disksize,
			bool dirty)
{
	struct inode *inode = folio->mapping->host;
	struct machine *m = folio_machine(folio);
	handle_t *handle = ext4_journal_current_handle(inode);
	loff_t old_size = inode->i_size, end = pos + copied;

	if (end > inode->i_size)
		inode->i_size = end;
	folio_unlock(folio);
	folio_put(folio);
	if (dirty && ext4_journal_start(inode, EXT4_HT_INODE, 2, &handle))
		return copied; /* the size follows with writeback */
	if (disksize && end > inode->i_disksize) {
		inode->i_disksize = end;
		ext4_mark_inode_dirty(handle, inode);
	}
	ext4_journal_stop(handle);
	if (pos > old_size && knob(m, EXT4_GAP_ZERO) && !knob(m, EXT4_GAP_ZERO_EARLY))
		zero_gap(inode, old_size, pos);
	return copied;
}

/* Is the block at the end of the write on disk, so that the size on disk may follow at once? */
static bool ext4_da_should_update_i_disksize(struct folio *folio, size_t end)
{
	const struct buffer_head *bh = folio_buffers(folio);

	bh += (end - 1) >> folio->mapping->host->i_blkbits;
	return buffer_mapped(bh) && !buffer_delay(bh) && !buffer_unwritten(bh);
}

static int ext4_da_write_end(struct address_space *mapping, loff_t pos, unsigned int len,
			     unsigned int copied, struct folio *folio)
{
	struct inode *inode = mapping->host;
	size_t from = pos - folio_pos(folio);
	bool grows = pos + copied > inode->i_size, disksize;

	(void)len;
	if (ext4_has_inline_data(inode)) {
		ext4_write_inline_data_end(inode, pos, copied, folio);
		return copied;
	}
	block_commit_write(folio, from, from + copied);
	disksize = grows && ext4_da_should_update_i_disksize(folio, from + copied);
	return finish_write(folio, pos, copied, disksize,
			    disksize ||
				    (grows && !knob(mapping_machine(mapping), EXT4_DA_DIRTY_ONCE)));
}

static int ext4_write_end(struct address_space *mapping, loff_t pos, unsigned int len,
			  unsigned int copied, struct folio *folio)
{
	size_t from = pos - folio_pos(folio);

	(void)len;
	if (ext4_has_inline_data(mapping->host)) {
		ext4_write_inline_data_end(mapping->host, pos, copied, folio);
		return copied;
	}
	block_commit_write(folio, from, from + copied);
	return finish_write(folio, pos, copied, true, false);
}

/* Every buffer is visited once more: those of the range are the journal's to write. */
static int ext4_journalled_write_end(struct address_space *mapping, loff_t pos, unsigned int len,
				     unsigned int copied, struct folio *folio)
{
	struct inode *inode = mapping->host;
	size_t from = pos - folio_pos(folio);
	int ret;

	if (ext4_has_inline_data(inode))
		return ext4_write_end(mapping, pos, len, copied, folio);
	charge(mapping_machine(mapping), COST_BUFFER_VISIT, blocks_per_folio(inode, folio));
	block_commit_write(folio, from, from + copied);
	ret = journal_blocks(ext4_journal_current_handle(inode), folio, from, from + copied);
	copied = finish_write(folio, pos, copied, true, false);
	return ret ? ret : (int)copied;
}

/* Zero bytes of one block in a locked folio; it may turn out to be a hole. */
static int zero_block_range(struct inode *inode, struct folio *folio, loff_t from, size_t length)
{
	size_t offset = from - folio_pos(folio);
	struct buffer_head *bh = create_empty_buffers(folio);
	char *p = folio_address(folio);
	handle_t *handle;
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
	handle = ext4_journal_current_handle(inode);
	if (ext4_should_journal_data(inode))
		return journal_blocks(handle, folio, offset, offset + length);
	if (!buffer_delay(bh) && !buffer_unwritten(bh))
		ext4_jbd2_inode_add_write(handle, inode, from, length);
	return 0;
}

int ext4_block_zero_range(struct inode *inode, loff_t from, loff_t end)
{
	struct address_space *mapping = inode->i_mapping;
	struct folio *folio;
	handle_t *handle;
	int ret;

	if (ext4_has_inline_data(inode))
		return 0;
	/* Before the handle: memory may have to be written back for it. */
	ret = __filemap_get_folio(mapping, from >> inode->i_sb->s_machine->page_shift,
				  FGP_LOCK | FGP_CREAT, 0, &folio);
	if (ret)
		return ret;
	folio_unlock(folio);
	ret = ext4_journal_start(inode, EXT4_HT_INODE, 2, &handle);
	if (ret) {
		folio_put(folio);
		return ret;
	}
	ret = lock_under_handle(mapping, folio);
	if (!ret) {
		ret = zero_block_range(inode, folio, from, end - from);
		folio_unlock(folio);
		folio_put(folio);
	}
	ext4_journal_stop(handle);
	return ret == -ESTALE ? 0 : ret;
}

int ext4_block_truncate_page(struct inode *inode, loff_t from)
{
	loff_t block = 1 << inode->i_blkbits;

	return from & (block - 1) ? ext4_block_zero_range(inode, from, round_up(from, block)) : 0;
}

/* ---- operations ---- */

static int ext4_read_folio(struct file *file, struct folio *folio)
{
	struct inode *inode = folio->mapping->host;

	(void)file;
	if (!ext4_has_inline_data(inode))
		return ext4_mpage_readpages(inode, NULL, folio);
	ext4_readpage_inline(inode, folio);
	return 0;
}

static void ext4_readahead(struct readahead_control *rac)
{
	/* Inline data is not read ahead. */
	if (!ext4_has_inline_data(rac->mapping->host))
		ext4_mpage_readpages(rac->mapping->host, rac, NULL);
}

static bool ext4_release_folio(struct folio *folio, gfp_t gfp)
{
	(void)gfp;
	return try_to_free_buffers(folio);
}

#define EXT4_AOPS(begin, end)                                                                      \
	{                                                                                          \
		.read_folio = ext4_read_folio, .readahead = ext4_readahead, .write_begin = begin,  \
		.write_end = end, .writepages = ext4_writepages, .dirty_folio = block_dirty_folio, \
		.is_partially_uptodate = block_is_partially_uptodate,                              \
		.release_folio = ext4_release_folio, .invalidate_folio = block_invalidate_folio,   \
	}

const struct address_space_operations ext4_aops = EXT4_AOPS(ext4_write_begin, ext4_write_end);
const struct address_space_operations ext4_da_aops =
	EXT4_AOPS(ext4_da_write_begin, ext4_da_write_end);
const struct address_space_operations ext4_journalled_aops =
	EXT4_AOPS(ext4_write_begin, ext4_journalled_write_end);

/* With blocks made at once, under a handle; -EAGAIN: it has no credits left, once more. */
static int mkwrite_with_handle(struct vm_fault *vmf, struct inode *inode)
{
	handle_t *handle;
	int ret = ext4_journal_start(inode, EXT4_HT_WRITE_PAGE, ext4_write_begin_credits(inode) - 1,
				     &handle);

	if (ret)
		return ret;
	ret = block_page_mkwrite(vmf->vma, vmf, ext4_get_block);
	if (!ret && ext4_should_journal_data(inode))
		ret = journal_blocks(
			handle, vmf->folio, 0,
			min_t(u64, folio_size(vmf->folio), inode->i_size - folio_pos(vmf->folio)));
	ext4_journal_stop(handle);
	return ret;
}

static vm_fault_t ext4_page_mkwrite(struct vm_fault *vmf)
{
	struct inode *inode = vmf->vma->vm_file->f_inode;
	int ret;

	lock_acquire(inode->i_sb->s_machine, LOCK_INVALIDATE_LOCK);
	ret = ext4_convert_inline_data(inode);
	if (ret)
		return vmf_fs_error(ret);
	if (ext4_write_get_block(inode) != ext4_get_block)
		return vmf_fs_error(block_page_mkwrite(vmf->vma, vmf, ext4_da_get_block_prep));
	do
		ret = mkwrite_with_handle(vmf, inode);
	while (ret == -EAGAIN);
	return vmf_fs_error(ret);
}

static const struct vm_operations_struct ext4_file_vm_ops = {
	.fault = filemap_fault,
	.map_pages = filemap_map_pages,
	.page_mkwrite = ext4_page_mkwrite,
};

static const struct file_operations ext4_file_operations = {
	.write_iter = ext4_buffered_write_iter,
	.fsync = ext4_sync_file,
	.fallocate = ext4_fallocate,
	.setattr_size = ext4_setattr_size,
	.release = ext4_release_file,
	.vm_ops = &ext4_file_vm_ops,
};

/* ---- inodes ---- */

static void ext4_set_aops(struct inode *inode)
{
	if (ext4_should_journal_data(inode))
		inode->i_data.a_ops = &ext4_journalled_aops;
	else if (test_opt(inode->i_sb, EXT4_MOUNT_DELALLOC))
		inode->i_data.a_ops = &ext4_da_aops;
	else
		inode->i_data.a_ops = &ext4_aops;
}

/* 6.16 to 6.18. fs/ext4/inode.c ext4_should_enable_large_folio(); all files here are regular. */
static bool ext4_should_enable_large_folio(const struct inode *inode)
{
	const struct super_block *sb = inode->i_sb;
	const struct machine *m = sb->s_machine;

	if (!knob(m, EXT4_LARGE))
		return false;
	if (test_opt(sb, EXT4_MOUNT_JOURNAL_DATA) || inode->i_flags & EXT4_JOURNAL_DATA_FL)
		return false;
	if (ext4_has_feature(sb, EXT4_FEATURE_VERITY) && !knob(m, EXT4_VERITY_LARGE))
		return false;
	return !ext4_has_feature(sb, EXT4_FEATURE_ENCRYPT);
}

/* With EXT4_ORDER_CAP a folio holds at most 2048 blocks: EXT4_MAX_PAGECACHE_ORDER(). */
static unsigned int ext4_max_order(const struct inode *inode)
{
	const struct machine *m = inode->i_sb->s_machine;

	if (!knob(m, EXT4_ORDER_CAP))
		return m->max_pagecache_order;
	return min(m->max_pagecache_order, 11 + inode->i_blkbits - m->page_shift);
}

void ext4_set_inode_mapping_order(struct inode *inode)
{
	const struct ext4_sb_info *sbi = EXT4_SB(inode->i_sb);
	unsigned int low = 0, high = 0;

	if (!knob(inode->i_sb->s_machine, EXT4_BS_GT_PS)) {
		high = ext4_should_enable_large_folio(inode) ? ext4_max_order(inode) : 0;
	} else if (sbi->s_max_folio_order) {
		low = sbi->s_min_folio_order;
		high = inode->i_flags & EXT4_JOURNAL_DATA_FL ? low : sbi->s_max_folio_order;
	}
	mapping_set_folio_order_range(inode->i_mapping, low, high);
}

int ext4_init_inode(struct inode *inode)
{
	const struct super_block *sb = inode->i_sb;
	struct ext4_inode_info *ei = calloc(1, sizeof(*ei));

	if (!ei)
		return -ENOMEM;
	jbd2_journal_init_jbd_inode(&ei->jinode, inode);
	inode->i_private = ei;
	inode->i_fop = &ext4_file_operations;
	inode->i_flags = EXT4_SB(sb)->config.dir_flags & EXT4_FL_INHERITED;
	if (ext4_has_feature(sb, EXT4_FEATURE_EXTENTS))
		inode->i_flags |= EXT4_EXTENTS_FL;
	if (ext4_has_feature(sb, EXT4_FEATURE_INLINE_DATA) && !inode->i_size)
		inode->i_flags |= EXT4_STATE_MAY_INLINE_DATA;
	ext4_set_inode_mapping_order(inode);
	ext4_set_aops(inode);
	return 0;
}

int ext4_settle_inode(struct inode *inode)
{
	return ext4_journal(inode) ? ext4_preset_inode(inode) : 0;
}

void ext4_free_inode(struct inode *inode)
{
	if (ext4_journal(inode))
		jbd2_journal_forget_inode(ext4_journal(inode), inode);
	jbd2_journal_release_jbd_inode(&EXT4_I(inode)->jinode);
	ext4_ext_release(inode);
}

void ext4_set_inode_flags(struct inode *inode, u32 flags)
{
	const unsigned long inlined = EXT4_INLINE_DATA_FL | EXT4_STATE_MAY_INLINE_DATA;

	inode->i_flags =
		(inode->i_flags & inlined) | (flags & (EXT4_ENCRYPT_FL | EXT4_JOURNAL_DATA_FL |
						       EXT4_EXTENTS_FL | EXT4_VERITY_FL));
	if (!ext4_has_inline_data(inode))
		inode->i_flags &= ~EXT4_STATE_MAY_INLINE_DATA;
	ext4_set_inode_mapping_order(inode);
	ext4_set_aops(inode);
}

int ext4_reread_inode(struct inode *inode)
{
	int ret = filemap_write_and_wait_range(inode->i_mapping, 0, INT64_MAX);

	blk_drain(inode->i_sb->s_machine);
	if (!ret && ext4_journal(inode))
		ret = jbd2_journal_flush(ext4_journal(inode));
	truncate_inode_pages_range(inode->i_mapping, 0, -1);
	if (!ext4_has_inline_data(inode))
		inode->i_flags &= ~EXT4_STATE_MAY_INLINE_DATA;
	ext4_set_inode_mapping_order(inode);
	ext4_set_aops(inode);
	return ret;
}

int ext4_change_inode_journal_flag(struct inode *inode, bool val)
{
	struct machine *m = inode->i_sb->s_machine;
	int ret;

	if (!ext4_has_feature(inode->i_sb, EXT4_FEATURE_HAS_JOURNAL))
		return 0;
	if (val || knob(m, EXT4_JFLAG_LIVE)) {
		lock_acquire(m, LOCK_INVALIDATE_LOCK);
		ret = filemap_write_and_wait_range(inode->i_mapping, 0, INT64_MAX);
		if (ret)
			return ret;
	}
	/* What was journalled is home before it is written any other way. */
	if (!val)
		jbd2_journal_flush(ext4_journal(inode));
	if (knob(m, EXT4_JFLAG_LIVE)) {
		blk_drain(m);
		truncate_inode_pages_range(inode->i_mapping, 0, -1);
	}
	if (val)
		inode->i_flags |= EXT4_JOURNAL_DATA_FL;
	else
		inode->i_flags &= ~EXT4_JOURNAL_DATA_FL;
	if (knob(m, EXT4_JFLAG_LIVE))
		ext4_set_inode_mapping_order(inode);
	ext4_set_aops(inode);
	return ext4_dirty_inode(inode);
}
