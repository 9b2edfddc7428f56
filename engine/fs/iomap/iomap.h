/*
 * fs/iomap/iomap.h - reading through extents instead of blocks.
 *
 * Mirrors    include/linux/iomap.h, fs/iomap/buffered-io.c (the read side).
 * Owner      a folio with I/O under way is locked; its private counts the bytes still to come.
 * Errors     0 or -errno; a folio that failed is unlocked and not uptodate.
 * Differs    no iomap_folio_state bitmap: a folio is uptodate as a whole.
 */
#ifndef FL_FS_IOMAP_IOMAP_H
#define FL_FS_IOMAP_IOMAP_H

#include "mm/pagemap.h"

#define IOMAP_HOLE 0
#define IOMAP_MAPPED 2

struct iomap {
	u64 addr;	/* byte on the disk, if mapped */
	loff_t offset;	/* byte in the file */
	u64 length;	/* bytes */
	u16 type;	/* IOMAP_* */
};

struct iomap_ops {
	/* The extent over @pos; *iomap covers at least one byte of it. */
	int (*iomap_begin)(struct inode *inode, loff_t pos, loff_t length, struct iomap *iomap);
};

void iomap_readahead(struct readahead_control *rac, const struct iomap_ops *ops);
int iomap_read_folio(struct folio *folio, const struct iomap_ops *ops);

/* iomap_begin for an inode whose extents are inode->i_extents. */
int iomap_from_extents(struct inode *inode, loff_t pos, loff_t length, struct iomap *iomap);

#endif
