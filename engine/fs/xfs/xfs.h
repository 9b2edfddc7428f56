/*
 * fs/xfs/xfs.h - XFS: large folios since v5.18, everything through iomap.
 *
 * Mirrors    fs/xfs/xfs_aops.c, xfs_iomap.c, xfs_iops.c, xfs_file.c, xfs_bmap_util.c.
 * Invariant  a delayed extent becomes unwritten as a whole, preallocation included.
 * Errors     0 or -errno.
 * Differs    no allocation groups, transactions or quota; preallocation is not trimmed at close.
 */
#ifndef FL_FS_XFS_XFS_H
#define FL_FS_XFS_XFS_H

#include "fs/iomap/iomap.h"

/* i_flags: truncated since the last writeback. fs/xfs/xfs_inode.h XFS_ITRUNCATED. */
#define XFS_ITRUNCATED 0x1

/* fs/xfs/xfs_iops.c xfs_setup_inode(): folios from block size up to the largest. */
int xfs_init_inode(struct inode *inode);

/* Give the delayed extent over @lblk its place on disk, unwritten. xfs_bmapi_convert_delalloc(). */
int xfs_bmapi_convert_delalloc(struct inode *inode, u64 lblk);

/* Zero [pos, pos + len) where something is written. *did_zero (may be NULL) tells if any was. */
int xfs_zero_range(struct inode *inode, loff_t pos, loff_t len, bool *did_zero);

extern const struct iomap_ops xfs_buffered_write_iomap_ops;
extern const struct file_operations xfs_file_operations;

#endif
