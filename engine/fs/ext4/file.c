/*
 * Mirrors fs/ext4/file.c, and of inode.c and extents.c what changes a file's size and blocks.
 */
#include <errno.h>

#include "fs/ext4/ext4_jbd2.h"
#include "fs/ext4/ondisk.h"
#include "fs/extents.h"
#include "fs/falloc.h"
#include "fs/super.h"

/* The clock of time stamps: CONFIG_HZ=250. */
#define TICK_PS 4000000000ULL

/* The time of the last change, which a file system keeps no finer than a tick. fs/inode.c */
static int file_update_time(struct inode *inode)
{
	struct ext4_inode_info *ei = EXT4_I(inode);
	u64 tick = inode->i_sb->s_machine->clock_ps / TICK_PS + 1;

	if (ei->i_mtime_tick == tick)
		return 0;
	ei->i_mtime_tick = tick;
	return ext4_dirty_inode(inode);
}

ssize_t ext4_buffered_write_iter(struct kiocb *iocb, struct iov_iter *iter)
{
	struct inode *inode = iocb->ki_filp->f_inode;
	struct machine *m = inode->i_sb->s_machine;
	int ret = file_update_time(inode);

	if (ret)
		return ret;
	if (iocb->ki_pos > inode->i_size && knob(m, EXT4_GAP_ZERO_EARLY))
		ext4_block_truncate_page(inode, inode->i_size);
	return generic_perform_write(iocb, iter);
}

static u64 blocks_up(const struct inode *inode, loff_t bytes)
{
	return ((u64)bytes + (1u << inode->i_blkbits) - 1) >> inode->i_blkbits;
}

/* Under the handle of the running task. */
static void free_run(struct inode *inode, u64 pblk, u64 len)
{
	ext4_free_blocks(ext4_journal_current_handle(inode), inode, pblk, len);
}

/* Blocks taken off at once: an entry of the extent tree. */
#define REMOVE_STEP 32768

/* Credits for freeing @len blocks: bitmaps and descriptors of their groups, and the tree's. */
static int free_credits(const struct inode *inode, u64 len)
{
	return 7 + 2 * (len / EXT4_SB(inode->i_sb)->s_blocks_per_group + 1);
}

/*
 * Take [lblk, end) off the file, a piece of an extent at a time from the end: a transaction without
 * room for more is followed by another one. fs/ext4/extents.c ext4_ext_remove_space()
 */
static int ext4_ext_remove_space(handle_t *handle, struct inode *inode, u64 lblk, u64 end)
{
	int ret = 0;

	while (lblk < end && !ret) {
		unsigned int i = extents_find(inode, end - 1);
		const struct fs_extent *e;
		u64 from, to;

		if (i == inode->i_nr_extents || inode->i_extents[i].lblk >= end) {
			if (!i)
				break;
			i--;
		}
		e = &inode->i_extents[i];
		from = max(lblk, e->lblk);
		to = min(end, e->lblk + e->len);
		if (from >= to)
			break;
		if (to - from > REMOVE_STEP)
			from = to - REMOVE_STEP;
		ret = ext4_journal_ensure_credits_restart(handle, free_credits(inode, to - from));
		if (!ret)
			ret = extents_remove(inode, from, to - from, free_run);
		if (!ret)
			ret = ext4_ext_dirty(handle, inode, from, to - from);
		end = from;
	}
	return ret;
}

int ext4_truncate(struct inode *inode)
{
	u64 first = blocks_up(inode, inode->i_size);
	handle_t *handle;
	int ret = ext4_block_truncate_page(inode, inode->i_size);

	if (ext4_has_inline_data(inode))
		return 0;
	if (!inode->i_size)
		inode->i_flags |= EXT4_STATE_DA_ALLOC_CLOSE;
	if (!ret)
		ret = ext4_journal_start(inode, EXT4_HT_TRUNCATE, ext4_chunk_trans_extent(inode, 1),
					 &handle);
	if (ret)
		return ret;
	ret = ext4_ext_remove_space(handle, inode, first, ~0ULL);
	if (!ret)
		ret = ext4_mark_inode_dirty(handle, inode);
	ext4_journal_stop(handle);
	return ret;
}

int ext4_setattr_size(struct inode *inode, loff_t size)
{
	loff_t old = inode->i_size;
	int ret = ext4_has_inline_data(inode) ? ext4_inline_data_truncate(inode, size) : 0;
	handle_t *handle;

	if (ret)
		return ret;
	if (size > old && knob(inode->i_sb->s_machine, EXT4_GAP_ZERO))
		ret = ext4_block_truncate_page(inode, old);
	if (!ret)
		ret = ext4_journal_start(inode, EXT4_HT_INODE, 3, &handle);
	if (ret)
		return ret;
	inode->i_size = inode->i_disksize = size;
	ret = ext4_mark_inode_dirty(handle, inode);
	ext4_journal_stop(handle);
	if (ret)
		return ret;
	truncate_pagecache(inode, size);
	return size <= old ? ext4_truncate(inode) : 0;
}

/* Zero what the hole covers of the blocks at its edges. */
static void ext4_zero_partial_blocks(struct inode *inode, loff_t start, loff_t end)
{
	loff_t block = 1 << inode->i_blkbits;

	if (start & (block - 1) || (end - start < block && round_down(end, block) <= start))
		ext4_block_zero_range(inode, start, min(end, round_down(start, block) + block));
	if (end & (block - 1) && round_down(end, block) > start)
		ext4_block_zero_range(inode, round_down(end, block), end);
}

