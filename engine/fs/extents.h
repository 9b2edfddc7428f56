/*
 * fs/extents.h - where the blocks of a file are.
 *
 * Mirrors    fs/xfs/libxfs/xfs_bmap.c and fs/ext4/extents_status.c in what they answer, not in how
 *            they store it: a sorted array a file.
 * Invariant  extents are sorted by lblk and do not overlap; neighbours that continue each other in
 *            the file, on disk and in state are one extent.
 * Owner      the array belongs to its inode.
 * Errors     -ENOMEM; the list is then as before.
 */
#ifndef FL_FS_EXTENTS_H
#define FL_FS_EXTENTS_H

#include "mm/fs.h"

/* Index of the first extent that ends behind @lblk; i_nr_extents if there is none. */
unsigned int extents_find(const struct inode *inode, u64 lblk);

/* The extent over @lblk, or NULL in a hole. */
const struct fs_extent *extents_lookup(const struct inode *inode, u64 lblk);

/* Put @e in place of whatever [lblk, lblk + len) held, then merge with its neighbours. */
int extents_set(struct inode *inode, const struct fs_extent *e);

/*
 * The state of the part of [lblk, lblk + len) that has blocks becomes @state; their place on disk
 * stays. A hole stays a hole.
 */
int extents_set_state(struct inode *inode, u64 lblk, u64 len, enum extent_state state);

/*
 * Take [lblk, lblk + len) out. @freed, where not NULL, is told every run of disk blocks that had
 * been allocated.
 */
int extents_remove(struct inode *inode, u64 lblk, u64 len,
		   void (*freed)(struct inode *inode, u64 pblk, u64 len));

#endif
