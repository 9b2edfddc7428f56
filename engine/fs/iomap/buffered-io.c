/*
 * Mirrors fs/iomap/buffered-io.c: the read side, and writing into the cache. Writeback is in
 * writeback.c.
 */
#include <errno.h>
#include <string.h>

#include "block/blkdev.h"
#include "fs/extents.h"
#include "fs/iomap/ifs.h"
#include "fs/super.h"
#include "mm/internal.h"

/* ---- extents ---- */

void iomap_set(struct iomap *iomap, const struct inode *inode, const struct fs_extent *e, u64 lblk,
	       u64 len)
{
	static const u16 types[] = {
		[EXTENT_WRITTEN] = IOMAP_MAPPED,
		[EXTENT_UNWRITTEN] = IOMAP_UNWRITTEN,
		[EXTENT_DELAYED] = IOMAP_DELALLOC,
	};
	unsigned int bits = inode->i_blkbits;

	if (e) {
		lblk = e->lblk;
		len = e->len;
	}
	iomap->offset = (loff_t)(lblk << bits);
	iomap->length = min(len, (u64)INT64_MAX >> bits) << bits;
	iomap->type = e ? types[e->state] : IOMAP_HOLE;
	iomap->addr = e ? e->pblk << bits : 0;
}

int iomap_from_extents(struct inode *inode, loff_t pos, loff_t length, struct iomap *iomap)
{
	u64 lblk = pos >> inode->i_blkbits, len;
	const struct fs_extent *e = inode_map_block(inode, lblk, &len);

	(void)length;
	iomap_set(iomap, inode, e, lblk, len);
	return 0;
}

/* ---- reading ---- */

struct iomap_readpage_ctx {
	struct inode *inode;
	const struct iomap_ops *ops;
	struct iomap iomap; /* extent in hand; length 0 at the start */
	struct bio_run run;
};

/* @len bytes have arrived, or failed to. Folios of one block have no state: they are done. */
static void iomap_finish_folio_read(struct folio *folio, size_t off, size_t len, int error)
{
	struct iomap_folio_state *ifs = folio_ifs(folio);

	if (!error)
		iomap_set_range_uptodate(folio, off, len);
	if (ifs)
		ifs->read_bytes_pending -= len;
	if (!ifs || !ifs->read_bytes_pending)
		folio_end_read(folio, folio_test_uptodate(folio));
}

static void iomap_read_end_io(struct bio *bio)
{
	for (unsigned int i = 0; i < bio->bi_vcnt; i++) {
		const struct bio_vec *bv = &bio->bi_io_vec[i];

		iomap_finish_folio_read(bv->bv_folio, bv->bv_offset, bv->bv_len, bio->bi_status);
	}
}

/* Get the extent over @pos if the one in hand does not reach there. */
static int iomap_iter_to(struct iomap_readpage_ctx *ctx, loff_t pos, loff_t length)
{
	const struct machine *m = ctx->inode->i_sb->s_machine;
	const struct iomap *map = &ctx->iomap;

	if (map->length && pos >= map->offset && (u64)(pos - map->offset) < map->length)
		return 0;
	if (knob(m, IOMAP_BIO_PER_EXTENT))
		bio_run_submit(&ctx->run);
	return ctx->ops->iomap_begin(ctx->inode, pos, length, &ctx->iomap);
}

static void zero_bytes(struct folio *folio, size_t from, size_t to)
{
	char *p = folio_address(folio);

	if (from >= to)
		return;
	charge(folio_machine(folio), COST_ZERO_BYTE, to - from);
	if (p)
		memset(p + from, 0, to - from);
}

/* What is not written on disk, and what lies behind the end of the file, reads as zeros. */
static bool iomap_block_needs_zeroing(const struct inode *inode, const struct iomap *iomap,
				      loff_t pos)
{
	return iomap->type != IOMAP_MAPPED || pos >= i_size_read(inode);
}

/* Bytes from @off on that are alike: all uptodate or all not. */
static size_t same_state_bytes(const struct folio *folio, size_t off, size_t end)
{
	unsigned int bits = folio->mapping->host->i_blkbits, block = off >> bits;
	bool uptodate = ifs_block_is_uptodate(folio, block);

	while (++block << bits < end && ifs_block_is_uptodate(folio, block) == uptodate)
		;
	return min_t(size_t, (size_t)block << bits, end) - off;
}