/*
 * A punch that reaches the end of the file takes the dirty data whose writeback would have brought
 * the size to disk: it goes there now. fs/ext4/inode.c ext4_update_disksize_before_punch()
 */
static int update_disksize_before_punch(struct inode *inode, loff_t offset, loff_t end)
{
	handle_t *handle;
	int ret;

	if (offset > inode->i_size || end < inode->i_size || inode->i_disksize >= inode->i_size)
		return 0;
	ret = ext4_journal_start(inode, EXT4_HT_MISC, 1, &handle);
	if (ret)
		return ret;
	inode->i_disksize = inode->i_size;
	ret = ext4_mark_inode_dirty(handle, inode);
	ext4_journal_stop(handle);
	return ret;
}

/* The part of a punch that changes the file, its cache being cut already. */
static int punch_blocks(struct inode *inode, loff_t offset, loff_t end, u64 first, u64 last)
{
	handle_t *handle;
	int ret;

	ext4_zero_partial_blocks(inode, offset, end);
	ret = ext4_journal_start(inode, EXT4_HT_TRUNCATE, ext4_chunk_trans_extent(inode, 2),
				 &handle);
	if (ret)
		return ret;
	if (last > first)
		ret = ext4_ext_remove_space(handle, inode, first, last);
	if (!ret)
		ret = ext4_mark_inode_dirty(handle, inode);
	ext4_journal_stop(handle);
	return ret;
}

static int ext4_punch_hole(struct inode *inode, loff_t offset, loff_t len)
{
	struct machine *m = inode->i_sb->s_machine;
	loff_t block = 1 << inode->i_blkbits, end = offset + len;
	u64 first, last;
	int ret;

	if (!knob(m, EXT4_PUNCH_RANGE))
		filemap_write_and_wait_range(inode->i_mapping, offset, end - 1);
	if (offset >= inode->i_size)
		return 0;
	if (end > inode->i_size)
		end = round_up(inode->i_size,
			       knob(m, EXT4_PUNCH_EOF_BLOCK) ? block : (loff_t)m->page_size);
	ret = update_disksize_before_punch(inode, offset, end);
	if (ret)
		return ret;
	first = blocks_up(inode, offset);
	last = end >> inode->i_blkbits;
	if (knob(m, EXT4_PUNCH_RANGE))
		truncate_inode_pages_range(inode->i_mapping, offset, end - 1);
	else if (last > first)
		truncate_inode_pages_range(inode->i_mapping, first << inode->i_blkbits,
					   (last << inode->i_blkbits) - 1);
	return punch_blocks(inode, offset, end, first, last);
}

/* Unwritten blocks at @lblk, at most @len in one piece; the size follows up to @size. */
static s64 alloc_hole(struct inode *inode, u64 lblk, u64 len, loff_t size)
{
	struct fs_extent fresh = {.lblk = lblk, .state = EXTENT_UNWRITTEN};
	handle_t *handle;
	s64 got = ext4_journal_start(inode, EXT4_HT_MAP_BLOCKS, ext4_chunk_trans_blocks(inode, len),
				     &handle);
	int ret = 0;

	if (got)
		return got;
	got = ext4_mb_new_blocks(handle, inode, 0, min_t(u64, len, 32767), &fresh.pblk);
	if (got > 0) {
		fresh.len = got;
		ret = extents_set(inode, &fresh);
		if (!ret)
			ret = ext4_ext_dirty(handle, inode, lblk, got);
		size = min_t(loff_t, size, (lblk + got) << inode->i_blkbits);
		if (size > inode->i_disksize)
			inode->i_size = inode->i_disksize = max(inode->i_size, size);
	}
	ext4_journal_stop(handle);
	return ret ? ret : got;
}

/* Unwritten blocks for every hole of [lblk, end). */
static int ext4_alloc_file_blocks(struct inode *inode, u64 lblk, u64 end, loff_t size)
{
	int retries = 0;

	while (lblk < end) {
		u64 len;
		const struct fs_extent *e = inode_map_block(inode, lblk, &len);
		s64 got = 0;

		len = min(len, end - lblk);
		if (!e)
			got = alloc_hole(inode, lblk, len, size);
		if (got == -ENOSPC && ext4_should_retry_alloc(inode, &retries))
			continue;
		if (got < 0)
			return got;
		lblk += got ? (u64)got : len;
	}
	return 0;
}

long ext4_fallocate(struct file *file, int mode, loff_t offset, loff_t len)
{
	struct inode *inode = file->f_inode;
	int ret;

	ret = ext4_convert_inline_data(inode);
	if (ret)
		return ret;
	if (mode & FALLOC_FL_PUNCH_HOLE)
		return ext4_punch_hole(inode, offset, len);
	ret = ext4_alloc_file_blocks(inode, offset >> inode->i_blkbits,
				     blocks_up(inode, offset + len), offset + len);
	if (ret || offset + len <= inode->i_size)
		return ret;
	inode->i_size = inode->i_disksize = offset + len;
	return ext4_dirty_inode(inode);
}

void ext4_release_file(struct inode *inode)
{
	if (!(inode->i_flags & EXT4_STATE_DA_ALLOC_CLOSE))
		return;
	inode->i_flags &= ~EXT4_STATE_DA_ALLOC_CLOSE;
	__filemap_fdatawrite_range(inode->i_mapping, 0, INT64_MAX);
}
