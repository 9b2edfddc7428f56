/*
 * How many blocks of the journal a handle asks for.
 *
 * Mirrors fs/ext4/inode.c ext4_meta_trans_blocks() and its callers, extents.c
 * ext4_ext_index_trans_blocks(), indirect.c ext4_ind_trans_blocks().
 */
#include "fs/ext4/ext4_jbd2.h"

/* Deepest extent tree. fs/ext4/ext4_extents.h EXT4_MAX_EXTENT_DEPTH */
#define MAX_DEPTH 5
/* Super block, inode block, quota blocks and xattr block. EXT4_META_TRANS_BLOCKS() without quota */
#define META_TRANS_BLOCKS 6

unsigned int ext4_journal_blocks_per_folio(const struct inode *inode)
{
	const struct machine *m = inode->i_sb->s_machine;
	unsigned int order = 0;

	if (!ext4_journal(inode))
		return 0;
	if (knob(m, EXT4_FOLIO_CREDITS))
		order = mapping_max_folio_order(inode->i_mapping);
	return max(1UL, (m->page_size << order) >> inode->i_blkbits);
}

/* Blocks of the extent tree that @extents new extents change. */
static int ext4_ext_index_trans_blocks(const struct inode *inode, unsigned int extents)
{
	const struct machine *m = inode->i_sb->s_machine;
	unsigned int per_leaf = ext4_extents_per_block(inode), leaves = 0;
	int depth = knob(m, EXT4_IDX_MAX_DEPTH) ? MAX_DEPTH : ext_depth(inode);

	if (!knob(m, EXT4_IDX_EXTENTS))
		return extents <= 1 ? 2 * depth : 3 * depth;
	if (extents <= 1)
		return 2 * depth + extents;
	leaves = extents;
	if (knob(m, EXT4_EXPLICIT_GROUPS))
		leaves += per_leaf - 1;
	return 3 * depth + DIV_ROUND_UP(leaves, per_leaf);
}

static int ext4_ind_trans_blocks(const struct inode *inode, unsigned int lblocks)
{
	return DIV_ROUND_UP(lblocks, 1u << (inode->i_blkbits - 2)) + 4;
}

/* @alloc: extents that come with a bitmap and a group descriptor of their own. */
static int meta_trans_blocks(const struct inode *inode, unsigned int lblocks, unsigned int pextents,
			     unsigned int alloc)
{
	const struct ext4_sb_info *sbi = EXT4_SB(inode->i_sb);
	unsigned int idx = inode->i_flags & EXT4_EXTENTS_FL
				   ? ext4_ext_index_trans_blocks(inode, pextents)
				   : ext4_ind_trans_blocks(inode, lblocks);
	u64 groups = idx + alloc, bitmaps = min(groups, sbi->s_groups_count);
	/* Asked of the bitmaps, answered with the uncapped number. */
	u64 descriptors = bitmaps > sbi->s_gdb_count ? sbi->s_gdb_count : groups;

	return idx + bitmaps + descriptors + META_TRANS_BLOCKS;
}

int ext4_meta_trans_blocks(const struct inode *inode, unsigned int lblocks, unsigned int pextents)
{
	const struct machine *m = inode->i_sb->s_machine;
	bool left_out = knob(m, EXT4_IDX_EXTENTS) && !knob(m, EXT4_GROUP_CREDITS);

	return meta_trans_blocks(inode, lblocks, pextents, left_out ? 0 : pextents);
}

int ext4_chunk_trans_blocks(const struct inode *inode, unsigned int lblocks)
{
	return ext4_meta_trans_blocks(inode, lblocks, 1);
}

static int journalled_data(const struct inode *inode, unsigned int blocks)
{
	return ext4_should_journal_data(inode) ? blocks : 0;
}

int ext4_chunk_trans_extent(const struct inode *inode, unsigned int lblocks)
{
	return ext4_chunk_trans_blocks(inode, lblocks) + journalled_data(inode, lblocks);
}

/* ext4_writepage_trans_blocks(): all of a page or folio, each block an extent. */
static int writepage_trans_blocks(const struct inode *inode)
{
	unsigned int bpf = ext4_journal_blocks_per_folio(inode);

	return ext4_meta_trans_blocks(inode, bpf, bpf) + journalled_data(inode, bpf);
}

int ext4_write_begin_credits(const struct inode *inode)
{
	unsigned int bpf = ext4_journal_blocks_per_folio(inode);

	if (knob(inode->i_sb->s_machine, EXT4_CHUNK_CREDITS))
		return ext4_chunk_trans_extent(inode, bpf) + 1;
	return writepage_trans_blocks(inode) + 1;
}

int ext4_da_writepages_trans_blocks(const struct inode *inode)
{
	unsigned int bpf = ext4_journal_blocks_per_folio(inode);

	if (knob(inode->i_sb->s_machine, EXT4_CHUNK_CREDITS))
		return ext4_chunk_trans_blocks(inode, MAX_WRITEPAGES_EXTENT_LEN);
	return ext4_meta_trans_blocks(inode, MAX_WRITEPAGES_EXTENT_LEN + bpf - 1, bpf);
}

int ext4_writepages_rsv_blocks(const struct inode *inode)
{
	const struct machine *m = inode->i_sb->s_machine;
	unsigned int bpf = ext4_journal_blocks_per_folio(inode);

	if (!ext4_should_dioread_nolock(inode))
		return 0;
	if (knob(m, EXT4_EXPLICIT_GROUPS))
		return meta_trans_blocks(inode, bpf, bpf, 0);
	if (knob(m, EXT4_RSV_INDEX))
		return 1 + ext4_ext_index_trans_blocks(inode, bpf);
	return 1 + ext4_chunk_trans_blocks(inode, max(1UL, m->page_size >> inode->i_blkbits));
}

int ext4_move_extent_credits(const struct inode *inode, unsigned int blocks)
{
	const struct machine *m = inode->i_sb->s_machine;

	if (knob(m, EXT4_MOVE_FOLIO))
		return 2 * ext4_chunk_trans_extent(inode, 0);
	if (knob(m, EXT4_CHUNK_CREDITS))
		return 2 * ext4_meta_trans_blocks(inode, blocks, blocks);
	return 2 * writepage_trans_blocks(inode);
}