/* Read or zero one piece that lies in one extent; true if a bio will end it. */
static int read_piece(struct iomap_readpage_ctx *ctx, struct folio *folio, size_t off, size_t len,
		      bool *in_bio)
{
	struct iomap_folio_state *ifs = folio_ifs(folio);
	loff_t pos = folio_pos(folio) + off;
	int ret;

	if (ifs_block_is_uptodate(folio, off >> ctx->inode->i_blkbits))
		return 0;
	if (iomap_block_needs_zeroing(ctx->inode, &ctx->iomap, pos)) {
		zero_bytes(folio, off, off + len);
		iomap_set_range_uptodate(folio, off, len);
		return 0;
	}
	if (ifs)
		ifs->read_bytes_pending += len;
	*in_bio = true;
	ret = bio_run_add(&ctx->run, folio, off, len, folio_address(folio),
			  (ctx->iomap.addr + (pos - ctx->iomap.offset)) >> SECTOR_SHIFT);
	if (ret) {
		*in_bio = false;
		if (ifs)
			ifs->read_bytes_pending -= len;
	}
	return ret;
}

/* Blocks wholly behind the end of the file are zeroed apart from those before it. */
static size_t cut_at_eof(const struct inode *inode, loff_t pos, size_t len)
{
	u64 end = round_up((u64)i_size_read(inode), 1ULL << inode->i_blkbits);

	return (u64)pos < end && pos + len > end ? end - pos : len;
}

static int iomap_readpage_iter(struct iomap_readpage_ctx *ctx, struct folio *folio, bool *in_bio)
{
	size_t off = 0, size = folio_size(folio);
	int ret = 0;

	while (off < size && !ret) {
		loff_t pos = folio_pos(folio) + off;
		size_t len;

		ret = iomap_iter_to(ctx, pos, size - off);
		if (ret)
			break;
		len = min_t(u64, size - off, ctx->iomap.offset + ctx->iomap.length - pos);
		len = same_state_bytes(folio, off, off + cut_at_eof(ctx->inode, pos, len));
		ret = read_piece(ctx, folio, off, len, in_bio);
		off += len;
	}
	return ret;
}

/* A byte of state is held back so that a bio that ends early does not unlock the folio. */
static int read_one_folio(struct iomap_readpage_ctx *ctx, struct folio *folio)
{
	struct iomap_folio_state *ifs = ifs_alloc(folio);
	bool in_bio = false;
	int ret;

	if (ifs)
		ifs->read_bytes_pending++;
	ret = iomap_readpage_iter(ctx, folio, &in_bio);
	if (ifs && --ifs->read_bytes_pending)
		return ret;
	if (ifs || !in_bio)
		folio_end_read(folio, folio_test_uptodate(folio));
	return ret;
}

static void readpage_ctx_init(struct iomap_readpage_ctx *ctx, struct inode *inode,
			      const struct iomap_ops *ops, unsigned int opf, unsigned int nr_vecs)
{
	*ctx = (struct iomap_readpage_ctx){
		.inode = inode,
		.ops = ops,
		.run = {.bdev = inode->i_sb->s_bdev,
			.opf = opf,
			.end_io = iomap_read_end_io,
			.nr_vecs = min_t(unsigned int, nr_vecs, BIO_MAX_VECS)},
	};
}

void iomap_readahead(struct readahead_control *rac, const struct iomap_ops *ops)
{
	struct iomap_readpage_ctx ctx;
	struct folio *folio;

	readpage_ctx_init(&ctx, rac->mapping->host, ops, REQ_OP_READ | REQ_RAHEAD,
			  readahead_count(rac));
	while ((folio = readahead_folio(rac)))
		read_one_folio(&ctx, folio);
	bio_run_submit(&ctx.run);
}

int iomap_read_folio(struct folio *folio, const struct iomap_ops *ops)
{
	struct iomap_readpage_ctx ctx;
	int ret;

	readpage_ctx_init(&ctx, folio->mapping->host, ops, REQ_OP_READ, BIO_MAX_VECS);
	ret = read_one_folio(&ctx, folio);
	bio_run_submit(&ctx.run);
	return ret;
}

/* ---- what the page cache asks ---- */

bool iomap_is_partially_uptodate(struct folio *folio, size_t from, size_t count)
{
	unsigned int bits = folio->mapping->host->i_blkbits;
	size_t last = from + min(folio_size(folio) - from, count) - 1;

	if (!folio_ifs(folio))
		return false;
	for (unsigned int i = from >> bits; i <= last >> bits; i++)
		if (!ifs_block_is_uptodate(folio, i))
			return false;
	return true;
}

