/*
 * fs/ext4/ext4.h - ext4: large folios for regular files since v6.16.
 *
 * Mirrors    fs/ext4/ext4.h, inode.c, readpage.c, page-io.c, extents.c, file.c.
 * Invariant  a delayed block has no place on disk; writeback gives it one.
 * Errors     0 or -errno; -ENOSPC when the disk is full.
 * Differs    no journal yet: writeback takes whole folios and no credits.
 */
#ifndef FL_FS_EXT4_EXT4_H
#define FL_FS_EXT4_EXT4_H

#include "fs/buffer.h"

/* i_flags */
#define EXT4_STATE_DA_ALLOC_CLOSE 0x1	/* truncated to nothing: flush at close */

/* Longest extent writeback maps at once. fs/ext4/inode.c MAX_WRITEPAGES_EXTENT_LEN. */
#define MAX_WRITEPAGES_EXTENT_LEN 2048

/* fs/ext4/inode.c ext4_set_inode_mapping_order() and ext4_set_aops(). */
void ext4_init_inode(struct inode *inode);

/*
 * Read the folios of @rac, or the single @folio where @rac is NULL. 0 or -ENOMEM; what could not
 * be read is unlocked and not uptodate. fs/ext4/readpage.c ext4_mpage_readpages().
 */
int ext4_mpage_readpages(struct inode *inode, struct readahead_control *rac, struct folio *folio);

/* Look a block up for reading or writeback: only written blocks are mapped. */
int ext4_get_block(struct inode *inode, u64 iblock, struct buffer_head *bh, bool create);

/* Place all delayed blocks from @lblk on in one piece, at most MAX_WRITEPAGES_EXTENT_LEN. */
int ext4_alloc_delayed(struct inode *inode, u64 lblk);

/* fs/ext4/page-io.c, the simple way: every dirty folio of the range, in order. */
int ext4_writepages(struct address_space *mapping, struct writeback_control *wbc);

/* Zero [from, end), which lies inside one block; a hole stays one. ext4_block_zero_page_range(). */
int ext4_block_zero_range(struct inode *inode, loff_t from, loff_t end);
/* Zero [from, end of its block). fs/ext4/inode.c ext4_block_truncate_page(). */
int ext4_block_truncate_page(struct inode *inode, loff_t from);

/* fs/ext4/file.c and extents.c */
ssize_t ext4_buffered_write_iter(struct kiocb *iocb, struct iov_iter *iter);
int ext4_setattr_size(struct inode *inode, loff_t size);
long ext4_fallocate(struct file *file, int mode, loff_t offset, loff_t len);
void ext4_release_file(struct inode *inode);

#endif
