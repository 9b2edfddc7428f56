/*
 * fs/balloc.h - free blocks of a disk.
 *
 * Mirrors    fs/ext4/mballoc.c and fs/xfs/libxfs/xfs_alloc.c in purpose: blocks near a goal, in
 *            one piece where there is room.
 * Invariant  free runs are sorted, apart from each other and inside [0, nr_blocks).
 * Owner      a block_space belongs to its super_block.
 * Errors     -ENOSPC, -ENOMEM.
 * Differs    one list instead of groups; with a fragment length set no allocation is longer, and
 *            the next one starts a gap further, so that extents break where a lab wants it.
 */
#ifndef FL_FS_BALLOC_H
#define FL_FS_BALLOC_H

#include "lib/types.h"

struct block_run {
	u64 start, len;
};

struct block_space {
	struct block_run *free; /* sorted */
	size_t nr, cap;
	u64 fragment; /* longest allocation, 0: no limit */
	u64 gap;      /* with it: blocks left between two; 0: 1 */
};

int block_space_init(struct block_space *s, u64 nr_blocks);
void block_space_fini(struct block_space *s);

/*
 * Up to @want blocks at @goal if it is free, else in the nearest run with room for all of them,
 * else in the longest run. *start gets the first block; returns how many, or negative errno.
 */
s64 block_alloc(struct block_space *s, u64 goal, u64 want, u64 *start);
/* Exactly [start, start + len), which must be free: 0, -EBUSY, -ENOMEM. */
int block_alloc_exact(struct block_space *s, u64 start, u64 len);
/* The first block from @start on that is not free; it may be the one behind the last. */
u64 block_next_used(const struct block_space *s, u64 start);
/* Give back. Blocks that are free already are a bug of the caller. */
int block_free(struct block_space *s, u64 start, u64 len);

#endif
