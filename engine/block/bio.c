#include "block/bio.h"

#include <errno.h>
#include <stdlib.h>

#include "block/blk.h"
#include "machine/machine.h"

struct bio *bio_alloc(struct block_device *bdev, unsigned short nr_vecs, unsigned int opf)
{
	struct blk_state *blk = bdev->machine->blk;
	struct bio *bio = blk->free_bios;

	if (bio)
		blk->free_bios = bio->bi_next;
	else
		bio = malloc(sizeof(*bio));
	if (!bio)
		return NULL;
	bio->bi_next = NULL;
	bio->bi_bdev = bdev;
	bio->bi_opf = opf;
	bio->bi_status = 0;
	bio->__bi_cnt = 1;
	bio->bi_vcnt = 0;
	bio->bi_max_vecs = min_t(unsigned short, nr_vecs, BIO_MAX_VECS);
	bio->bi_iter = (struct bvec_iter){0};
	bio->bi_end_io = NULL;
	bio->bi_private = NULL;
	blk->live_bios++;
	return bio;
}

void bio_put(struct bio *bio)
{
	struct blk_state *blk = bio->bi_bdev->machine->blk;

	if (--bio->__bi_cnt)
		return;
	bio->bi_next = blk->free_bios;
	blk->free_bios = bio;
	blk->live_bios--;
}

bool bio_add_folio(struct bio *bio, struct folio *folio, size_t len, size_t off, void *data)
{
	struct bio_vec *last = bio->bi_vcnt ? &bio->bi_io_vec[bio->bi_vcnt - 1] : NULL;

	if (len > UINT32_MAX - bio->bi_iter.bi_size)
		return false;
	if (last && last->bv_folio == folio && last->bv_offset + last->bv_len == off) {
		last->bv_len += len;
		bio->bi_iter.bi_size += len;
		return true;
	}
	if (bio->bi_vcnt == bio->bi_max_vecs)
		return false;
	bio->bi_io_vec[bio->bi_vcnt++] = (struct bio_vec){
		.bv_folio = folio,
		.bv_len = len,
		.bv_offset = off,
		.bv_data = data,
	};
	bio->bi_iter.bi_size += len;
	return true;
}

void bio_endio(struct bio *bio)
{
	disk_cache_end(bio);
	bio->bi_end_io(bio);
	bio_put(bio);
}

void bio_run_submit(struct bio_run *run)
{
	if (run->bio)
		submit_bio(run->bio);
	run->bio = NULL;
}

int bio_run_add(struct bio_run *run, struct folio *folio, size_t off, size_t len, void *data,
		sector_t sector)
{
	char *p = data;

	if (p)
		p += off;
	if (run->bio && bio_end_sector(run->bio) != sector)
		bio_run_submit(run);
	if (run->bio && bio_add_folio(run->bio, folio, len, off, p))
		return 0;
	bio_run_submit(run);
	run->bio = bio_alloc(run->bdev, run->nr_vecs, run->opf);
	if (!run->bio)
		return -ENOMEM;
	run->made++;
	run->bio->bi_iter.bi_sector = sector;
	run->bio->bi_end_io = run->end_io;
	run->bio->bi_private = run->private;
	bio_add_folio(run->bio, folio, len, off, p);
	return 0;
}
