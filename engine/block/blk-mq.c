/*
 * Requests: merging inside a plug, cutting at max_sectors, timing, completions.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "block/blk.h"
#include "machine/sched.h"

static void complete_due(struct machine *m);

int blk_init(struct machine *m)
{
	m->blk = calloc(1, sizeof(*m->blk));
	if (!m->blk)
		return -ENOMEM;
	m->io_poll = complete_due;
	m->blk->plugs = calloc(m->nr_cpus + 1, sizeof(*m->blk->plugs));
	return m->blk->plugs ? 0 : -ENOMEM;
}

static struct blk_plug *current_plug(const struct machine *m)
{
	return &m->blk->plugs[m->cpu];
}

void blk_exit(struct machine *m)
{
	struct bio *bio;

	if (!m->blk)
		return;
	while ((bio = m->blk->free_bios)) {
		m->blk->free_bios = bio->bi_next;
		free(bio);
	}
	free(m->blk->heap);
	free(m->blk->plugs);
	free(m->blk);
	m->blk = NULL;
}

static bool before(const struct completion *a, const struct completion *b)
{
	return a->ps != b->ps ? a->ps < b->ps : a->seq < b->seq;
}

static void swap_completions(struct completion *a, struct completion *b)
{
	struct completion t = *a;

	*a = *b;
	*b = t;
}

static void set_next_io(struct machine *m)
{
	m->next_io_ps = m->blk->nr ? m->blk->heap[0].ps : ~0ULL;
}

static bool heap_grow(struct blk_state *blk)
{
	size_t cap = blk->cap ? 2 * blk->cap : 64;
	struct completion *heap = realloc(blk->heap, cap * sizeof(*heap));

	if (!heap)
		return false;
	blk->heap = heap;
	blk->cap = cap;
	return true;
}

void blk_complete_at(struct machine *m, struct bio *bio, u64 ps)
{
	struct blk_state *blk = m->blk;
	size_t i;

	if (blk->nr == blk->cap && !heap_grow(blk)) {
		clock_advance_to(m, ps);
		bio_endio(bio);
		return;
	}
	i = blk->nr++;
	blk->heap[i] = (struct completion){.ps = ps, .seq = blk->seq++, .bio = bio};
	for (; i && before(&blk->heap[i], &blk->heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap_completions(&blk->heap[i], &blk->heap[(i - 1) / 2]);
	set_next_io(m);
}

static void sift_down(struct blk_state *blk)
{
	size_t i = 0, child;

	while ((child = 2 * i + 1) < blk->nr) {
		if (child + 1 < blk->nr && before(&blk->heap[child + 1], &blk->heap[child]))
			child++;
		if (!before(&blk->heap[child], &blk->heap[i]))
			return;
		swap_completions(&blk->heap[i], &blk->heap[child]);
		i = child;
	}
}

static struct bio *heap_pop(struct machine *m)
{
	struct blk_state *blk = m->blk;
	struct bio *bio = blk->heap[0].bio;

	blk->heap[0] = blk->heap[--blk->nr];
	sift_down(blk);
	set_next_io(m);
	return bio;
}

static void complete_due(struct machine *m)
{
	while (m->next_io_ps <= m->clock_ps)
		bio_endio(heap_pop(m));
}

void __blk_poll(struct machine *m)
{
	if (m->sched)
		sched_point(m);
	else
		complete_due(m);
}
static void flush_plug(struct machine *m);

bool blk_wait_next(struct machine *m)
{
	flush_plug(m); /* a task that sleeps sends what it collected */
	if (!m->blk->nr)
		return false;
	if (m->sched) {
		sched_sleep_until(m, m->blk->heap[0].ps);
		return true;
	}
	clock_advance_to(m, m->blk->heap[0].ps);
	blk_poll(m);
	return true;
}

void blk_drain(struct machine *m)
{
	while (blk_wait_next(m))
		;
}

/* The slot that is free first; queues are short, so a scan is fine. */
static u64 *first_free_slot(struct block_device *bdev)
{
	u64 *best = bdev->slot_free_ps;

	for (unsigned int i = 1; i < bdev->model->queue_depth; i++)
		if (bdev->slot_free_ps[i] < *best)
			best = &bdev->slot_free_ps[i];
	return best;
}

/* Serve one piece; returns when its last byte has moved. */
static u64 serve_piece(struct block_device *bdev, sector_t sector, u64 bytes, bool write)
{
	struct machine *m = bdev->machine;
	u64 move_ps = bytes * bdev->model->ps_per_byte, done, *slot;

	trace_event(&m->trace, EV_block_rq_issue, 0, 0, sector, bytes >> SECTOR_SHIFT, write);
	lock_excl(m, QUEUE_LOCK, &bdev->queue_lock);
	bdev->stats.ios++;
	bdev->stats.sectors += bytes >> SECTOR_SHIFT;
	bdev->stats.busy_ps += move_ps;
	if (bdev->model->synchronous) {
		unlock_excl(m, QUEUE_LOCK, &bdev->queue_lock);
		charge(m, COST_RAM_BYTE, bytes);
		return m->clock_ps;
	}
	slot = first_free_slot(bdev);
	done = max(m->clock_ps, *slot) +
	       (write ? bdev->model->write_latency_ns : bdev->model->latency_ns) * 1000;
	done = max(done, bdev->channel_free_ps) + move_ps;
	bdev->channel_free_ps = done;
	*slot = done;
	unlock_excl(m, QUEUE_LOCK, &bdev->queue_lock);
	return done;
}

/* When the disk has emptied its cache. */
static u64 serve_flush(struct block_device *bdev)
{
	struct machine *m = bdev->machine;

	bdev->stats.flushes++;
	return max(m->clock_ps, bdev->channel_free_ps) + bdev->model->flush_ns * 1000;
}