bool iomap_release_folio(struct folio *folio, gfp_t gfp)
{
	(void)gfp;
	if (folio_test_dirty(folio) || folio_test_writeback(folio))
		return false;
	ifs_free(folio);
	return true;
}

void iomap_invalidate_folio(struct folio *folio, size_t offset, size_t len)
{
	if (offset || len != folio_size(folio))
		return;
	folio_cancel_dirty(folio);
	ifs_free(folio);
}

bool iomap_dirty_folio(struct address_space *mapping, struct folio *folio)
{
	ifs_alloc(folio);
	iomap_set_range_dirty(folio, 0, folio_size(folio));
	return filemap_dirty_folio(mapping, folio);
}

/* ---- writing ---- */

static void iomap_write_begin_end_io(struct bio *bio)
{
	const struct bio_vec *bv = &bio->bi_io_vec[0];

	if (!bio->bi_status)
		iomap_set_range_uptodate(bv->bv_folio, bv->bv_offset, bv->bv_len);
}

/* A block that is written in part only: zero the rest, or read it. [from, to) gets written. */
static int prepare_block(struct inode *inode, struct folio *folio, const struct iomap *iomap,
			 size_t start, size_t from, size_t to)
{
	size_t end = start + (1u << inode->i_blkbits);
	loff_t pos = folio_pos(folio) + start;
	struct iomap_readpage_ctx ctx;
	struct machine *m = folio_machine(folio);

	if (ifs_block_is_uptodate(folio, start >> inode->i_blkbits) || (start >= from && end <= to))
		return 0;
	if (iomap_block_needs_zeroing(inode, iomap, pos)) {
		zero_bytes(folio, start, max(start, from));
		zero_bytes(folio, min(end, to), end);
		return 0;
	}
	readpage_ctx_init(&ctx, inode, NULL, REQ_OP_READ, 1);
	ctx.run.end_io = iomap_write_begin_end_io;
	if (bio_run_add(&ctx.run, folio, start, end - start, folio_address(folio),
			(iomap->addr + (pos - iomap->offset)) >> SECTOR_SHIFT))
		return -ENOMEM;
	bio_run_submit(&ctx.run);
	while (!ifs_block_is_uptodate(folio, start >> inode->i_blkbits))
		if (!blk_wait_next(m))
			return -EIO;
	return 0;
}

static int __iomap_write_begin(struct inode *inode, struct folio *folio, const struct iomap *iomap,
			       loff_t pos, size_t len)
{
	size_t from = pos - folio_pos(folio), to = from + len;
	size_t block = (size_t)1 << inode->i_blkbits, first = round_down(from, block);
	size_t last = round_down(to - 1, block);
	int ret;

	if (!from && len == folio_size(folio))
		return 0;
	ifs_alloc(folio);
	if (folio_test_uptodate(folio))
		return 0;
	ret = prepare_block(inode, folio, iomap, first, from, to);
	if (!ret && last != first)
		ret = prepare_block(inode, folio, iomap, last, from, to);
	return ret;
}

static int iomap_write_begin(struct inode *inode, loff_t pos, size_t *len,
			     const struct iomap *iomap, struct folio **foliop)
{
	struct machine *m = inode->i_sb->s_machine;
	size_t hint = knob(m, FGP_ORDER) ? *len : 0;
	struct folio *folio;
	int ret = __filemap_get_folio(inode->i_mapping, pos >> m->page_shift, FGP_WRITEBEGIN, hint,
				      &folio);

	if (ret)
		return ret;
	folio_wait_writeback(folio);
	*len = min_t(u64, *len, folio_pos(folio) + folio_size(folio) - pos);
	ret = __iomap_write_begin(inode, folio, iomap, pos, *len);
	if (ret) {
		folio_unlock(folio);
		folio_put(folio);
		return ret;
	}
	*foliop = folio;
	return 0;
}

static void iomap_write_end(struct inode *inode, loff_t pos, size_t len, struct folio *folio)
{
	size_t off = pos - folio_pos(folio);

	iomap_set_range_uptodate(folio, off, len);
	iomap_set_range_dirty(folio, off, len);
	filemap_dirty_folio(inode->i_mapping, folio);
}

