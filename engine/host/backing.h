/*
 * host/backing.h - what stands behind the file of a run: a host file, or a file in an ext4 image.
 *
 * Invariant  nothing behind it is ever written; a file read with backing_load() needs no
 * descriptor. Owner      backing_open() fills the struct for the caller, backing_fini() releases
 * it; @fd goes to the disk when backing_take_fd() was called. Errors     negative errno with struct
 * fl_error named after the file. Where the host does not say where a file's blocks are, it is one
 * extent: that is no error.
 */
#ifndef FL_HOST_BACKING_H
#define FL_HOST_BACKING_H

#include "fs/super.h"
#include "host/ext4_image.h"
#include "host/fiemap.h"

struct backing {
	int fd;	  /* the file, or the image; -1: taken or none */
	s64 size; /* of the file */
	bool is_image;
	struct ext4_image_super super; /* image only, like the rest */
	struct ext4_image_inode inode;
	char *bytes; /* backing_load(): of the written extents' blocks, one extent after the other
		      */
};

/* Who opens it; for those who cannot open files themselves. As backing_open(). */
struct backing_source {
	int (*open)(struct backing_source *source, const char *file, const char *image,
		    struct backing *ret, struct fl_error *err);
};

/* One of @file and @image ("IMAGE:PATH") is not NULL. */
int backing_open(const char *file, const char *image, struct backing *ret, struct fl_error *err);
/*
 * The file @path of @image, all of it in memory. -EFBIG: its blocks hold more than @limit bytes;
 * what ext4_image_file() fails with.
 */
int backing_load(struct ext4_image *image, const char *path, u64 limit, struct backing *ret,
		 struct fl_error *err);
void backing_fini(struct backing *b);

/* The descriptor for a disk, which closes it. */
int backing_take_fd(struct backing *b);

/*
 * Give a fresh inode without blocks, on the disk that took the descriptor, the blocks the file
 * has: extents, holes, inline data, flags. 0, -ENOMEM, -ENOSPC.
 */
int backing_fill_inode(const struct backing *b, struct inode *inode);

#endif
