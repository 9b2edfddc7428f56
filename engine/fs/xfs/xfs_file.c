/*
 * Mirrors fs/xfs/xfs_file.c, xfs_iops.c and xfs_bmap_util.c: the system calls that change a file.
 */
#include "fs/balloc.h"
#include "fs/extents.h"
#include "fs/falloc.h"
#include "fs/super.h"
#include "fs/xfs/xfs.h"
#include "mm/internal.h"

static void xfs_free_blocks(struct inode *inode, u64 pblk, u64 len)
{
	block_free(inode->i_sb->s_space, pblk, len);
}

static u64 blocks_up(const struct inode *inode, loff_t bytes)
{
	return ((u64)bytes + (1u << inode->i_blkbits) - 1) >> inode->i_blkbits;
}

static ssize_t xfs_file_buffered_write(struct kiocb *iocb, struct iov_iter *iter)
{
	struct inode *inode = iocb->ki_filp->f_inode;
	int ret;

	if (iocb->ki_pos > inode->i_size) {
		ret = xfs_zero_range(inode, inode->i_size, iocb->ki_pos - inode->i_size, NULL);
		if (ret)
			return ret;
	}
	return iomap_file_buffered_write(iocb, iter, &xfs_buffered_write_iomap_ops);
}

static int xfs_file_fsync(struct file *file)
{
	return filemap_write_and_wait_range(file->f_mapping, 0, INT64_MAX);
}

/* What lies between the size on disk and the new one must not show stale bytes after a crash. */
static int flush_to_size(struct inode *inode, loff_t old_size, loff_t new_size, bool did_zero)
{
	if (!did_zero && !(new_size > inode->i_disksize && old_size != inode->i_disksize))
		return 0;
	return filemap_write_and_wait_range(inode->i_mapping, inode->i_disksize, new_size - 1);
}

static int xfs_truncate_down(struct inode *inode, loff_t size)
{
	const struct machine *m = inode->i_sb->s_machine;
	loff_t old = inode->i_size, block = 1 << inode->i_blkbits;
	u64 first = blocks_up(inode, size);
	bool did_zero = false;
	int ret = 0;

	if (!knob(m, XFS_TRUNC_NO_PREFLUSH))
		filemap_write_and_wait_range(inode->i_mapping, size, size);
	if (size & (block - 1))
		ret = xfs_zero_range(inode, size,
				     min(block - (size & (block - 1)), INT64_MAX - size),
				     &did_zero);
	if (ret)
		return ret;
	inode->i_size = size;
	truncate_pagecache(inode, size);
	ret = flush_to_size(inode, old, size, did_zero);
	if (ret)
		return ret;
	ret = extents_remove(inode, first, ~0ULL - first, xfs_free_blocks);
	inode->i_disksize = min(inode->i_disksize, size);
	inode->i_flags |= XFS_ITRUNCATED;
	return ret;
}

static int xfs_truncate_up(struct inode *inode, loff_t size)
{
	loff_t old = inode->i_size;
	bool did_zero = false;
	int ret = xfs_zero_range(inode, old, size - old, &did_zero);

	if (ret)
		return ret;
	inode->i_size = size;
	ret = flush_to_size(inode, old, size, did_zero);
	inode->i_disksize = max(inode->i_disksize, size);
	return ret;
}

static int xfs_setattr_size(struct inode *inode, loff_t size)
{
	if (size > inode->i_size)
		return xfs_truncate_up(inode, size);
	return xfs_truncate_down(inode, size);
}

