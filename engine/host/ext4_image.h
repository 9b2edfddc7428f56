/*
 * host/ext4_image.h - what a real ext2, ext3 or ext4 image says about its files.
 *
 * An image is read through libext2fs, which was not written for hostile ones; so a forked child
 * does it, locked in (host/jail.h), and answers over a socket. Nothing it says is believed before
 * it was checked. Bytes of files are not its business: whoever wants them reads the image at the
 * place of the extents (ext4_image_fd()).
 *
 * Invariant  extents handed out are sorted, do not overlap in the file or on the disk, lie inside
 *            the file system, and the file system lies inside the image. The image is open
 *            read-only and never written.
 * Owner      ext4_image_open() gives the image to the caller; ext4_image_close() ends the child.
 *            Inodes and lists are the caller's until their _fini().
 * Errors     negative errno with struct fl_error named after the image: -EUCLEAN "damaged image:
 *            what is wrong, expected what", -ENOENT, -EISDIR, -EINVAL, -E2BIG, -EPERM without
 *            seccomp.
 * Differs    the journal is not replayed: an image that was not unmounted is read as it lies.
 */
#ifndef FL_HOST_EXT4_IMAGE_H
#define FL_HOST_EXT4_IMAGE_H

#include "lib/error.h"
#include "mm/fs.h"

struct ext4_image;

/* The super block, as far as folios care. Masks as on disk. */
struct ext4_image_super {
	u32 compat, incompat, ro_compat;
	u32 block_size, cluster_size; /* bytes */
	u64 blocks;
	u32 first_block; /* s_first_data_block */
	u32 default_mount_opts;
};

/* s_default_mount_opts; fs/ext4/ext4.h EXT4_DEFM_*. */
#define EXT4_IMAGE_DEFM_JMODE	    0x60
#define EXT4_IMAGE_DEFM_JMODE_DATA  0x20
#define EXT4_IMAGE_DEFM_JMODE_WBACK 0x60
#define EXT4_IMAGE_DEFM_NODELALLOC  0x800

struct ext4_image_inode {
	u32 ino;
	u32 mode;  /* as in struct stat */
	u32 flags; /* EXT4_*_FL */
	u64 size;
	struct fs_extent *extents;
	unsigned int nr_extents;
	void *inline_data; /* inline_len bytes from the start of the file, or NULL */
	u32 inline_len;
};

/* A regular file of a walk. */
struct ext4_image_entry {
	char *path; /* "dir/name", as stored: any bytes */
	u32 ino, mode, flags;
	u64 size;
};

struct ext4_image_list {
	struct ext4_image_entry *entries; /* sorted by path */
	size_t nr;
	bool more; /* there are more than were asked for */
};

/* Open a regular file or block device and read its super block. */
int ext4_image_open(const char *path, struct ext4_image **ret, struct fl_error *err);
/* The same from a descriptor, which is taken over in any case; @name is for messages. */
int ext4_image_open_fd(const char *name, int fd, struct ext4_image **ret, struct fl_error *err);
/* NULL is fine. */
void ext4_image_close(struct ext4_image *image);

const struct ext4_image_super *ext4_image_super(const struct ext4_image *image);
/* The image itself, read-only; closed with it. */
int ext4_image_fd(const struct ext4_image *image);

/* A regular file and where its blocks are; a symbolic link at the end is not followed. */
int ext4_image_file(struct ext4_image *image, const char *path, struct ext4_image_inode *ret,
		    struct fl_error *err);
void ext4_image_inode_fini(struct ext4_image_inode *inode);

/* The regular files at or below @path, at most @max of them. */
int ext4_image_walk(struct ext4_image *image, const char *path, size_t max,
		    struct ext4_image_list *ret, struct fl_error *err);
void ext4_image_list_fini(struct ext4_image_list *list);

/*
 * Cut "IMAGE:PATH" where the part before the ':' is a file; the whole word wins. Returns the part
 * after it, NULL without one, and writes the image's name to @image.
 */
const char *ext4_image_split(const char *word, char *image, size_t size);

#endif
