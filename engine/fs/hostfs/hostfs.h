/*
 * fs/hostfs/hostfs.h - a file system without opinions: any folio order, the host file's bytes.
 *
 * Linux's hostfs has no large folios; this one exists to show what the page cache alone does.
 */
#ifndef FL_FS_HOSTFS_HOSTFS_H
#define FL_FS_HOSTFS_HOSTFS_H

#include "mm/fs.h"

int hostfs_init_inode(struct inode *inode);

#endif
