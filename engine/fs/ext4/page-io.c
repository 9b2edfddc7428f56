/*
 * Mirrors fs/ext4/page-io.c: one folio's dirty blocks to bios, and what happens when they are done.
 */
#include <errno.h>
#include <stdlib.h>

#include "block/blkdev.h"
#include "fs/ext4/ext4_io.h"
#include "fs/ext4/ondisk.h"
#include "fs/extents.h"
#include "mm/internal.h"

/* ---- completion ---- */

/* Blocks of a folio still being written are marked Async_Write; the last one ends it. */
static void finish_blocks(struct folio *folio, size_t offset, size_t len)
{
	struct inode *inode = folio->mapping->host;
	struct buffer_head *bh = folio_buffers(folio);
	unsigned int nr = blocks_per_folio(inode, folio);
	bool journalled = ext4_should_journal_data(inode);

	for (size_t i = offset >> inode->i_blkbits; i < (offset + len) >> inode->i_blkbits; i++) {
		clear_buffer_async_write(&bh[i]);
		if (journalled)
			jbd2_journal_written(ext4_journal(inode), bh[i].b_blocknr);
	}
	for (unsigned int i = 0; i < nr; i++)
		if (buffer_async_write(&bh[i]))
			return;
	folio_end_writeback(folio);
}

static void ext4_finish_bio(struct bio *bio)
{
	for (unsigned int i = 0; i < bio->bi_vcnt; i++) {
		const struct bio_vec *bv = &bio->bi_io_vec[i];

		finish_blocks(bv->bv_folio, bv->bv_offset, bv->bv_len);
	}
}

static int convert_vecs(struct ext4_io_end *io_end, handle_t *handle)
{
	struct inode *inode = io_end->inode;
	int ret = 0;

	for (unsigned int i = 0; i < io_end->nr_vec && !ret; i++) {
		const struct ext4_io_end_vec *v = &io_end->vec[i];

		ret = extents_set_state(inode, v->lblk, v->len, EXTENT_WRITTEN);
		if (!ret)
			ret = ext4_ext_dirty(handle, inode, v->lblk, v->len);
	}
	return ret;
}

/*
 * The data is on disk: its extents say so. A worker of its own does this in the kernel, with the
 * handle that writeback reserved. fs/ext4/extents.c ext4_convert_unwritten_io_end_vec()
 */
static int convert_unwritten(struct ext4_io_end *io_end)
{
	struct machine *m = io_end->inode->i_sb->s_machine;
	void *current_handle = m->journal_info[m->cpu];
	handle_t *handle = io_end->handle;
	int ret = 0;

	io_end->handle = NULL;
	m->journal_info[m->cpu] = NULL;
	if (handle)
		ret = jbd2_journal_start_reserved(handle, EXT4_HT_EXT_CONVERT);
	if (!ret) {
		ret = convert_vecs(io_end, handle);
		ext4_journal_stop(handle);
	}
	m->journal_info[m->cpu] = current_handle;
	return ret;
}

static void put_io_end(struct ext4_io_end *io_end)
{
	struct bio *bio, *next;

	if (--io_end->count)
		return;
	if (io_end->unwritten && convert_unwritten(io_end))
		mapping_set_error(io_end->inode->i_mapping, -EIO);
	for (bio = io_end->bio; bio; bio = next) {
		next = bio->bi_next;
		ext4_finish_bio(bio);
		bio_put(bio);
	}
	jbd2_journal_free_reserved(io_end->handle);
	free(io_end->vec);
	free(io_end);
}

static void ext4_end_bio(struct bio *bio)
{
	struct ext4_io_end *io_end = bio->bi_private;

	if (io_end->unwritten) {
		bio_get(bio);
		bio->bi_next = io_end->bio;
		io_end->bio = bio;
	} else {
		ext4_finish_bio(bio);
	}
	put_io_end(io_end);
}

/* ---- rounds ---- */

int ext4_io_submit_init(struct ext4_io_submit *io, struct inode *inode)
{
	struct ext4_io_end *io_end = calloc(1, sizeof(*io_end));

	if (!io_end)
		return -ENOMEM;
	io_end->inode = inode;
	io_end->count = 1;
	io->io_end = io_end;
	io->run = (struct bio_run){
		.bdev = inode->i_sb->s_bdev,
		.opf = REQ_OP_WRITE,
		.nr_vecs = BIO_MAX_VECS,
		.end_io = ext4_end_bio,
		.private = io_end,
	};
	return 0;
}

