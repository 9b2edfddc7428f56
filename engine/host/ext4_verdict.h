/*
 * host/ext4_verdict.h - would this file of this image get large folios, and why not?
 *
 * The miniature is asked, not a table: the image's features and options are mounted, the inode's
 * flags set, and what ext4_set_inode_mapping_order() makes of them is the answer. Why not is found
 * by asking again with one obstacle at a time.
 *
 * Invariant  an answer without an order above the block's has at least one reason.
 * Owner      ext4_judge_open() gives the judge to the caller; machines are small and its own.
 * Errors     negative errno with struct fl_error.
 */
#ifndef FL_HOST_EXT4_VERDICT_H
#define FL_HOST_EXT4_VERDICT_H

#include "fs/ext4/ext4.h"
#include "host/ext4_image.h"

/* What keeps a file from large folios. */
enum ext4_obstacle {
	EXT4_OBSTACLE_KERNEL,  /* this kernel's ext4 has none */
	EXT4_OBSTACLE_REFUSED, /* this kernel does not mount it */
	EXT4_OBSTACLE_VERITY,
	EXT4_OBSTACLE_ENCRYPT,
	EXT4_OBSTACLE_DATA_JOURNAL,
	EXT4_OBSTACLE_JOURNAL_FLAG,
	EXT4_OBSTACLES,
};

struct ext4_verdict {
	unsigned int min_order, max_order;
	u32 obstacles; /* 1 << enum ext4_obstacle */
};

struct ext4_judge;

/* "verity": a word for a table; and a sentence. */
const char *ext4_obstacle_name(enum ext4_obstacle obstacle);
const char *ext4_obstacle_text(enum ext4_obstacle obstacle);

/* How an image is mounted when nothing is said: its features, its default options. */
void ext4_image_mount_config(const struct ext4_image_super *super,
			     struct ext4_mount_config *config);

/* A kernel that has mounted a file system with @block_size and @config, where it does. */
int ext4_judge_open(const char *kernel, unsigned int page_size, unsigned int block_size,
		    const struct ext4_mount_config *config, struct ext4_judge **ret,
		    struct fl_error *err);
/* NULL is fine. */
void ext4_judge_close(struct ext4_judge *judge);

/* A regular file with these flags (EXT4_*_FL). */
struct ext4_verdict ext4_judge_file(const struct ext4_judge *judge, u32 flags);

#endif
