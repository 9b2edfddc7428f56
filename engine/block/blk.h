/*
 * block/blk.h - what the block layer keeps for itself.
 *
 * Mirrors    block/blk.h: shared by the files of block/ only.
 * Owner      struct blk_state hangs off its machine, from blk_init() to blk_exit().
 */
#ifndef FL_BLOCK_BLK_H
#define FL_BLOCK_BLK_H

#include "block/blkdev.h"

/* Contiguous bios of one plug, of one direction, on one disk. */
struct request {
	struct bio *bio, *biotail;
	struct block_device *bdev;
	unsigned int opf;
	sector_t sector;
	u64 bytes;
};

#define BLK_PLUG_REQUESTS 64

struct blk_plug {
	unsigned int depth; /* nesting of blk_start_plug() */
	unsigned int nr;
	struct request rq[BLK_PLUG_REQUESTS];
};

/* A bio whose last piece arrives at @ps; @seq keeps equal times in order of submission. */
struct completion {
	u64 ps, seq;
	struct bio *bio;
};

struct blk_state {
	struct blk_plug *plugs;	 /* of the task on each CPU */
	struct completion *heap; /* binary heap by (ps, seq) */
	size_t nr, cap;
	u64 seq;
	struct bio *free_bios;
	u64 live_bios;
	u32 next_dev;
};

/* Move one vector's bytes between @buf and the disk, what was written before included. */
int disk_rw(struct block_device *bdev, unsigned int opf, sector_t sector, void *buf,
	    unsigned int len);

/* ---- cache.c: only on a disk with blk_set_power_cut() ---- */

/* A bio is about to be moved: remember what it overwrites, serve its flush. 0 or -ENOMEM. */
int disk_cache_begin(struct bio *bio);
/* A bio completed; the last write before the cut takes the power with it. */
void disk_cache_end(struct bio *bio);
void disk_cache_fini(struct block_device *bdev);

/* Queue the completion of @bio at @ps; completes it at once if that cannot be remembered. */
void blk_complete_at(struct machine *m, struct bio *bio, u64 ps);
void bio_endio(struct bio *bio);

#endif
