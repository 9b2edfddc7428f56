/*
 * host/ext4_image_wire.h - what the locked-in reader of an image and its parent say.
 *
 * The parent sends a struct image_request and a path. The child answers with records, each a
 * struct image_record and len bytes, and closes every answer (the greeting too: SUPER) with END
 * or ERROR.
 *
 * Invariant  no record is longer than IMAGE_RECORD_MAX, no answer holds more than the limits.
 */
#ifndef FL_HOST_EXT4_IMAGE_WIRE_H
#define FL_HOST_EXT4_IMAGE_WIRE_H

#include "host/ext4_image.h"

#define IMAGE_RECORD_MAX  65536
#define IMAGE_PATH_MAX	  4096
#define IMAGE_EXTENTS_MAX (1u << 20) /* of one file */
#define IMAGE_ENTRIES_MAX (1u << 20) /* of one walk */
#define IMAGE_STEPS_MAX	  (1u << 24) /* through one extent tree */

enum image_op { IMAGE_FILE, IMAGE_WALK };

struct image_request {
	u32 op;
	u32 path_len;
	u32 max; /* entries of a walk */
};

enum image_record_type {
	IMAGE_SUPER,   /* struct ext4_image_super */
	IMAGE_INODE,   /* struct image_inode */
	IMAGE_EXTENTS, /* struct image_extent, many */
	IMAGE_INLINE,  /* bytes */
	IMAGE_ENTRY,   /* struct image_inode, then a path */
	IMAGE_ERROR,   /* struct image_error, then a text */
	IMAGE_END,     /* u32: there are more entries */
};

struct image_record {
	u32 type;
	u32 len;
};

struct image_inode {
	u64 size;
	u32 ino, mode, flags, pad;
};

struct image_extent {
	u64 lblk, pblk;
	u32 len, unwritten;
};

/* How an answer failed. */
enum image_failure {
	IMAGE_DAMAGED,
	IMAGE_NOT_FOUND,
	IMAGE_NOT_A_FILE, /* the text says what it is */
	IMAGE_TOO_MUCH,
	IMAGE_NO_JAIL,
	IMAGE_FAILURES,
};

struct image_error {
	u32 failure;
};

/*
 * The child: lock in, read the image open as @fd, serve the requests of @talk until it is closed.
 * Returns the exit status for _exit().
 */
int ext4_image_serve(int fd, int talk);

#endif