void ext4_io_submit(struct ext4_io_submit *io)
{
	bio_run_submit(&io->run);
	put_io_end(io->io_end);
	io->io_end = NULL;
}

int ext4_io_end_add_unwritten(struct ext4_io_end *io_end, handle_t *handle, u64 lblk, u64 len)
{
	struct ext4_io_end_vec *vec = realloc(io_end->vec, (io_end->nr_vec + 1) * sizeof(*vec));

	if (!vec)
		return -ENOMEM;
	io_end->vec = vec;
	vec[io_end->nr_vec++] = (struct ext4_io_end_vec){lblk, len};
	if (!io_end->unwritten && handle) {
		io_end->handle = handle->h_rsv_handle;
		handle->h_rsv_handle = NULL;
	}
	io_end->unwritten = true;
	return 0;
}

/* ---- one folio ---- */

/* Can this block not go out now? What the journal has must be in the log first. */
static bool must_wait(const struct inode *inode, const struct buffer_head *bh)
{
	if (buffer_delay(bh) || buffer_unwritten(bh) || buffer_jbddirty(bh))
		return true;
	return ext4_should_journal_data(inode) &&
	       jbd2_journal_pending(ext4_journal(inode), bh->b_blocknr);
}

/* Pass 1: which blocks go out. Returns their number; *left: others have to wait. */
static unsigned int mark_blocks(struct inode *inode, struct folio *folio, bool *left)
{
	struct buffer_head *bh = folio_buffers(folio);
	u64 first = folio_pos(folio) >> inode->i_blkbits;
	u64 end = ((u64)inode->i_size + (1u << inode->i_blkbits) - 1) >> inode->i_blkbits;
	unsigned int nr = 0;

	for (unsigned int i = 0; i < blocks_per_folio(inode, folio); i++) {
		if (first + i >= end) {
			clear_buffer_dirty(&bh[i]);
			set_buffer_uptodate(&bh[i]);
		} else if (buffer_dirty(&bh[i]) && !buffer_mapped(&bh[i])) {
			clear_buffer_dirty(&bh[i]); /* a hole */
		} else if ((buffer_dirty(&bh[i]) || buffer_jbddirty(&bh[i])) &&
			   must_wait(inode, &bh[i])) {
			*left = true;
		} else if (buffer_dirty(&bh[i])) {
			clear_buffer_new(&bh[i]);
			clear_buffer_dirty(&bh[i]);
			set_buffer_async_write(&bh[i]);
			nr++;
		}
	}
	return nr;
}

/* Pass 2. What no bio can be had for counts as done. */
static int add_blocks(struct ext4_io_submit *io, struct folio *folio, unsigned int nr)
{
	struct inode *inode = folio->mapping->host;
	struct buffer_head *bh = folio_buffers(folio);
	unsigned int shift = inode->i_blkbits - SECTOR_SHIFT;
	size_t size = (size_t)1 << inode->i_blkbits;
	int ret = 0;

	for (unsigned int i = 0; nr; i++) {
		u64 made = io->run.made;

		if (!buffer_async_write(&bh[i]))
			continue;
		nr--;
		if (bio_run_add(&io->run, folio, i * size, size, folio_address(folio),
				bh[i].b_blocknr << shift)) {
			finish_blocks(folio, i * size, size);
			ret = -ENOMEM;
		}
		io->io_end->count += io->run.made - made;
	}
	return ret;
}

int ext4_bio_write_folio(struct ext4_io_submit *io, struct folio *folio)
{
	struct inode *inode = folio->mapping->host;
	struct machine *m = folio_machine(folio);
	bool left = false;
	unsigned int nr;

	charge2(m, COST_WRITE_FOLIO, 1, COST_BUFFER_VISIT, 2 * blocks_per_folio(inode, folio));
	folio_zero_behind_eof(folio);
	nr = mark_blocks(inode, folio, &left);
	folio_trace(folio, EV_fl_bio_write_folio, nr, 0);
	if (left)
		filemap_dirty_folio(folio->mapping, folio);
	if (left)
		folio_start_writeback_keepwrite(folio);
	else
		folio_start_writeback(folio);
	if (!nr)
		folio_end_writeback(folio);
	return add_blocks(io, folio, nr);
}