/* fs/xfs/xfs_bmap_util.c xfs_free_file_space(). */
static int xfs_free_file_space(struct inode *inode, loff_t offset, loff_t len)
{
	const struct machine *m = inode->i_sb->s_machine;
	loff_t unit = max((loff_t)m->page_size, (loff_t)1 << inode->i_blkbits);
	loff_t start = round_down(offset, unit);
	loff_t last_byte = round_up((u64)offset + len, (u64)unit) - 1;
	u64 first = blocks_up(inode, offset), last = (u64)(offset + len) >> inode->i_blkbits;
	int ret = filemap_write_and_wait_range(inode->i_mapping, start, last_byte);

	if (ret)
		return ret;
	truncate_inode_pages_range(inode->i_mapping, start, last_byte);
	if (last > first)
		ret = extents_remove(inode, first, last - first, xfs_free_blocks);
	if (ret || offset >= inode->i_size)
		return ret;
	return xfs_zero_range(inode, offset, min(offset + len, inode->i_size) - offset, NULL);
}

/* Unwritten blocks for holes, a place for what is delayed. xfs_alloc_file_space(). */
static int xfs_alloc_file_space(struct inode *inode, loff_t offset, loff_t len)
{
	u64 lblk = offset >> inode->i_blkbits, end = blocks_up(inode, offset + len);

	while (lblk < end) {
		u64 run;
		const struct fs_extent *e = inode_map_block(inode, lblk, &run);
		struct fs_extent fresh = {.lblk = lblk, .state = EXTENT_UNWRITTEN};
		int ret = 0;
		s64 got;

		run = min(run, end - lblk);
		if (!e) {
			got = block_alloc(inode->i_sb->s_space, 0, run, &fresh.pblk);
			if (got < 0)
				return got;
			fresh.len = run = got;
			ret = extents_set(inode, &fresh);
		} else if (e->state == EXTENT_DELAYED) {
			ret = xfs_bmapi_convert_delalloc(inode, lblk);
		}
		if (ret)
			return ret;
		lblk += run;
	}
	return 0;
}

static long xfs_file_fallocate(struct file *file, int mode, loff_t offset, loff_t len)
{
	struct inode *inode = file->f_inode;
	int ret;

	if (mode & FALLOC_FL_PUNCH_HOLE)
		return xfs_free_file_space(inode, offset, len);
	ret = xfs_alloc_file_space(inode, offset, len);
	if (!ret && offset + len > inode->i_size)
		ret = xfs_truncate_up(inode, offset + len);
	return ret;
}

static bool has_delayed(const struct inode *inode)
{
	for (unsigned int i = 0; i < inode->i_nr_extents; i++)
		if (inode->i_extents[i].state == EXTENT_DELAYED)
			return true;
	return false;
}

/* A file cut and rewritten is written back when it is closed. xfs_release(). */
static void xfs_file_release(struct inode *inode)
{
	if (!(inode->i_flags & XFS_ITRUNCATED))
		return;
	inode->i_flags &= ~(unsigned long)XFS_ITRUNCATED;
	if (has_delayed(inode))
		__filemap_fdatawrite_range(inode->i_mapping, 0, INT64_MAX);
}

static vm_fault_t xfs_filemap_page_mkwrite(struct vm_fault *vmf)
{
	struct address_space *mapping = vmf->vma->vm_file->f_mapping;
	struct machine *m = mapping_machine(mapping);
	vm_fault_t ret;

	lock_shared(m, INVALIDATE_LOCK, &mapping->invalidate_lock);
	ret = iomap_page_mkwrite(vmf, &xfs_buffered_write_iomap_ops);
	unlock_shared(m, INVALIDATE_LOCK, &mapping->invalidate_lock);
	return ret;
}

static const struct vm_operations_struct xfs_file_vm_ops = {
	.fault = filemap_fault,
	.map_pages = filemap_map_pages,
	.page_mkwrite = xfs_filemap_page_mkwrite,
};

const struct file_operations xfs_file_operations = {
	.write_iter = xfs_file_buffered_write,
	.fsync = xfs_file_fsync,
	.fallocate = xfs_file_fallocate,
	.setattr_size = xfs_setattr_size,
	.release = xfs_file_release,
	.read_iolock = true,
	.vm_ops = &xfs_file_vm_ops,
};
