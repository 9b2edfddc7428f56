/*
 * host/fiemap.h - where the host keeps the blocks of a file.
 *
 * Mirrors    ioctl FS_IOC_FIEMAP, Documentation/filesystems/fiemap.rst.
 * Invariant  extents are sorted by lblk and share no disk block; pieces are sorted by disk_off and
 *            say for every extent where its bytes are in the file.
 * Owner      host_layout_fini() releases what host_fiemap() filled in.
 * Errors     -EOPNOTSUPP where the file system does not say or says what does not fit; -ENOMEM.
 *            All of them mean: take the file as one extent.
 * Differs    what has no place on the disk (delayed, compressed, inline, shared inside the file,
 *            past 64 TiB) is placed behind everything that has one.
 */
#ifndef FL_HOST_FIEMAP_H
#define FL_HOST_FIEMAP_H

#include "block/blkdev.h"
#include "mm/fs.h"

struct host_layout {
	struct fs_extent *extents;
	struct disk_piece *pieces; /* one for each extent */
	unsigned int nr;
};

/* The first @size bytes of @fd in blocks of 1 << @blkbits bytes. */
int host_fiemap(int fd, u64 size, unsigned int blkbits, struct host_layout *ret);
void host_layout_fini(struct host_layout *layout);

#endif
