/*
 * The volatile cache of a disk, as a power cut sees it: what was written lies in the store at once,
 * and what it overwrote is remembered until a flush has made it durable.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "block/blk.h"
#include "lib/list.h"
#include "lib/prng.h"
#include "machine/machine.h"

#define SECTOR_SIZE (1u << SECTOR_SHIFT)

/* A write that is not durable yet. */
struct cached_write {
	struct list_head list;
	const struct bio *bio; /* until it completes */
	sector_t sector;
	unsigned int len; /* bytes */
	char old[];	  /* what lay there before */
};

struct disk_cache {
	struct list_head writes; /* oldest first */
	u64 completed;
	u64 cut_after;
	struct prng prng;
	bool out;
};

int blk_set_power_cut(struct block_device *bdev, u64 nth, u64 seed)
{
	struct disk_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return -ENOMEM;
	INIT_LIST_HEAD(&cache->writes);
	cache->cut_after = nth;
	prng_seed(&cache->prng, seed);
	bdev->cache = cache;
	return 0;
}

u64 blk_writes_completed(const struct block_device *bdev)
{
	return bdev->cache ? bdev->cache->completed : 0;
}

bool blk_power_is_out(const struct block_device *bdev)
{
	return bdev->cache && bdev->cache->out;
}

static void drop(struct cached_write *w)
{
	list_del(&w->list);
	free(w);
}

/* What completed so far is past the cache. */
static void flush_cache(struct disk_cache *cache)
{
	struct cached_write *w, *next;

	list_for_each_entry_safe(w, next, &cache->writes, list)
		if (!w->bio)
			drop(w);
}

int disk_cache_begin(struct bio *bio)
{
	struct disk_cache *cache = bio->bi_bdev->cache;
	unsigned int len = bio->bi_iter.bi_size;
	struct cached_write *w;

	if (!cache || (bio->bi_opf & REQ_OP_MASK) != REQ_OP_WRITE)
		return 0;
	if (bio->bi_opf & REQ_PREFLUSH)
		flush_cache(cache);
	if (!len)
		return 0;
	w = malloc(sizeof(*w) + len);
	if (!w)
		return -ENOMEM;
	*w = (struct cached_write){.bio = bio, .sector = bio->bi_iter.bi_sector, .len = len};
	if (disk_rw(bio->bi_bdev, REQ_OP_READ, w->sector, w->old, len)) {
		free(w);
		return -EIO;
	}
	list_add_tail(&w->list, &cache->writes);
	return 0;
}

/*
 * One sector of the writes in the cache is decided once, by its newest write: it survives, or what
 * it overwrote comes back, which was perhaps written, too, and is decided in turn.
 */
static void lose_sectors(struct block_device *bdev, struct cached_write *w, struct xarray *kept)
{
	for (unsigned int off = 0; off < w->len; off += SECTOR_SIZE) {
		sector_t sector = w->sector + (off >> SECTOR_SHIFT);

		if (xa_load(kept, sector))
			continue;
		if (prng_below(&bdev->cache->prng, 2))
			xa_store(kept, sector, xa_mk_value(1));
		else
			disk_rw(bdev, REQ_OP_WRITE, sector, w->old + off, SECTOR_SIZE);
	}
}

static void cut_power(struct block_device *bdev)
{
	struct disk_cache *cache = bdev->cache;
	struct cached_write *w, *next;
	struct xa_cache nodes;
	struct xarray kept;

	xa_cache_init(&nodes);
	xa_init(&kept, &nodes);
	list_for_each_entry_safe_reverse(w, next, &cache->writes, list)
	{
		lose_sectors(bdev, w, &kept);
		drop(w);
	}
	xa_destroy(&kept);
	xa_cache_fini(&nodes);
	cache->out = true;
}

void blk_cut_power(struct block_device *bdev)
{
	if (!bdev->cache->out)
		cut_power(bdev);
}

static struct cached_write *find_write(const struct disk_cache *cache, const struct bio *bio)
{
	struct cached_write *w;

	list_for_each_entry_reverse(w, &cache->writes, list)
		if (w->bio == bio)
			return w;
	return NULL;
}

void disk_cache_end(struct bio *bio)
{
	struct disk_cache *cache = bio->bi_bdev->cache;
	struct cached_write *w = cache && !cache->out ? find_write(cache, bio) : NULL;

	if (!w)
		return;
	w->bio = NULL;
	if (bio->bi_opf & REQ_FUA || bio->bi_bdev->model->power_safe)
		drop(w);
	if (++cache->completed == cache->cut_after)
		cut_power(bio->bi_bdev);
}

void disk_cache_fini(struct block_device *bdev)
{
	struct cached_write *w, *next;

	if (!bdev->cache)
		return;
	list_for_each_entry_safe(w, next, &bdev->cache->writes, list)
		drop(w);
	free(bdev->cache);
	bdev->cache = NULL;
}
