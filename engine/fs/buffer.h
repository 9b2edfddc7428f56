/*
 * fs/buffer.h - block states of a folio: buffer heads.
 *
 * Mirrors    include/linux/buffer_head.h, fs/buffer.c.
 * Invariant  a folio with PG_private of such a file system has one buffer head a block, in order,
 *            and one reference more; a dirty buffer makes its folio dirty.
 * Owner      the folio, until try_to_free_buffers() or its removal.
 * Errors     -ENOMEM, -EIO, or what get_block returned.
 * Differs    the heads of a folio are an array instead of a ring; b_folio and b_page are not
 * needed.
 */
#ifndef FL_FS_BUFFER_H
#define FL_FS_BUFFER_H

#include <errno.h>

#include "mm/mm.h"
#include "mm/writeback.h"

enum bh_state_bits {
	BH_Uptodate,
	BH_Dirty,
	BH_Lock,
	BH_Mapped,
	BH_New,
	BH_Async_Read,
	BH_Async_Write,
	BH_Delay,
	BH_Unwritten,
	BH_JBDDirty, /* dirty, and the journal's to write: include/linux/jbd2.h */
};

struct buffer_head {
	u32 b_state;   /* enum bh_state_bits */
	u64 b_blocknr; /* block on disk, while mapped */
};

#define BUFFER_FNS(bit, name)                                                                      \
	static inline bool buffer_##name(const struct buffer_head *bh)                             \
	{                                                                                          \
		return bh->b_state >> BH_##bit & 1;                                                \
	}                                                                                          \
	static inline void set_buffer_##name(struct buffer_head *bh)                               \
	{                                                                                          \
		bh->b_state |= 1u << BH_##bit;                                                     \
	}                                                                                          \
	static inline void clear_buffer_##name(struct buffer_head *bh)                             \
	{                                                                                          \
		bh->b_state &= ~(1u << BH_##bit);                                                  \
	}

BUFFER_FNS(Uptodate, uptodate)
BUFFER_FNS(Dirty, dirty)
BUFFER_FNS(Lock, locked)
BUFFER_FNS(Mapped, mapped)
BUFFER_FNS(New, new)
BUFFER_FNS(Async_Read, async_read)
BUFFER_FNS(Delay, delay)
BUFFER_FNS(Unwritten, unwritten)
BUFFER_FNS(Async_Write, async_write)
BUFFER_FNS(JBDDirty, jbddirty)

#undef BUFFER_FNS

/* Fill @bh for block @iblock of the file; with @create make the block. 0 or -errno. */
typedef int (*get_block_t)(struct inode *inode, u64 iblock, struct buffer_head *bh, bool create);

/* The first head, or NULL where none are attached. */
static inline struct buffer_head *folio_buffers(const struct folio *folio)
{
	return folio_test_private(folio) ? folio->private : NULL;
}

static inline unsigned int blocks_per_folio(const struct inode *inode, const struct folio *folio)
{
	return folio_size(folio) >> inode->i_blkbits;
}

/* The folio's heads, attached now if there were none; NULL without memory. */
struct buffer_head *create_empty_buffers(struct folio *folio);
/* Attached heads go unless one is dirty or locked. False if they stay. */
bool try_to_free_buffers(struct folio *folio);
bool block_dirty_folio(struct address_space *mapping, struct folio *folio);
void block_invalidate_folio(struct folio *folio, size_t offset, size_t length);
bool block_is_partially_uptodate(struct folio *folio, size_t from, size_t count);

/*
 * Prepare [pos, pos + len) of a locked folio for being overwritten: blocks are looked up or made,
 * what is only partly covered is zeroed (new) or read (mapped). fs/buffer.c __block_write_begin().
 */
int __block_write_begin(struct folio *folio, loff_t pos, unsigned int len, get_block_t get_block);
/* The bytes are there: blocks of the range become uptodate and dirty. block_write_end(). */
int block_commit_write(struct folio *folio, size_t from, size_t to);

/*
 * A mapped page of vmf->folio is about to become writable: every block of the folio up to the end
 * of the file is prepared and made dirty, whatever the page. 0 with the folio locked, or -EFAULT
 * (truncated), -ENOMEM, -EIO, -ENOSPC with it unlocked. fs/buffer.c block_page_mkwrite().
 */
int block_page_mkwrite(struct vm_area_struct *vma, struct vm_fault *vmf, get_block_t get_block);
/* What ->page_mkwrite returns for it. include/linux/buffer_head.h vmf_fs_error(). */
static inline vm_fault_t vmf_fs_error(int err)
{
	if (!err)
		return VM_FAULT_LOCKED;
	if (err == -EFAULT || err == -EAGAIN)
		return VM_FAULT_NOPAGE;
	return err == -ENOMEM ? VM_FAULT_OOM : VM_FAULT_SIGBUS;
}

/* Zero what of a folio lies behind the end of the file, as every writeback does first. */
void folio_zero_behind_eof(struct folio *folio);

/* The block at byte @offset is a hole: zeros, and uptodate. */
void folio_zero_block(struct folio *folio, struct buffer_head *bh, size_t offset);
/* Read the one mapped block at byte @offset of the folio and wait. 0, -EIO, -ENOMEM. */
int bh_read(struct folio *folio, struct buffer_head *bh, size_t offset);

/* Read the folio block by block: one bio each. fs/buffer.c block_read_full_folio(). */
int block_read_full_folio(struct folio *folio, get_block_t get_block);

#endif
