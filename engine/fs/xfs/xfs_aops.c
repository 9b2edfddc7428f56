#include "fs/xfs/xfs.h"

#include "fs/iomap/iomap.h"

static const struct iomap_ops xfs_read_iomap_ops = { .iomap_begin = iomap_from_extents };

static int xfs_vm_read_folio(struct file *file, struct folio *folio)
{
	(void)file;
	return iomap_read_folio(folio, &xfs_read_iomap_ops);
}

static void xfs_vm_readahead(struct readahead_control *rac)
{
	iomap_readahead(rac, &xfs_read_iomap_ops);
}

static const struct address_space_operations xfs_address_space_operations = {
	.read_folio = xfs_vm_read_folio,
	.readahead = xfs_vm_readahead,
};

void xfs_init_inode(struct inode *inode)
{
	const struct machine *m = inode->i_sb->s_machine;
	unsigned int min_order = 0;

	if (inode->i_blkbits > m->page_shift)
		min_order = inode->i_blkbits - m->page_shift;
	inode->i_data.a_ops = &xfs_address_space_operations;
	mapping_set_folio_order_range(inode->i_mapping, min_order, m->max_pagecache_order);
}