static int move_bio(struct bio *bio)
{
	struct block_device *bdev = bio->bi_bdev;
	sector_t sector = bio->bi_iter.bi_sector;
	int ret = disk_cache_begin(bio);

	for (unsigned int i = 0; i < bio->bi_vcnt; i++) {
		struct bio_vec *bv = &bio->bi_io_vec[i];

		if (bv->bv_data && !ret)
			ret = disk_rw(bdev, bio->bi_opf, sector, bv->bv_data, bv->bv_len);
		sector += bv->bv_len >> SECTOR_SHIFT;
	}
	return ret;
}

static void finish_bio(struct machine *m, struct bio *bio, u64 done_ps)
{
	bio->bi_status = move_bio(bio);
	if (bio->bi_bdev->model->synchronous)
		bio_endio(bio);
	else
		blk_complete_at(m, bio, done_ps);
}

/* Cut a request into pieces and complete each bio with the piece that holds its end. */
static void dispatch_request(struct machine *m, struct request *rq)
{
	u64 max_bytes = (u64)rq->bdev->limits.max_sectors << SECTOR_SHIFT;
	u64 issued = 0, bio_end = 0, done = m->clock_ps;
	struct bio *bio = rq->bio, *next;

	if (rq->opf & REQ_PREFLUSH)
		done = serve_flush(rq->bdev);
	for (; bio; bio = next) {
		next = bio->bi_next;
		bio_end += bio->bi_iter.bi_size;
		while (issued < bio_end) {
			u64 n = min(max_bytes, rq->bytes - issued);

			done = serve_piece(rq->bdev, rq->sector + (issued >> SECTOR_SHIFT), n,
					   rq->opf & REQ_OP_MASK);
			issued += n;
		}
		finish_bio(m, bio, done);
	}
}

static void flush_plug(struct machine *m)
{
	struct blk_plug *plug = current_plug(m);
	struct request rq[BLK_PLUG_REQUESTS];
	unsigned int nr = plug->nr;

	if (!nr)
		return;
	memcpy(rq, plug->rq, nr * sizeof(*rq)); /* what completes now may collect anew */
	plug->nr = 0;
	for (unsigned int i = 0; i < nr; i++)
		dispatch_request(m, &rq[i]);
}

void blk_start_plug(struct machine *m)
{
	current_plug(m)->depth++;
}

void blk_finish_plug(struct machine *m)
{
	if (--current_plug(m)->depth == 0)
		flush_plug(m);
}

/* Only the last request of the plug can be continued. block/blk-merge.c bio_attempt_back_merge().
 */
static bool merge_into_plug(struct blk_plug *plug, struct bio *bio)
{
	struct request *rq = plug->nr ? &plug->rq[plug->nr - 1] : NULL;

	if (!rq || rq->bdev != bio->bi_bdev || (rq->opf ^ bio->bi_opf) & REQ_OP_MASK ||
	    (rq->opf | bio->bi_opf) & (REQ_PREFLUSH | REQ_FUA) ||
	    rq->sector + (rq->bytes >> SECTOR_SHIFT) != bio->bi_iter.bi_sector)
		return false;
	rq->biotail->bi_next = bio;
	rq->biotail = bio;
	rq->bytes += bio->bi_iter.bi_size;
	return true;
}

static u32 bio_trace_flags(const struct bio *bio)
{
	if ((bio->bi_opf & REQ_OP_MASK) == REQ_OP_READ)
		return 0;
	return 1 | (bio->bi_opf & REQ_META ? 2 : 0) | (bio->bi_opf & REQ_PREFLUSH ? 4 : 0) |
	       (bio->bi_opf & REQ_FUA ? 8 : 0);
}

void submit_bio(struct bio *bio)
{
	struct block_device *bdev = bio->bi_bdev;
	struct machine *m = bdev->machine;
	struct blk_plug *plug = current_plug(m);
	struct request rq = {.bio = bio,
			     .biotail = bio,
			     .bdev = bdev,
			     .opf = bio->bi_opf,
			     .sector = bio->bi_iter.bi_sector,
			     .bytes = bio->bi_iter.bi_size};

	charge(m, COST_SUBMIT_BIO, 1);
	bdev->stats.bios++;
	trace_event(&m->trace, EV_block_bio_queue, 0, 0, rq.sector, rq.bytes >> SECTOR_SHIFT,
		    bio_trace_flags(bio));
	if (!plug->depth) {
		dispatch_request(m, &rq);
		return;
	}
	if (merge_into_plug(plug, bio))
		return;
	if (plug->nr == BLK_PLUG_REQUESTS)
		flush_plug(m);
	plug->rq[plug->nr++] = rq;
}

/* ---- one piece of I/O that somebody waits for ---- */

static void end_wait(struct bio *bio)
{
	*(int *)bio->bi_private = bio->bi_status;
}

int blk_rw_wait(struct block_device *bdev, unsigned int opf, u64 pos, void *buf, unsigned int len)
{
	struct bio *bio = bio_alloc(bdev, 1, opf);
	int status = 1;

	if (!bio)
		return -ENOMEM;
	bio->bi_iter.bi_sector = pos >> SECTOR_SHIFT;
	bio->bi_end_io = end_wait;
	bio->bi_private = &status;
	if (len)
		bio_add_folio(bio, NULL, len, 0, buf);
	submit_bio(bio);
	while (status > 0 && blk_wait_next(bdev->machine))
		;
	return status;
}

int blkdev_issue_flush(struct block_device *bdev)
{
	return blk_rw_wait(bdev, REQ_OP_WRITE | REQ_PREFLUSH, 0, NULL, 0);
}
