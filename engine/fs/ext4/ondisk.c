/*
 * Where the metadata lie, the bytes of inodes, and reading one back.
 */
#include "fs/ext4/ondisk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fs/extents.h"
#include "fs/ext4/ext4_jbd2.h"
#include "fs/super.h"
#include "mm/internal.h"

#define INODE_SIZE	   256
#define INODE_TABLE_BLOCKS 65536
/* Offsets in struct ext4_inode. */
#define I_MODE	     0x00
#define I_SIZE_LO    0x04
#define I_FLAGS	     0x20
#define I_BLOCK	     0x28
#define I_SIZE_HIGH  0x6c
#define S_IFREG_MODE 0100644

unsigned int ext2fs_default_journal_size(u64 nr_blocks)
{
	static const struct {
		u64 below;
		unsigned int blocks;
	} sizes[] = {
		{32768, 1024},	       {256 << 10, 4096},   {512 << 10, 8192},
		{4096 << 10, 16384},   {8192 << 10, 32768}, {16384 << 10, 65536},
		{32768 << 10, 131072},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++)
		if (nr_blocks < sizes[i].below)
			return sizes[i].blocks;
	return 262144;
}

void ext4_set_geometry(struct super_block *sb, u64 nr_blocks)
{
	struct ext4_sb_info *sbi = EXT4_SB(sb);
	unsigned int block = 1u << sb->s_blocksize_bits;

	sbi->s_blocks_count = nr_blocks;
	sbi->s_blocks_per_group = 8ULL * block;
	sbi->s_groups_count = DIV_ROUND_UP(nr_blocks, sbi->s_blocks_per_group);
	sbi->s_desc_per_block = block / 64;
	sbi->s_gdb_count = DIV_ROUND_UP(sbi->s_groups_count, sbi->s_desc_per_block);
	if (!sbi->s_journal_blocks)
		sbi->s_journal_blocks = ext2fs_default_journal_size(nr_blocks);
	sbi->s_gdt_at = nr_blocks + sbi->s_journal_blocks;
	sbi->s_bitmaps_at = sbi->s_gdt_at + sbi->s_gdb_count;
	sbi->s_inodes_at = sbi->s_bitmaps_at + sbi->s_groups_count;
	sbi->s_tree_at = sbi->s_inodes_at + INODE_TABLE_BLOCKS;
}

/* ---- inodes ---- */

static unsigned int inodes_per_block(const struct super_block *sb)
{
	return (1u << sb->s_blocksize_bits) / INODE_SIZE;
}

u64 ext4_inode_block(const struct inode *inode)
{
	return EXT4_SB(inode->i_sb)->s_inodes_at + inode->i_ino / inodes_per_block(inode->i_sb);
}

static unsigned int inode_offset(const struct inode *inode)
{
	return inode->i_ino % inodes_per_block(inode->i_sb) * INODE_SIZE;
}

static void fill_inode(struct inode *inode, char *raw)
{
	ext4_put16(raw, I_MODE, (u16)S_IFREG_MODE);
	ext4_put32(raw, I_SIZE_LO, inode->i_disksize);
	ext4_put32(raw, I_SIZE_HIGH, (u64)inode->i_disksize >> 32);
	ext4_put32(raw, I_FLAGS, inode->i_flags);
	ext4_ext_fill_root(inode, raw + I_BLOCK);
}

static void fill_inode_block(struct super_block *sb, u64 blocknr, char *buf)
{
	struct inode *inode;

	list_for_each_entry(inode, &sb->s_inodes, i_sb_list)
		if (ext4_inode_block(inode) == blocknr)
			fill_inode(inode, buf + inode_offset(inode));
}

void ext4_fill_metadata(void *private, u64 blocknr, void *buf)
{
	struct super_block *sb = private;
	const struct ext4_sb_info *sbi = EXT4_SB(sb);
	struct inode *inode;

	if (blocknr >= sbi->s_tree_at) {
		list_for_each_entry(inode, &sb->s_inodes, i_sb_list)
			if (ext4_ext_fill_block(inode, blocknr, buf))
				return;
	} else if (blocknr >= sbi->s_inodes_at) {
		fill_inode_block(sb, blocknr, buf);
	} else if (blocknr >= sbi->s_bitmaps_at) {
		ext4_fill_bitmap(sb, blocknr - sbi->s_bitmaps_at, buf);
	} else {
		ext4_fill_descriptors(sb, (blocknr - sbi->s_gdt_at) * sbi->s_desc_per_block, buf);
	}
}

/* ---- what mkfs would have left ---- */

static int preset_block(struct inode *inode, u64 blocknr)
{
	struct super_block *sb = inode->i_sb;
	unsigned int size = 1u << sb->s_blocksize_bits;
	char *buf = calloc(1, size);
	int ret = -ENOMEM;

	if (buf) {
		ext4_fill_metadata(sb, blocknr, buf);
		ret = blk_preset(sb->s_bdev, blocknr << sb->s_blocksize_bits, buf, size);
	}
	free(buf);
	return ret;
}

int ext4_preset_inode(struct inode *inode)
{
	const struct ext4_sb_info *sbi = EXT4_SB(inode->i_sb);
	int ret;

	/* Without a handle this only gives the tree its blocks. */
	ret = ext4_ext_dirty(NULL, inode, 0, ~0ULL);
	if (ret || !blk_can_lose_power(inode->i_sb->s_bdev)) /* nobody will ever read it back */
		return ret;
	ret = preset_block(inode, ext4_inode_block(inode));
	if (!ret)
		ret = ext4_ext_for_each_block(inode, preset_block);
	for (unsigned int i = 0; i < inode->i_nr_extents && !ret; i++) {
		const struct fs_extent *e = &inode->i_extents[i];
		u64 group = e->pblk / sbi->s_blocks_per_group;

		for (; e->state != EXTENT_DELAYED && !ret &&
		       group <= (e->pblk + e->len - 1) / sbi->s_blocks_per_group;
		     group++) {
			ret = preset_block(inode, sbi->s_bitmaps_at + group);
			if (!ret)
				ret = preset_block(inode,
						   sbi->s_gdt_at + group / sbi->s_desc_per_block);
		}
	}
	return ret;
}

/* ---- reading back ---- */

int ext4_iget(struct inode *inode)
{
	struct super_block *sb = inode->i_sb;
	unsigned int size = 1u << sb->s_blocksize_bits;
	char *buf = malloc(size), *raw = buf ? buf + inode_offset(inode) : NULL;
	int ret = -ENOMEM;

	if (buf)
		ret = blk_rw_wait(sb->s_bdev, REQ_OP_READ | REQ_META,
				  ext4_inode_block(inode) << sb->s_blocksize_bits, buf, size);
	if (!ret && ext4_get16(raw, I_MODE) != (u16)S_IFREG_MODE)
		ret = -EUCLEAN;
	if (!ret) {
		inode->i_size = inode->i_disksize =
			ext4_get32(raw, I_SIZE_LO) | (u64)ext4_get32(raw, I_SIZE_HIGH) << 32;
		ext4_set_inode_flags(inode, ext4_get32(raw, I_FLAGS));
		ret = ext4_ext_load(inode, raw + I_BLOCK);
	}
	free(buf);
	return ret;
}
