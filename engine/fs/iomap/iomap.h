/*
 * fs/iomap/iomap.h - reading and writing through extents instead of blocks.
 *
 * Mirrors    include/linux/iomap.h, fs/iomap/buffered-io.c.
 * Invariant  a folio of several blocks with PG_private has an iomap_folio_state and one reference
 *            more; all its blocks uptodate = the folio uptodate.
 * Owner      the folio, until it is released or invalidated as a whole.
 * Errors     0 or -errno; a folio whose read failed is unlocked and not uptodate.
 * Differs    extents change state when their I/O is submitted, not when it ends.
 */
#ifndef FL_FS_IOMAP_IOMAP_H
#define FL_FS_IOMAP_IOMAP_H

#include "mm/mm.h"
#include "mm/writeback.h"

#define IOMAP_HOLE	0
#define IOMAP_DELALLOC	1
#define IOMAP_MAPPED	2
#define IOMAP_UNWRITTEN 3

struct iomap {
	u64 addr;      /* byte on the disk, if mapped or unwritten */
	loff_t offset; /* byte in the file */
	u64 length;    /* bytes */
	u16 type;      /* IOMAP_* */
};

struct iomap_ops {
	/* The extent over @pos, for a write one that can take it; covers at least a byte. */
	int (*iomap_begin)(struct inode *inode, loff_t pos, loff_t length, struct iomap *iomap);
};

struct iomap_writeback_ops {
	/* The place on disk of the dirty block at @pos, made if it has none; a hole is skipped. */
	int (*map_blocks)(struct inode *inode, loff_t pos, struct iomap *iomap);
	/* [pos, pos + len) has been written. */
	int (*written)(struct inode *inode, loff_t pos, u64 len);
};

/* Per-block state of a folio. Bits: nr_blocks uptodate, then nr_blocks dirty. */
struct iomap_folio_state {
	u32 read_bytes_pending;
	u32 write_bytes_pending;
	u64 state[];
};

void iomap_readahead(struct readahead_control *rac, const struct iomap_ops *ops);
int iomap_read_folio(struct folio *folio, const struct iomap_ops *ops);
bool iomap_is_partially_uptodate(struct folio *folio, size_t from, size_t count);
bool iomap_release_folio(struct folio *folio, gfp_t gfp);
void iomap_invalidate_folio(struct folio *folio, size_t offset, size_t len);
bool iomap_dirty_folio(struct address_space *mapping, struct folio *folio);

/* write(2) at the iocb's position, which moves; bytes or -errno. */
ssize_t iomap_file_buffered_write(struct kiocb *iocb, struct iov_iter *iter,
				  const struct iomap_ops *ops);
/* Zero [pos, pos + len) through the cache, all of it inside one extent that @iomap describes. */
int iomap_zero_iter(struct inode *inode, loff_t pos, u64 len, const struct iomap *iomap);

/*
 * A mapped page of vmf->folio is about to become writable: blocks are found extent by extent, then
 * the whole folio is dirty. fs/iomap/buffered-io.c iomap_page_mkwrite().
 */
vm_fault_t iomap_page_mkwrite(struct vm_fault *vmf, const struct iomap_ops *ops);

int iomap_writepages(struct address_space *mapping, struct writeback_control *wbc,
		     const struct iomap_writeback_ops *ops);

/* iomap_begin of a read for an inode whose extents are inode->i_extents. */
int iomap_from_extents(struct inode *inode, loff_t pos, loff_t length, struct iomap *iomap);
/* Describe extent @e, or a hole of @len blocks from @lblk on where it is NULL. */
void iomap_set(struct iomap *iomap, const struct inode *inode, const struct fs_extent *e, u64 lblk,
	       u64 len);

#endif
