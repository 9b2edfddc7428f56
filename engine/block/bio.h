/*
 * block/bio.h - pieces of I/O on their way to a disk.
 *
 * Mirrors    include/linux/bio.h and blk_types.h.
 * Invariant  the vectors of a bio describe contiguous sectors from bi_iter.bi_sector on.
 * Owner      bio_alloc() gives a bio to the caller, submit_bio() takes it; bi_end_io runs once
 *            and the block layer frees the bio after it.
 * Errors     bi_status is 0 or a negative errno when bi_end_io runs.
 * Differs    a vector carries the host address of its bytes (NULL while the machine has no data);
 *            bi_io_vec is inline, BIO_MAX_VECS long.
 */
#ifndef FL_BLOCK_BIO_H
#define FL_BLOCK_BIO_H

#include "lib/types.h"

#define SECTOR_SHIFT 9
#define BIO_MAX_VECS 256

#define REQ_OP_READ  0u
#define REQ_OP_WRITE 1u
#define REQ_OP_MASK  1u
#define REQ_META     (1u << 12) /* of the file system or its journal */
#define REQ_FUA	     (1u << 17) /* completes when it is past the disk's cache */
#define REQ_PREFLUSH (1u << 18) /* first everything completed so far goes past it */
#define REQ_RAHEAD   (1u << 19)

typedef u64 sector_t;

struct folio;
struct block_device;
struct bio;

typedef void bio_end_io_t(struct bio *bio);

struct bio_vec {
	struct folio *bv_folio; /* opaque here */
	unsigned int bv_len;	/* bytes */
	unsigned int bv_offset; /* first byte inside the folio */
	void *bv_data;		/* host address of that byte, or NULL */
};

struct bvec_iter {
	sector_t bi_sector;   /* first 512-byte sector */
	unsigned int bi_size; /* bytes */
};

struct bio {
	struct bio *bi_next; /* the request it is part of, or the free list */
	struct block_device *bi_bdev;
	unsigned int bi_opf; /* REQ_OP_* and flags */
	int bi_status;
	unsigned int __bi_cnt; /* references; bio_get() and bio_put() */
	unsigned short bi_vcnt, bi_max_vecs;
	struct bvec_iter bi_iter;
	bio_end_io_t *bi_end_io;
	void *bi_private;
	struct bio_vec bi_io_vec[BIO_MAX_VECS];
};

static inline sector_t bio_end_sector(const struct bio *bio)
{
	return bio->bi_iter.bi_sector + (bio->bi_iter.bi_size >> SECTOR_SHIFT);
}

/* A bio for at most @nr_vecs vectors (cut to BIO_MAX_VECS), or NULL. block/bio.c
 * bio_alloc_bioset(). */
struct bio *bio_alloc(struct block_device *bdev, unsigned short nr_vecs, unsigned int opf);
void bio_put(struct bio *bio);
/* Keep a bio beyond its bi_end_io. */
static inline void bio_get(struct bio *bio)
{
	bio->__bi_cnt++;
}

/* Append a piece of a folio; false when the bio is full. block/bio.c bio_add_folio(). */
bool bio_add_folio(struct bio *bio, struct folio *folio, size_t len, size_t off, void *data);

/*
 * Bios made piece by piece: one grows as long as the sectors continue and it has room, else it is
 * submitted and a new one begun. Set everything but bio before the first piece.
 */
struct bio_run {
	struct block_device *bdev;
	struct bio *bio; /* being filled, NULL at first */
	unsigned int opf;
	unsigned short nr_vecs; /* wanted for a new bio */
	bio_end_io_t *end_io;
	void *private; /* bi_private of every bio */
	u64 made;      /* bios begun so far */
};

/* Add @len bytes from byte @off of @folio; @data is the host address of the folio or NULL. -ENOMEM.
 */
int bio_run_add(struct bio_run *run, struct folio *folio, size_t off, size_t len, void *data,
		sector_t sector);
void bio_run_submit(struct bio_run *run);

/* Hand a bio to its disk; takes it. block/blk-core.c submit_bio(). */
void submit_bio(struct bio *bio);

#endif
