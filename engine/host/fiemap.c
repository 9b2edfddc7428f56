#include "host/fiemap.h"

#include <errno.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define BATCH	    256
#define EXTENTS_MAX (1u << 20)
#define DISK_BYTES  (1ULL << 46) /* fs/super.c */
#define NO_PLACE    (~0ULL)

/* Flags that say that fe_physical is not where the bytes lie. */
#define FIEMAP_NO_PLACE                                                                            \
	(FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_DELALLOC | FIEMAP_EXTENT_ENCODED |                  \
	 FIEMAP_EXTENT_NOT_ALIGNED | FIEMAP_EXTENT_DATA_INLINE | FIEMAP_EXTENT_DATA_TAIL)

struct fiemap_walk {
	int fd;
	unsigned int blkbits;
	u64 size; /* bytes of the file that count */
	struct host_layout *layout;
	unsigned int cap;
};

/* ---- reading ---- */

/*
 * An unwritten extent may hold bytes that are only in the host's page cache; SEEK_DATA knows. Then
 * it is as good as written: what is read is what the host would deliver.
 */
static bool has_cached_data(const struct fiemap_walk *w, u64 start, u64 len)
{
	off_t data = lseek(w->fd, (off_t)start, SEEK_DATA);

	return data >= 0 && (u64)data < start + len;
}

static u64 place_of(const struct fiemap_walk *w, const struct fiemap_extent *fe)
{
	u64 mask = (1ULL << w->blkbits) - 1;

	if (fe->fe_flags & FIEMAP_NO_PLACE || fe->fe_physical & mask ||
	    fe->fe_physical >= DISK_BYTES || fe->fe_length > DISK_BYTES - fe->fe_physical)
		return NO_PLACE;
	return fe->fe_physical >> w->blkbits;
}

static int add_extent(struct fiemap_walk *w, const struct fs_extent *e)
{
	struct host_layout *l = w->layout;
	struct fs_extent *p;

	if (l->nr == EXTENTS_MAX)
		return -EOPNOTSUPP;
	if (l->nr == w->cap) {
		w->cap = max(64u, 2 * w->cap);
		p = realloc(l->extents, w->cap * sizeof(*p));
		if (!p)
			return -ENOMEM;
		l->extents = p;
	}
	l->extents[l->nr++] = *e;
	return 0;
}

/* Blocks must begin and end with the extent; only the file may end inside one. */
static int take(struct fiemap_walk *w, const struct fiemap_extent *fe)
{
	u64 mask = (1ULL << w->blkbits) - 1, start = fe->fe_logical, len = fe->fe_length;
	const struct host_layout *l = w->layout;
	struct fs_extent e = {.state = EXTENT_WRITTEN};

	if (start >= w->size)
		return 0;
	len = min(len, w->size - start);
	if (!len || start & mask || (len & mask && start + len < w->size))
		return -EOPNOTSUPP;
	e.lblk = start >> w->blkbits;
	e.len = (len + mask) >> w->blkbits;
	e.pblk = place_of(w, fe);
	if (l->nr && e.lblk < l->extents[l->nr - 1].lblk + l->extents[l->nr - 1].len)
		return -EOPNOTSUPP;
	if (fe->fe_flags & FIEMAP_EXTENT_UNWRITTEN && !has_cached_data(w, start, len))
		e.state = EXTENT_UNWRITTEN;
	return add_extent(w, &e);
}

/* One call of the ioctl from *pos on; *pos moves behind what was taken, *last is set at the end. */
static int take_batch(struct fiemap_walk *w, struct fiemap *map, u64 *pos, bool *last)
{
	int ret = 0;

	memset(map, 0, sizeof(*map));
	map->fm_start = *pos;
	map->fm_length = FIEMAP_MAX_OFFSET - *pos;
	map->fm_extent_count = BATCH;
	if (ioctl(w->fd, FS_IOC_FIEMAP, map))
		return -EOPNOTSUPP;
	*last = !map->fm_mapped_extents;
	for (u32 i = 0; i < min_t(u32, map->fm_mapped_extents, BATCH) && !ret; i++) {
		const struct fiemap_extent *fe = &map->fm_extents[i];

		ret = take(w, fe);
		*last = fe->fe_flags & FIEMAP_EXTENT_LAST || fe->fe_logical >= w->size ||
			fe->fe_length > FIEMAP_MAX_OFFSET - fe->fe_logical ||
			fe->fe_logical + fe->fe_length <= *pos;
		*pos = fe->fe_logical + fe->fe_length;
	}
	return ret;
}

