#include "fs/xfs/xfs.h"

#include "fs/extents.h"

static const struct iomap_ops xfs_read_iomap_ops = {.iomap_begin = iomap_from_extents};

static int xfs_vm_read_folio(struct file *file, struct folio *folio)
{
	(void)file;
	return iomap_read_folio(folio, &xfs_read_iomap_ops);
}

static void xfs_vm_readahead(struct readahead_control *rac)
{
	iomap_readahead(rac, &xfs_read_iomap_ops);
}

static int xfs_map_blocks(struct inode *inode, loff_t pos, struct iomap *iomap)
{
	u64 lblk = pos >> inode->i_blkbits;
	const struct fs_extent *e = extents_lookup(inode, lblk);
	int ret;

	if (e && e->state == EXTENT_DELAYED) {
		ret = xfs_bmapi_convert_delalloc(inode, lblk);
		if (ret)
			return ret;
		e = extents_lookup(inode, lblk);
	}
	iomap_set(iomap, inode, e, lblk, 1);
	return 0;
}

static int xfs_written(struct inode *inode, loff_t pos, u64 len)
{
	loff_t end = min_t(u64, pos + len, inode->i_size);

	inode->i_disksize = max(inode->i_disksize, end);
	return extents_set_state(inode, pos >> inode->i_blkbits, len >> inode->i_blkbits,
				 EXTENT_WRITTEN);
}

static const struct iomap_writeback_ops xfs_writeback_ops = {
	.map_blocks = xfs_map_blocks,
	.written = xfs_written,
};

static int xfs_vm_writepages(struct address_space *mapping, struct writeback_control *wbc)
{
	mapping->host->i_flags &= ~(unsigned long)XFS_ITRUNCATED;
	return iomap_writepages(mapping, wbc, &xfs_writeback_ops);
}

static const struct address_space_operations xfs_address_space_operations = {
	.read_folio = xfs_vm_read_folio,
	.readahead = xfs_vm_readahead,
	.writepages = xfs_vm_writepages,
	.dirty_folio = iomap_dirty_folio,
	.is_partially_uptodate = iomap_is_partially_uptodate,
	.release_folio = iomap_release_folio,
	.invalidate_folio = iomap_invalidate_folio,
};

int xfs_init_inode(struct inode *inode)
{
	const struct machine *m = inode->i_sb->s_machine;
	unsigned int min_order = 0;

	if (inode->i_blkbits > m->page_shift)
		min_order = inode->i_blkbits - m->page_shift;
	inode->i_data.a_ops = &xfs_address_space_operations;
	inode->i_fop = &xfs_file_operations;
	inode->i_disksize = inode->i_size;
	mapping_set_folio_order_range(inode->i_mapping, min_order, m->max_pagecache_order);
	return 0;
}
