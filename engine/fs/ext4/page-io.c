/*
 * Mirrors fs/ext4/page-io.c: one folio's dirty blocks to bios.
 */
#include <errno.h>

#include "block/blkdev.h"
#include "fs/ext4/ext4.h"
#include "fs/extents.h"
#include "mm/internal.h"

/* Blocks of a folio still being written are marked Async_Write; the last one ends it. */
static void finish_blocks(struct folio *folio, size_t offset, size_t len)
{
	struct inode *inode = folio->mapping->host;
	struct buffer_head *bh = folio_buffers(folio);
	unsigned int nr = blocks_per_folio(inode, folio);

	for (size_t i = offset >> inode->i_blkbits; i < (offset + len) >> inode->i_blkbits; i++)
		bh[i].b_state &= ~(1u << BH_Async_Write);
	for (unsigned int i = 0; i < nr; i++)
		if (bh[i].b_state & 1u << BH_Async_Write)
			return;
	folio_end_writeback(folio);
}

static void ext4_end_bio(struct bio *bio)
{
	for (unsigned int i = 0; i < bio->bi_vcnt; i++) {
		const struct bio_vec *bv = &bio->bi_io_vec[i];

		finish_blocks(bv->bv_folio, bv->bv_offset, bv->bv_len);
	}
}

/* Give a dirty block its place on disk if it has none. */
static int map_dirty_block(struct inode *inode, u64 lblk, struct buffer_head *bh)
{
	const struct fs_extent *e;
	int ret = 0;

	if (buffer_delay(bh) || !buffer_mapped(bh))
		ret = ext4_alloc_delayed(inode, lblk);
	if (!ret && buffer_unwritten(bh))
		ret = extents_set_state(inode, lblk, 1, EXTENT_WRITTEN);
	if (ret)
		return ret;
	e = extents_lookup(inode, lblk);
	bh->b_state &= ~(1u << BH_Delay | 1u << BH_Unwritten | 1u << BH_New | 1u << BH_Mapped);
	if (e && e->state == EXTENT_WRITTEN) {
		set_buffer_mapped(bh);
		bh->b_blocknr = e->pblk + (lblk - e->lblk);
	}
	return 0;
}

/* Pass 1: which blocks go out. Returns their number. */
static unsigned int mark_blocks(struct inode *inode, struct folio *folio, int *err)
{
	struct buffer_head *bh = folio_buffers(folio);
	u64 first = folio_pos(folio) >> inode->i_blkbits;
	u64 end = ((u64)inode->i_size + (1u << inode->i_blkbits) - 1) >> inode->i_blkbits;
	unsigned int nr = 0;

	for (unsigned int i = 0; i < blocks_per_folio(inode, folio); i++) {
		charge(folio_machine(folio), COST_BUFFER_VISIT, 1);
		if (first + i >= end) {
			clear_buffer_dirty(&bh[i]);
			set_buffer_uptodate(&bh[i]);
			continue;
		}
		if (!buffer_dirty(&bh[i]))
			continue;
		*err = map_dirty_block(inode, first + i, &bh[i]);
		if (*err)
			return nr;
		clear_buffer_dirty(&bh[i]);
		if (buffer_mapped(&bh[i])) {
			bh[i].b_state |= 1u << BH_Async_Write;
			nr++;
		}
	}
	return nr;
}

static int ext4_bio_write_folio(struct folio *folio, struct writeback_control *wbc, void *data)
{
	struct inode *inode = folio->mapping->host;
	struct buffer_head *bh = create_empty_buffers(folio);
	struct bio_run *run = data;
	unsigned int shift = inode->i_blkbits - SECTOR_SHIFT, nr;
	int err = bh ? 0 : -ENOMEM;

	(void)wbc;
	charge(folio_machine(folio), COST_WRITE_FOLIO, 1);
	folio_zero_behind_eof(folio);
	nr = bh ? mark_blocks(inode, folio, &err) : 0;
	if (err)
		filemap_dirty_folio(folio->mapping, folio);
	folio_start_writeback(folio);
	folio_unlock(folio);
	if (!nr)
		folio_end_writeback(folio);
	for (unsigned int i = 0; nr; i++) {
		if (!(bh[i].b_state & 1u << BH_Async_Write))
			continue;
		nr--;
		if (bio_run_add(run, folio, (size_t)i << inode->i_blkbits,
				(size_t)1 << inode->i_blkbits, folio_address(folio),
				bh[i].b_blocknr << shift))
			finish_blocks(folio, (size_t)i << inode->i_blkbits,
				      (size_t)1 << inode->i_blkbits);
	}
	return err;
}

int ext4_writepages(struct address_space *mapping, struct writeback_control *wbc)
{
	struct machine *m = mapping_machine(mapping);
	struct bio_run run = {
		.bdev = mapping->host->i_sb->s_bdev, .opf = REQ_OP_WRITE, .nr_vecs = BIO_MAX_VECS,
		.end_io = ext4_end_bio,
	};
	int ret;

	blk_start_plug(m);
	ret = write_cache_pages(mapping, wbc, ext4_bio_write_folio, &run);
	bio_run_submit(&run);
	blk_finish_plug(m);
	return ret;
}
