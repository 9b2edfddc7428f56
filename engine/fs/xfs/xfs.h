/*
 * fs/xfs/xfs.h - XFS: large folios since v5.18, everything through iomap.
 *
 * Mirrors    fs/xfs/xfs_aops.c, xfs_iomap.c, xfs_icache.c (the read side).
 * Differs    no allocation groups, no delayed allocation yet; extents are those of the inode.
 */
#ifndef FL_FS_XFS_XFS_H
#define FL_FS_XFS_XFS_H

#include "mm/fs.h"

/* fs/xfs/xfs_iops.c xfs_setup_inode(): folios from block size up to the largest. */
void xfs_init_inode(struct inode *inode);

#endif
