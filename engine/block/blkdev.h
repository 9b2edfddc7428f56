/*
 * block/blkdev.h - disks and the requests they serve.
 *
 * Bios that continue each other within one plug become one request; a request is cut into
 * pieces of max_sectors, which the disk serves one by one. A disk is a table of functions and a
 * little timing model; completions wait in time order until the clock passes them.
 *
 * Mirrors    include/linux/blkdev.h, block/blk-mq.c, blk-merge.c.
 * Invariant  a bio completes exactly once, never before its last piece.
 * Owner      a block_device belongs to whoever opened it and outlives every file on it.
 * Errors     negative errno; the first one a host file gave stays in the block_device.
 * Differs    there are no request tags, schedulers or partitions; max_segments is not modelled.
 */
#ifndef FL_BLOCK_BLKDEV_H
#define FL_BLOCK_BLKDEV_H

#include "block/bio.h"
#include "lib/error.h"
#include "lib/xarray.h"
#include "machine/lock.h"

struct queue_limits {
	unsigned int max_sectors; /* longest piece, in 512-byte sectors */
};

/* How a disk takes its time. */
struct disk_model {
	const char *name;
	bool synchronous; /* the submitter's CPU moves the bytes itself (brd) */
	unsigned int queue_depth;
	u64 latency_ns;	      /* from start of a piece to its first byte */
	u64 write_latency_ns; /* the same for writes */
	bool power_safe;      /* its write cache outlives the power: flushes cost nothing */
	u64 ps_per_byte;      /* transfers share one channel */
	u64 flush_ns;	      /* to empty its write cache */
	const char *source;
};

struct disk_operations {
	/* What is on the disk as it came, @len bytes from @sector on. 0 or -errno. */
	int (*read)(struct block_device *bdev, sector_t sector, void *buf, unsigned int len);
	void (*release)(struct block_device *bdev);
};

/* What a disk did so far. */
struct disk_stats {
	u64 bios;    /* submitted */
	u64 ios;     /* pieces served, the count of iostat */
	u64 sectors; /* moved */
	u64 flushes; /* of the write cache */
	u64 busy_ps; /* time the channel moved bytes */
};

/* Where a run of a host disk's bytes lies in its file. */
struct disk_piece {
	u64 disk_off, len, file_off; /* bytes */
};

struct disk_cache;

struct block_device {
	struct machine *machine;
	const struct disk_model *model;
	const struct disk_operations *ops;
	struct queue_limits limits;
	struct lock queue_lock;
	struct disk_stats stats;
	u32 bd_dev;	     /* minor number, for tracepoints */
	u64 channel_free_ps; /* when the channel is free again */
	u64 *slot_free_ps;   /* queue_depth entries: when a slot is free again */
	struct xa_cache store_nodes;
	struct xarray store; /* what was written: host memory by 4 KiB of disk */
	int fd;		     /* host disk: the file, else -1; never written to */
	u64 fd_size;	     /* its bytes when it was opened; what lies behind reads as zeros */
	int error;	     /* first error of the host file, 0 while none; -ESTALE: it shrank */
	u64 blank_from;	     /* from this byte on it reads as zeros where nothing was written */
	struct disk_cache *cache;  /* of written sectors; NULL: nobody cuts the power */
	struct disk_piece *pieces; /* sorted by disk_off; NULL: the disk is the file */
	unsigned int nr_pieces;
};

/*
 * Start collecting bios of the running task; nests. block/blk-core.c blk_start_plug().
 * blk_finish_plug() of the outermost plug sends what was collected.
 */
void blk_start_plug(struct machine *m);
void blk_finish_plug(struct machine *m);

void __blk_poll(struct machine *m);

/* Complete everything whose time has come. */
static inline void blk_poll(struct machine *m)
{
	if (unlikely(m->next_io_ps <= m->clock_ps))
		__blk_poll(m);
}

/*
 * Advance the clock to the next completion and complete it; false if nothing is under way. With
 * several tasks the others go on meanwhile.
 */
bool blk_wait_next(struct machine *m);
/* Complete all there is, advancing the clock. */
void blk_drain(struct machine *m);

int blk_init(struct machine *m);
void blk_exit(struct machine *m);

/* A model by name (hole, ram, nvme, host), NULL if unknown. */
const struct disk_model *disk_model_by_name(const char *name);

/*
 * Open a disk. @max_bytes: the longest piece. Without a file (@fd is -1) it holds the pattern of
 * disk_pattern(), else the bytes of @fd, which is closed with it. 0, -ENOMEM or what fstat() said.
 */
int blk_open(struct machine *m, const struct disk_model *model, unsigned int max_bytes, int fd,
	     struct block_device **ret);
void blk_close(struct block_device *bdev);
/*
 * A host disk whose blocks lie elsewhere than the file's bytes: @pieces (sorted by disk_off, apart
 * from each other, taken over) say where; between them the disk reads as zeros.
 */
void blk_set_pieces(struct block_device *bdev, struct disk_piece *pieces, unsigned int nr);
/* Put @len bytes on the disk, as if they had always been there; takes no time. 0 or -ENOMEM. */
int blk_preset(struct block_device *bdev, u64 pos, const void *buf, unsigned int len);

/*
 * A write of no bytes that completes when everything completed so far is past the disk's cache;
 * waits for it. 0 or -ENOMEM. block/blk-flush.c blkdev_issue_flush().
 */
int blkdev_issue_flush(struct block_device *bdev);

/*
 * Move @len bytes at byte @pos now, waiting for them; @buf may be NULL on a machine without data.
 * @opf as in bi_opf. 0, -ENOMEM, or the host file's error.
 */
int blk_rw_wait(struct block_device *bdev, unsigned int opf, u64 pos, void *buf, unsigned int len);

/*
 * The disk has a volatile cache of whole sectors, and its power goes out with the @nth write (from
 * 1) that completes: what no flush and no REQ_FUA put past the cache is there or not, sector by
 * sector, as @seed has it. From then on nothing is stored any more. Needs a machine with data.
 * -ENOMEM.
 */
int blk_set_power_cut(struct block_device *bdev, u64 nth, u64 seed);
/* It goes out now, on such a disk. */
void blk_cut_power(struct block_device *bdev);
/* Writes completed so far on such a disk, and whether its power is out. */
u64 blk_writes_completed(const struct block_device *bdev);
bool blk_power_is_out(const struct block_device *bdev);
/* Can it go out at all? Only then is what a file system writes for itself ever read back. */
static inline bool blk_can_lose_power(const struct block_device *bdev)
{
	return bdev->cache != NULL;
}
/* Put everything written to @from on @to, as blk_preset() does. 0 or -ENOMEM. */
int blk_copy_written(struct block_device *to, struct block_device *from);
/* Does it hold anything that was written, before a power cut or since? */
bool blk_was_written(const struct block_device *bdev);
/*
 * The first byte from @pos on that may have been written or preset (whole pieces of 4 KiB are
 * remembered); ~0 if nothing was.
 */
u64 blk_next_written(struct block_device *bdev, u64 pos);

/* The byte a generated disk holds at @offset: every 8 bytes are a hash of their position. */
u64 disk_pattern(u64 offset_words);

#endif
