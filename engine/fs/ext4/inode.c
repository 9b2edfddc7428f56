#include "fs/ext4/ext4.h"

static int ext4_read_folio(struct file *file, struct folio *folio)
{
	(void)file;
	return ext4_mpage_readpages(folio->mapping->host, NULL, folio);
}

static void ext4_readahead(struct readahead_control *rac)
{
	ext4_mpage_readpages(rac->mapping->host, rac, NULL);
}

static const struct address_space_operations ext4_aops = {
	.read_folio = ext4_read_folio,
	.readahead = ext4_readahead,
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
	inode->i_data.a_ops = &ext4_aops;
	mapping_set_folio_order_range(inode->i_mapping, 0, ext4_max_order(inode));
}