static int take_all(struct fiemap_walk *w)
{
	struct fiemap *map = malloc(sizeof(*map) + BATCH * sizeof(map->fm_extents[0]));
	bool last = false;
	u64 pos = 0;
	int ret = map ? 0 : -ENOMEM;

	while (!ret && !last && pos < w->size)
		ret = take_batch(w, map, &pos, &last);
	free(map);
	return ret;
}

/* ---- places ---- */

static int by_pblk(const void *a, const void *b)
{
	const struct fs_extent *const *x = a, *const *y = b;

	if ((*x)->pblk != (*y)->pblk)
		return (*x)->pblk > (*y)->pblk ? 1 : -1;
	return (*x)->lblk > (*y)->lblk ? 1 : -1;
}

/* @sorted by pblk: what shares blocks with the one before it loses its place. */
static u64 take_shared_places(struct fs_extent **sorted, unsigned int nr)
{
	u64 end = 0;

	for (unsigned int i = 0; i < nr && sorted[i]->pblk != NO_PLACE; i++) {
		if (sorted[i]->pblk < end)
			sorted[i]->pblk = NO_PLACE;
		else
			end = sorted[i]->pblk + sorted[i]->len;
	}
	return end;
}

/* A place for what has none: one after the other, a block behind the last that has one. */
static int give_places(struct host_layout *l, u64 end, unsigned int blkbits)
{
	u64 next = end + 1;

	for (unsigned int i = 0; i < l->nr; i++) {
		if (l->extents[i].pblk != NO_PLACE)
			continue;
		if (l->extents[i].len > (DISK_BYTES >> blkbits) - next)
			return -EOPNOTSUPP;
		l->extents[i].pblk = next;
		next += l->extents[i].len;
	}
	return 0;
}

static void fill_pieces(struct host_layout *l, struct fs_extent **sorted, unsigned int blkbits)
{
	qsort(sorted, l->nr, sizeof(*sorted), by_pblk);
	for (unsigned int i = 0; i < l->nr; i++)
		l->pieces[i] = (struct disk_piece){
			.disk_off = sorted[i]->pblk << blkbits,
			.len = sorted[i]->len << blkbits,
			.file_off = sorted[i]->lblk << blkbits,
		};
}

static int place(struct host_layout *l, unsigned int blkbits)
{
	struct fs_extent **sorted = malloc((l->nr + 1) * sizeof(*sorted));
	int ret;

	l->pieces = malloc((l->nr + 1) * sizeof(*l->pieces));
	if (!sorted || !l->pieces) {
		free(sorted);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < l->nr; i++)
		sorted[i] = &l->extents[i];
	qsort(sorted, l->nr, sizeof(*sorted), by_pblk);
	ret = give_places(l, take_shared_places(sorted, l->nr), blkbits);
	if (!ret)
		fill_pieces(l, sorted, blkbits);
	free(sorted);
	return ret;
}

int host_fiemap(int fd, u64 size, unsigned int blkbits, struct host_layout *ret)
{
	struct fiemap_walk w = {.fd = fd, .blkbits = blkbits, .size = size, .layout = ret};
	int error;

	memset(ret, 0, sizeof(*ret));
	error = take_all(&w);
	if (!error)
		error = place(ret, blkbits);
	if (error)
		host_layout_fini(ret);
	return error;
}

void host_layout_fini(struct host_layout *layout)
{
	free(layout->extents);
	free(layout->pieces);
	memset(layout, 0, sizeof(*layout));
}
