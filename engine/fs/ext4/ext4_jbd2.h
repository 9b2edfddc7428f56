/*
 * fs/ext4/ext4_jbd2.h - handles of ext4, and how many credits they ask for.
 *
 * Mirrors    fs/ext4/ext4_jbd2.h, ext4_jbd2.c; the credits: inode.c, extents.c, indirect.c.
 * Invariant  without a journal every handle is NULL, and everything here takes NULL.
 * Owner      a handle is the running task's, from start to stop.
 * Errors     those of fs/jbd2/jbd2.h.
 */
#ifndef FL_FS_EXT4_EXT4_JBD2_H
#define FL_FS_EXT4_EXT4_JBD2_H

#include "fs/ext4/ext4.h"

enum ext4_handle_type {
	EXT4_HT_MISC,
	EXT4_HT_INODE,
	EXT4_HT_WRITE_PAGE,
	EXT4_HT_MAP_BLOCKS,
	EXT4_HT_DIR,
	EXT4_HT_TRUNCATE,
	EXT4_HT_QUOTA,
	EXT4_HT_RESIZE,
	EXT4_HT_MIGRATE,
	EXT4_HT_MOVE_EXTENTS,
	EXT4_HT_XATTR,
	EXT4_HT_EXT_CONVERT,
};

static inline journal_t *ext4_journal(const struct inode *inode)
{
	return EXT4_SB(inode->i_sb)->s_journal;
}

/* The handle of the running task, or NULL. */
static inline handle_t *ext4_journal_current_handle(const struct inode *inode)
{
	return inode->i_sb->s_machine->journal_info[inode->i_sb->s_machine->cpu];
}

/* *handle is NULL without a journal. 0 or -errno. */
int ext4_journal_start_with_reserve(struct inode *inode, enum ext4_handle_type type, int blocks,
				    int rsv_blocks, handle_t **handle);
static inline int ext4_journal_start(struct inode *inode, enum ext4_handle_type type, int blocks,
				     handle_t **handle)
{
	return ext4_journal_start_with_reserve(inode, type, blocks, 0, handle);
}
int ext4_journal_stop(handle_t *handle);

/*
 * Have credits for @credits blocks: 0, or 1 if the transaction has no room for them.
 * __ext4_journal_ensure_credits().
 */
int ext4_journal_ensure_credits(handle_t *handle, int credits);
/* The same, going on in another transaction where there is no room. */
int ext4_journal_ensure_credits_restart(handle_t *handle, int credits);
/* For mapping one more extent: 0, or -EAGAIN. Kernels without EXT4_EXTEND_HANDLE: always 0. */
int ext4_journal_ensure_extent_credits(handle_t *handle, struct inode *inode);

/* A block of metadata changes under @handle; running out of credits aborts the journal. */
int ext4_handle_dirty_metadata(handle_t *handle, const struct inode *inode, u64 blocknr);
/* The inode's own block; what fsync has to wait for follows. fs/ext4/inode.c */
int ext4_mark_inode_dirty(handle_t *handle, struct inode *inode);
/* The time stamps changed. fs/ext4/inode.c ext4_dirty_inode() */
int ext4_dirty_inode(struct inode *inode);
/* Data of [start, start + len) goes to disk before the handle's transaction. */
void ext4_jbd2_inode_add_write(handle_t *handle, struct inode *inode, loff_t start, loff_t len);

/*
 * The disk is full: does a commit set blocks free, so that it is worth another try? At most three.
 * fs/ext4/balloc.c
 */
bool ext4_should_retry_alloc(struct inode *inode, int *retries);

/* ---- credits; all 0 without a journal ---- */

/* Blocks of the largest folio of the file (or of a page, in older kernels). */
unsigned int ext4_journal_blocks_per_folio(const struct inode *inode);
/* For @lblocks in @pextents pieces. */
int ext4_meta_trans_blocks(const struct inode *inode, unsigned int lblocks, unsigned int pextents);
/* For @lblocks in one piece. */
int ext4_chunk_trans_blocks(const struct inode *inode, unsigned int lblocks);
/* ... their bytes in the journal included, where they go there: ext4_chunk_trans_extent(). */
int ext4_chunk_trans_extent(const struct inode *inode, unsigned int lblocks);
/* For one write_begin() without delayed allocation. */
int ext4_write_begin_credits(const struct inode *inode);
/* For one round of writeback. */
int ext4_da_writepages_trans_blocks(const struct inode *inode);
/* Reserved in it for the conversion of unwritten extents. */
int ext4_writepages_rsv_blocks(const struct inode *inode);
/* For one step of EXT4_IOC_MOVE_EXT over @blocks blocks. */
int ext4_move_extent_credits(const struct inode *inode, unsigned int blocks);

#endif