/* Bytes of one turn: to the end of the largest folio at @pos. */
static size_t turn_bytes(const struct inode *inode, loff_t pos, u64 left)
{
	const struct machine *m = inode->i_sb->s_machine;
	size_t chunk = m->page_size;

	if (knob(m, FGP_ORDER))
		chunk <<= mapping_max_folio_order(inode->i_mapping);
	return min_t(u64, chunk - (pos & (chunk - 1)), left);
}

/* Write what lies inside one extent; the size follows every folio. Bytes or -errno. */
static ssize_t iomap_write_iter(struct inode *inode, loff_t pos, struct iov_iter *iter, u64 left,
				const struct iomap *iomap)
{
	ssize_t written = 0;

	while (left) {
		size_t bytes = turn_bytes(inode, pos, left);
		struct folio *folio;
		int ret = iomap_write_begin(inode, pos, &bytes, iomap, &folio);

		if (ret)
			return written ? written : ret;
		charge(folio_machine(folio), COST_WRITE_TURN, 1);
		copy_folio_from_iter(folio, pos - folio_pos(folio), bytes, iter);
		iomap_write_end(inode, pos, bytes, folio);
		pos += bytes;
		if (pos > inode->i_size)
			inode->i_size = pos;
		folio_unlock(folio);
		folio_put(folio);
		left -= bytes;
		written += bytes;
	}
	return written;
}

ssize_t iomap_file_buffered_write(struct kiocb *iocb, struct iov_iter *iter,
				  const struct iomap_ops *ops)
{
	struct inode *inode = iocb->ki_filp->f_inode;
	ssize_t total = 0, ret = 0;

	while (iter->count) {
		loff_t pos = iocb->ki_pos;
		struct iomap iomap;
		u64 left;

		balance_dirty_pages_ratelimited(inode->i_mapping);
		charge(inode->i_sb->s_machine, COST_IOMAP_BEGIN, 1);
		ret = ops->iomap_begin(inode, pos, iter->count, &iomap);
		if (ret)
			break;
		left = min_t(u64, iomap.offset + iomap.length - pos, iter->count);
		ret = iomap_write_iter(inode, pos, iter, left, &iomap);
		if (ret < 0)
			break;
		iocb->ki_pos += ret;
		total += ret;
	}
	return total ? total : ret;
}

int iomap_zero_iter(struct inode *inode, loff_t pos, u64 len, const struct iomap *iomap)
{
	while (len) {
		size_t bytes = turn_bytes(inode, pos, len), off;
		struct folio *folio;
		int ret = iomap_write_begin(inode, pos, &bytes, iomap, &folio);

		if (ret)
			return ret;
		off = pos - folio_pos(folio);
		zero_bytes(folio, off, off + bytes);
		iomap_write_end(inode, pos, bytes, folio);
		folio_unlock(folio);
		folio_put(folio);
		pos += bytes;
		len -= bytes;
	}
	return 0;
}

/* Blocks for all bytes of the folio inside the file; 0 or -errno. */
static int mkwrite_blocks(struct inode *inode, struct folio *folio, const struct iomap_ops *ops)
{
	u64 pos = folio_pos(folio), end = min_t(u64, pos + folio_size(folio), i_size_read(inode));

	while (pos < end) {
		struct iomap iomap;
		int ret;

		charge(inode->i_sb->s_machine, COST_IOMAP_BEGIN, 1);
		ret = ops->iomap_begin(inode, pos, end - pos, &iomap);
		if (ret)
			return ret;
		folio_mark_dirty(folio);
		pos = iomap.offset + iomap.length;
	}
	return 0;
}

vm_fault_t iomap_page_mkwrite(struct vm_fault *vmf, const struct iomap_ops *ops)
{
	struct inode *inode = vmf->vma->vm_file->f_inode;
	struct folio *folio = vmf->folio;
	int ret;

	folio_lock(folio);
	if (folio->mapping != inode->i_mapping || folio_pos(folio) >= i_size_read(inode)) {
		folio_unlock(folio);
		return VM_FAULT_NOPAGE;
	}
	ret = mkwrite_blocks(inode, folio, ops);
	if (ret) {
		folio_unlock(folio);
		return ret == -ENOMEM ? VM_FAULT_OOM : VM_FAULT_SIGBUS;
	}
	folio_wait_writeback(folio);
	return VM_FAULT_LOCKED;
}
