/*
 * Mirrors fs/ext4/file.c, and of inode.c and extents.c what changes a file's size and blocks.
 */
#include <errno.h>

#include "fs/balloc.h"
#include "fs/ext4/ext4.h"
#include "fs/extents.h"
#include "fs/falloc.h"
#include "fs/super.h"

ssize_t ext4_buffered_write_iter(struct kiocb *iocb, struct iov_iter *iter)
{
	struct inode *inode = iocb->ki_filp->f_inode;
	struct machine *m = inode->i_sb->s_machine;

	ext4_journal_start(inode); /* the time of the last change */
	if (iocb->ki_pos > inode->i_size && knob(m, EXT4_GAP_ZERO_EARLY))
		ext4_block_truncate_page(inode, inode->i_size);
	return generic_perform_write(iocb, iter);
}

static void ext4_free_blocks(struct inode *inode, u64 pblk, u64 len)
{
	block_free(inode->i_sb->s_space, pblk, len);
}

static u64 blocks_up(const struct inode *inode, loff_t bytes)
{
	return ((u64)bytes + (1u << inode->i_blkbits) - 1) >> inode->i_blkbits;
}

static int ext4_truncate(struct inode *inode)
{
	u64 first = blocks_up(inode, inode->i_size);

	if (ext4_has_inline_data(inode))
		return 0;
	if (!inode->i_size)
		inode->i_flags |= EXT4_STATE_DA_ALLOC_CLOSE;
	ext4_block_truncate_page(inode, inode->i_size);
	return extents_remove(inode, first, ~0ULL - first, ext4_free_blocks);
}

int ext4_setattr_size(struct inode *inode, loff_t size)
{
	loff_t old = inode->i_size;
	int ret = ext4_has_inline_data(inode) ? ext4_inline_data_truncate(inode, size) : 0;

	if (ret)
		return ret;
	if (size > old && knob(inode->i_sb->s_machine, EXT4_GAP_ZERO))
		ext4_block_truncate_page(inode, old);
	inode->i_size = size;
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

static int ext4_punch_hole(struct inode *inode, loff_t offset, loff_t len)
{
	struct machine *m = inode->i_sb->s_machine;
	loff_t block = 1 << inode->i_blkbits, end = offset + len;
	u64 first, last;

	if (!knob(m, EXT4_PUNCH_RANGE))
		filemap_write_and_wait_range(inode->i_mapping, offset, end - 1);
	if (offset >= inode->i_size)
		return 0;
	if (end > inode->i_size)
		end = round_up(inode->i_size, knob(m, EXT4_PUNCH_EOF_BLOCK)
						      ? block : (loff_t)m->page_size);
	first = blocks_up(inode, offset);
	last = end >> inode->i_blkbits;
	if (knob(m, EXT4_PUNCH_RANGE))
		truncate_inode_pages_range(inode->i_mapping, offset, end - 1);
	else if (last > first)
		truncate_inode_pages_range(inode->i_mapping, first << inode->i_blkbits,
					   (last << inode->i_blkbits) - 1);
	ext4_zero_partial_blocks(inode, offset, end);
	if (last <= first)
		return 0;
	return extents_remove(inode, first, last - first, ext4_free_blocks);
}

/* Unwritten blocks for every hole of [lblk, end). */
static int ext4_alloc_file_blocks(struct inode *inode, u64 lblk, u64 end)
{
	while (lblk < end) {
		u64 len;
		const struct fs_extent *e = inode_map_block(inode, lblk, &len);
		struct fs_extent fresh = { .lblk = lblk, .state = EXTENT_UNWRITTEN };
		s64 got;
		int ret;

		len = min(len, end - lblk);
		if (!e) {
			got = block_alloc(inode->i_sb->s_space, 0, min_t(u64, len, 32767),
					  &fresh.pblk);
			if (got < 0)
				return got;
			fresh.len = len = got;
			ret = extents_set(inode, &fresh);
			if (ret)
				return ret;
		}
		lblk += len;
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
				     blocks_up(inode, offset + len));
	if (!ret && offset + len > inode->i_size)
		inode->i_size = offset + len;
	return ret;
}

void ext4_release_file(struct inode *inode)
{
	if (!(inode->i_flags & EXT4_STATE_DA_ALLOC_CLOSE))
		return;
	inode->i_flags &= ~EXT4_STATE_DA_ALLOC_CLOSE;
	__filemap_fdatawrite_range(inode->i_mapping, 0, INT64_MAX);
}
