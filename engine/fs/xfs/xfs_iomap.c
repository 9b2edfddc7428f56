/*
 * Mirrors fs/xfs/xfs_iomap.c and xfs_bmap.c: delayed extents, how far they reach beyond what was
 * written, and where they end up.
 */
#include <errno.h>

#include "fs/balloc.h"
#include "fs/extents.h"
#include "fs/super.h"
#include "fs/xfs/xfs.h"
#include "mm/internal.h"

/* Default of the allocsize machinery: fs/xfs/xfs_mount.h m_allocsize_log = 64 KiB. */
#define ALLOCSIZE_BYTES 65536ULL
/* A write reserves at most this much at once. xfs_buffered_write_iomap_begin(). */
#define MAX_WRITE_BYTES (4ULL << 20)

static u64 blocks_up(const struct inode *inode, u64 bytes)
{
	return (bytes + (1u << inode->i_blkbits) - 1) >> inode->i_blkbits;
}

static bool touch(const struct fs_extent *a, const struct fs_extent *b)
{
	return a->state != EXTENT_DELAYED && b->state != EXTENT_DELAYED &&
	       a->lblk + a->len == b->lblk && a->pblk + a->len == b->pblk;
}

/* How many blocks to reserve behind the write. @next: index of the first extent behind it. */
static u64 xfs_iomap_prealloc_size(const struct inode *inode, u64 lblk, unsigned int next)
{
	u64 least = ALLOCSIZE_BYTES >> inode->i_blkbits, plen;
	unsigned int i = next;

	if ((u64)inode->i_size < ALLOCSIZE_BYTES)
		return 0;
	if (!next || inode->i_extents[next - 1].lblk + inode->i_extents[next - 1].len < lblk)
		return least;
	plen = inode->i_extents[--i].len;
	while (i && touch(&inode->i_extents[i - 1], &inode->i_extents[i]))
		plen += inode->i_extents[--i].len;
	return max(least, 1ULL << ilog2(2 * plen));
}

/* Where a delayed extent for the write ends. */
static u64 delalloc_end(const struct inode *inode, loff_t pos, u64 count, u64 lblk,
			unsigned int next)
{
	u64 end = blocks_up(inode, pos + count), prealloc = 0;
	u64 align = ALLOCSIZE_BYTES >> inode->i_blkbits;

	if (next == inode->i_nr_extents && pos + (loff_t)count > inode->i_size)
		prealloc = xfs_iomap_prealloc_size(inode, lblk, next);
	if (prealloc)
		end = (pos + count - 1) / ALLOCSIZE_BYTES * align + prealloc;
	if (next < inode->i_nr_extents)
		end = min(end, inode->i_extents[next].lblk);
	return end;
}

static int xfs_buffered_write_iomap_begin(struct inode *inode, loff_t pos, loff_t length,
					  struct iomap *iomap)
{
	u64 lblk = pos >> inode->i_blkbits;
	unsigned int next = extents_find(inode, lblk);
	struct fs_extent e = {.lblk = lblk, .state = EXTENT_DELAYED};
	int ret = 0;

	if (next == inode->i_nr_extents || inode->i_extents[next].lblk > lblk) {
		e.len = delalloc_end(inode, pos, min_t(u64, length, MAX_WRITE_BYTES), lblk, next) -
			lblk;
		ret = extents_set(inode, &e);
	}
	if (!ret)
		iomap_set(iomap, inode, extents_lookup(inode, lblk), lblk, 1);
	return ret;
}

const struct iomap_ops xfs_buffered_write_iomap_ops = {
	.iomap_begin = xfs_buffered_write_iomap_begin,
};

/* Near the extent before it on disk, unless that is far away in the file. */
static u64 alloc_goal(const struct inode *inode, const struct fs_extent *e)
{
	const struct fs_extent *prev = e > inode->i_extents ? e - 1 : NULL;
	u64 gap;

	if (!prev || prev->state == EXTENT_DELAYED)
		return 0;
	gap = e->lblk - (prev->lblk + prev->len);
	return prev->pblk + prev->len + (gap <= 4 * e->len ? gap : 0);
}

int xfs_bmapi_convert_delalloc(struct inode *inode, u64 lblk)
{
	const struct fs_extent *found = extents_lookup(inode, lblk);
	struct fs_extent e = *found;
	u64 end = e.lblk + e.len;

	while (e.lblk < end) {
		s64 got = block_alloc(inode->i_sb->s_space, alloc_goal(inode, found), end - e.lblk,
				      &e.pblk);
		int ret;

		if (got < 0)
			return got;
		e.len = got;
		e.state = EXTENT_UNWRITTEN;
		ret = extents_set(inode, &e);
		if (ret)
			return ret;
		e.lblk += got;
		found = extents_lookup(inode, e.lblk);
	}
	return 0;
}

/* ---- zeroing ---- */

static bool dirty_in_cache(struct inode *inode, loff_t pos, loff_t end)
{
	return filemap_range_needs_writeback(inode->i_mapping, pos, end - 1);
}

/* Where a block begins; the largest offset there is for what lies beyond. */
static loff_t block_pos(const struct inode *inode, u64 lblk)
{
	unsigned int bits = inode->i_blkbits;

	return lblk > (u64)INT64_MAX >> bits ? INT64_MAX : (loff_t)(lblk << bits);
}

/*
 * The extent over @pos as zeroing sees it: what of it is to be zeroed up to *end, if anything.
 * A dirty unwritten range is written back once, since 6.12, and looked at again.
 */
static int zero_decide(struct inode *inode, loff_t pos, loff_t *end, bool *flushed, bool *zero)
{
	const struct machine *m = inode->i_sb->s_machine;
	u64 lblk = pos >> inode->i_blkbits, len, eof = blocks_up(inode, inode->i_size);
	const struct fs_extent *e = inode_map_block(inode, lblk, &len);
	loff_t limit = block_pos(inode, len > ~lblk ? ~0ULL : lblk + len);

	*end = min(*end, limit);
	*zero = false;
	if (!e)
		return 0;
	if (e->state == EXTENT_DELAYED) {
		if (lblk >= eof) {
			*end = pos; /* look again: unwritten now */
			return xfs_bmapi_convert_delalloc(inode, lblk);
		}
		*end = min(*end, block_pos(inode, eof));
		*zero = true;
		return 0;
	}
	if (e->state == EXTENT_UNWRITTEN) {
		if (*flushed || !knob(m, XFS_ZERO_FLUSH_DIRTY) || !dirty_in_cache(inode, pos, *end))
			return 0;
		*flushed = true;
		limit = *end;
		*end = pos; /* look again: written now, perhaps */
		return filemap_write_and_wait_range(inode->i_mapping, pos, limit - 1);
	}
	*zero = true;
	return 0;
}

int xfs_zero_range(struct inode *inode, loff_t pos, loff_t len, bool *did_zero)
{
	loff_t end = pos + len;
	bool flushed = false;

	while (pos < end) {
		loff_t stop = end;
		struct iomap iomap;
		bool zero;
		int ret = zero_decide(inode, pos, &stop, &flushed, &zero);

		if (ret)
			return ret;
		if (zero) {
			u64 lblk = pos >> inode->i_blkbits;

			iomap_set(&iomap, inode, extents_lookup(inode, lblk), lblk, 1);
			ret = iomap_zero_iter(inode, pos, stop - pos, &iomap);
			if (ret)
				return ret;
			if (did_zero)
				*did_zero = true;
		}
		pos = stop;
	}
	return 0;
}
