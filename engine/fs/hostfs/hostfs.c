#include "fs/hostfs/hostfs.h"

#include "fs/iomap/iomap.h"

static const struct iomap_ops hostfs_iomap_ops = {.iomap_begin = iomap_from_extents};

static int hostfs_read_folio(struct file *file, struct folio *folio)
{
	(void)file;
	return iomap_read_folio(folio, &hostfs_iomap_ops);
}

static void hostfs_readahead(struct readahead_control *rac)
{
	iomap_readahead(rac, &hostfs_iomap_ops);
}

static const struct address_space_operations hostfs_aops = {
	.read_folio = hostfs_read_folio,
	.readahead = hostfs_readahead,
	.is_partially_uptodate = iomap_is_partially_uptodate,
	.release_folio = iomap_release_folio,
	.invalidate_folio = iomap_invalidate_folio,
};

static const struct file_operations hostfs_file_operations = {0}; /* read only */

int hostfs_init_inode(struct inode *inode)
{
	inode->i_fop = &hostfs_file_operations;
	inode->i_data.a_ops = &hostfs_aops;
	mapping_set_folio_order_range(inode->i_mapping, 0,
				      inode->i_sb->s_machine->max_pagecache_order);
	return 0;
}
