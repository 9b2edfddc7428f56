/*
 * fs/ext4/ondisk.h - where the metadata of ext4 lie, and their bytes.
 *
 * Behind the blocks of files, so that block n of a fresh disk is what it would be without: the
 * journal, the group descriptors, the block bitmaps, the inode table, and blocks of extent trees.
 *
 * Mirrors    fs/ext4/ext4.h (struct ext4_inode, ext4_group_desc), ext4_extents.h, mballoc.c,
 *            extents.c, inode.c __ext4_iget().
 * Invariant  the leaves of a tree divide the file: each holds the extents of its share, at most
 *            ext4_extents_per_block(). A block freed in a transaction is not given out before that
 *            transaction is on disk.
 * Owner      the tree belongs to its inode; so does what a journal asks ext4_fill_metadata() for.
 * Errors     0 or -errno; -EUCLEAN: the disk does not hold such an inode.
 * Differs    one region a kind instead of one a group; only what this needs is filled in.
 */
#ifndef FL_FS_EXT4_ONDISK_H
#define FL_FS_EXT4_ONDISK_H

#include "fs/ext4/ext4.h"

/* Room for blocks of extent trees. */
#define EXT4_TREE_BLOCKS (1ULL << 32)

/* Blocks freed in a transaction that is not on disk yet. mballoc.h */
struct ext4_free_data {
	struct list_head list; /* of sbi->s_freed_data_list */
	u64 pblk, len;
	tid_t tid;
};

/* ---- ondisk.c ---- */

/* Sizes and places, from blocks and block size; sbi->s_journal_blocks 0: as mke2fs has it. */
void ext4_set_geometry(struct super_block *sb, u64 nr_blocks);
/* mke2fs's choice of a journal for a file system of that many blocks. */
unsigned int ext2fs_default_journal_size(u64 nr_blocks);

u64 ext4_inode_block(const struct inode *inode);
/* journal_operations.fill; @private is the super block. */
void ext4_fill_metadata(void *private, u64 blocknr, void *buf);

/* The inode as it is now was there from the beginning. Takes no time. */
int ext4_preset_inode(struct inode *inode);
/* Read size, flags and extents of a fresh inode from the disk. */
int ext4_iget(struct inode *inode);

/* ---- mballoc.c ---- */

/* Up to @want blocks near @goal, marked in use under @handle. As block_alloc(). */
s64 ext4_mb_new_blocks(handle_t *handle, struct inode *inode, u64 goal, u64 want, u64 *pblk);
/* Give blocks of a file back when the handle's transaction is on disk. */
int ext4_free_blocks(handle_t *handle, struct inode *inode, u64 pblk, u64 len);
/* Transaction @tid is: its freed blocks can be used. */
void ext4_process_freed_data(struct super_block *sb, tid_t tid);
/* Blocks that are free, or will be after the next commit. */
u64 ext4_count_free_blocks(const struct super_block *sb);
/* The bitmap and the descriptors as the next commit has them. */
void ext4_fill_bitmap(struct super_block *sb, u64 group, void *buf);
void ext4_fill_descriptors(struct super_block *sb, u64 first_group, void *buf);
/*
 * Compare the bitmaps on disk with what the extents of the mounted files say. The number of groups
 * that differ, or -errno; machines with data only. Takes as long as there are groups that have
 * anything in use or a bitmap on disk.
 */
s64 ext4_check_bitmaps(struct super_block *sb);

/* ---- extents.c ---- */

/* Extents of [lblk, lblk + len) changed: the blocks of the tree that hold them change, too. */
int ext4_ext_dirty(handle_t *handle, struct inode *inode, u64 lblk, u64 len);
/* The root of the tree, 60 bytes of the inode. */
void ext4_ext_fill_root(struct inode *inode, void *buf);
/* Block @blocknr if it belongs to the inode's tree. */
bool ext4_ext_fill_block(struct inode *inode, u64 blocknr, void *buf);
/* Read the tree under the root at @buf. */
int ext4_ext_load(struct inode *inode, const void *buf);
/* Call @fn for every block of the tree. */
int ext4_ext_for_each_block(struct inode *inode, int (*fn)(struct inode *inode, u64 blocknr));
void ext4_ext_release(struct inode *inode);

/* ---- little endian ---- */

static inline void ext4_put16(void *block, unsigned int off, u16 v)
{
	u8 *p = (u8 *)block + off;

	p[0] = v;
	p[1] = v >> 8;
}

static inline void ext4_put32(void *block, unsigned int off, u32 v)
{
	ext4_put16(block, off, v);
	ext4_put16(block, off + 2, v >> 16);
}

static inline u16 ext4_get16(const void *block, unsigned int off)
{
	const u8 *p = (const u8 *)block + off;

	return p[0] | p[1] << 8;
}

static inline u32 ext4_get32(const void *block, unsigned int off)
{
	return ext4_get16(block, off) | (u32)ext4_get16(block, off + 2) << 16;
}

#endif
