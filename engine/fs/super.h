/*
 * fs/super.h - mounted file systems, their inodes and open files.
 *
 * Mirrors    fs/super.c, fs/inode.c, fs/file_table.c, fs/open.c as far as a page cache needs them.
 * Invariant  an inode's extents are sorted by lblk, do not overlap and lie inside the disk.
 * Owner      mount_fs() gives a super block to the caller, kill_super() ends it with its inodes
 *            and its disk; a file is the caller's until fput() and must be closed first.
 * Errors     negative errno; what a person chose also fills struct fl_error.
 */
#ifndef FL_FS_SUPER_H
#define FL_FS_SUPER_H

#include "block/blkdev.h"
#include "mm/fs.h"

struct ext4_mount_config;
struct mount_options;

/* What a file system brings. One table in fs/super.c. */
struct file_system_type {
	const char *name;	      /* as --fs calls it */
	const char *s_type;	      /* as the kernel calls it */
	unsigned char blocksize_bits; /* default block size */
	/* Fill s_fs_info, which is freed with the super block, and s_maxbytes; may be NULL. */
	int (*fill_super)(struct super_block *sb, const struct mount_options *options,
			  struct fl_error *err);
	/* Operations and folio orders of a fresh inode; 0 or -ENOMEM. */
	int (*init_inode)(struct inode *inode);
	/* What lives in memory has no disk, and this in place of init_inode: 0 or -ENOMEM. */
	int (*alloc_inode)(struct inode *inode);
	const char *options; /* of mount(8) */
	/* Each may be NULL. The blocks of a fresh inode are as mkfs left them: 0 or -errno. */
	int (*settle_inode)(struct inode *inode);
	void (*free_inode)(struct inode *inode);   /* before i_private goes */
	void (*put_super)(struct super_block *sb); /* before s_fs_info goes */
};

struct mount_options {
	const struct file_system_type *type;
	unsigned int block_size; /* bytes; 0: the type's default */
	const struct disk_model *disk;
	int host_fd;	   /* disk "host": the open file (taken over), else -1 */
	u64 ra_bytes;	   /* read_ahead_kb * 1024 */
	u64 io_bytes;	   /* max_sectors_kb * 1024; 0: what this kernel defaults to */
	u64 extent_blocks; /* no extent longer than this on the disk; 0: no limit */
	u64 extent_gap;	   /* ... and this many blocks lie between two of them; 0: 1 */
	u64 fs_bytes;	   /* of the file system; 0: enough for any file */
	u64 power_cut;	   /* blk_set_power_cut(); 0: never */
	struct block_device *after_crash;     /* what it holds is on the disk; NULL: nothing */
	const struct ext4_mount_config *ext4; /* fs/ext4/ext4.h; NULL: the defaults */
};

/* NULL if unknown. */
const struct file_system_type *file_system_type(const char *name);
/* The name of the nr-th type, NULL past the end. */
const char *file_system_name(unsigned int nr);

/*
 * Mount. On error the host_fd is closed too. -EINVAL: a block size the file system or this
 * kernel does not have.
 */
int mount_fs(struct machine *m, const struct mount_options *options, struct super_block **ret,
	     struct fl_error *err);
/* Wait for I/O, drop all inodes with their caches, close the disk. NULL is fine. */
void kill_super(struct super_block *sb);
/*
 * The same for a machine that is shut down next: host resources go, cached folios are left to
 * machine_shutdown(). A cache of 12 GiB is gone in no time. NULL is fine.
 */
void poweroff_super(struct super_block *sb);

/*
 * A regular file of @size bytes: written, from the disk's start on in one extent or in pieces of
 * extent_blocks that lie a block apart, or a hole. -ENOMEM, -EFBIG, -ENOSPC.
 */
int new_inode(struct super_block *sb, loff_t size, bool written, struct inode **ret);
/*
 * Give a fresh inode without blocks these extents, which must be free on the disk. -EBUSY, -ENOMEM.
 */
int inode_set_extents(struct inode *inode, const struct fs_extent *extents, unsigned int nr);
/* Drop an inode and its cache; no file may be open on it. */
void evict_inode(struct inode *inode);

/* Open for reading and writing: fresh readahead state, position 0. NULL without memory. */
struct file *filp_open(struct inode *inode);
void fput(struct file *file);

/*
 * The extent over block @lblk, or NULL if it is in a hole; *len is how many blocks from @lblk on
 * are the same (to the next extent or for ever).
 */
const struct fs_extent *inode_map_block(const struct inode *inode, u64 lblk, u64 *len);

#endif
