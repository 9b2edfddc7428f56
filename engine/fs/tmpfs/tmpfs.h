/*
 * fs/tmpfs/tmpfs.h - tmpfs as a file system: what opens, mounts and is called by name.
 *
 * Mirrors    the file system half of mm/shmem.c; the pages are in mm/shmem_fs.h.
 * Owner      see there.
 */
#ifndef FL_FS_TMPFS_TMPFS_H
#define FL_FS_TMPFS_TMPFS_H

#include "mm/fs.h"

/* 0 or -ENOMEM. */
int tmpfs_init_inode(struct inode *inode);

#endif
