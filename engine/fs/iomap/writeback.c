/*
 * Mirrors fs/iomap/buffered-io.c (ioend.c in later kernels): dirty folios to bios.
 */
#include "block/blkdev.h"
#include "fs/buffer.h"
#include "fs/iomap/ifs.h"
#include "mm/internal.h"

struct iomap_writepage_ctx {
	const struct iomap_writeback_ops *ops;
	struct bio_run run;
};

static void iomap_finish_folio_write(struct folio *folio, size_t len)
{
	struct iomap_folio_state *ifs = folio_ifs(folio);

	if (ifs)
		ifs->write_bytes_pending -= len;
	if (!ifs || !ifs->write_bytes_pending)
		folio_end_writeback(folio);
}

static void iomap_write_end_io(struct bio *bio)
{
	for (unsigned int i = 0; i < bio->bi_vcnt; i++)
		iomap_finish_folio_write(bio->bi_io_vec[i].bv_folio, bio->bi_io_vec[i].bv_len);
}

/* One dirty block: place it, add it to the bio. True if a bio will end it. */
static bool write_block(struct iomap_writepage_ctx *ctx, struct folio *folio, size_t off, int *err)
{
	struct inode *inode = folio->mapping->host;
	struct iomap_folio_state *ifs = folio_ifs(folio);
	size_t len = (size_t)1 << inode->i_blkbits;
	loff_t pos = folio_pos(folio) + off;
	struct iomap iomap;

	*err = ctx->ops->map_blocks(inode, pos, &iomap);
	if (*err || iomap.type == IOMAP_HOLE)
		return false;
	if (ifs)
		ifs->write_bytes_pending += len;
	*err = bio_run_add(&ctx->run, folio, off, len, folio_address(folio),
			   (iomap.addr + (pos - iomap.offset)) >> SECTOR_SHIFT);
	if (*err) {
		if (ifs)
			ifs->write_bytes_pending -= len;
		return false;
	}
	*err = ctx->ops->written(inode, pos, len);
	return true;
}

/* fs/iomap/buffered-io.c iomap_writepage_map(). */
static int iomap_writepage_map(struct folio *folio, struct writeback_control *wbc, void *data)
{
	struct iomap_writepage_ctx *ctx = data;
	struct inode *inode = folio->mapping->host;
	unsigned int nr = i_blocks_per_folio(inode, folio), bits = inode->i_blkbits;
	bool with_state = nr > 1 && !folio_ifs(folio), in_bio = false;
	struct iomap_folio_state *ifs = ifs_alloc(folio);
	int err = 0;

	(void)wbc;
	charge(folio_machine(folio), COST_WRITE_FOLIO, 1);
	folio_zero_behind_eof(folio);
	if (with_state)
		iomap_set_range_dirty(folio, 0, folio_size(folio));
	if (ifs)
		ifs->write_bytes_pending = 1;
	folio_start_writeback(folio);
	for (unsigned int i = 0; i < nr && !err; i++) {
		if (folio_pos(folio) + ((loff_t)i << bits) >= inode->i_size)
			break;
		if (ifs_block_is_dirty(folio, i))
			in_bio |= write_block(ctx, folio, (size_t)i << bits, &err);
	}
	iomap_clear_range_dirty(folio, 0, folio_size(folio));
	folio_unlock(folio);
	if (ifs)
		iomap_finish_folio_write(folio, 1);
	else if (!in_bio)
		folio_end_writeback(folio);
	return err;
}

int iomap_writepages(struct address_space *mapping, struct writeback_control *wbc,
		     const struct iomap_writeback_ops *ops)
{
	struct machine *m = mapping_machine(mapping);
	struct iomap_writepage_ctx ctx = {
		.ops = ops,
		.run = {.bdev = mapping->host->i_sb->s_bdev,
			.opf = REQ_OP_WRITE,
			.nr_vecs = BIO_MAX_VECS,
			.end_io = iomap_write_end_io},
	};
	int ret;

	blk_start_plug(m);
	ret = write_cache_pages(mapping, wbc, iomap_writepage_map, &ctx);
	bio_run_submit(&ctx.run);
	blk_finish_plug(m);
	return ret;
}
