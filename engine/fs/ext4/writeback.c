/*
 * Mirrors fs/ext4/inode.c: ext4_writepages() with what it calls. First everything that has its
 * place on disk goes out; then, round by round, an extent is collected, mapped under a handle and
 * sent.
 */
#include <errno.h>
#include <inttypes.h>

#include "block/blkdev.h"
#include "fs/ext4/ext4_io.h"
#include "fs/ext4/ondisk.h"
#include "fs/extents.h"
#include "mm/internal.h"

/* What tells the blocks of one extent from those of the next. */
#define BH_FLAGS (1u << BH_Unwritten | 1u << BH_Delay)

struct mpage_da_data {
	struct inode *inode;
	struct writeback_control *wbc;
	bool can_map; /* may blocks be mapped at all? */
	bool do_map;  /* is there a handle for it now? */
	bool scanned_until_end;
	/* Folios of [start_pos, next_pos) are locked by us; bytes. */
	loff_t start_pos, next_pos, end_pos;
	xa_mark_t tag;
	struct {
		u64 lblk, len;
		u32 state; /* BH_FLAGS of its buffers */
		u64 pblk;
	} map; /* the extent that is collected */
	struct ext4_io_submit io;
};

static struct machine *mpd_machine(const struct mpage_da_data *mpd)
{
	return mpd->inode->i_sb->s_machine;
}

/* ---- collecting ---- */

/* What is the matter with a block that no buffer was kept for? */
static void look_up_block(struct inode *inode, u64 lblk, struct buffer_head *bh)
{
	const struct fs_extent *e = extents_lookup(inode, lblk);

	if (!e)
		return;
	set_buffer_mapped(bh);
	if (e->state == EXTENT_DELAYED)
		set_buffer_delay(bh);
	else
		bh->b_blocknr = e->pblk + (lblk - e->lblk);
	if (e->state == EXTENT_UNWRITTEN)
		set_buffer_unwritten(bh);
}

/* The folio's buffers; one that became dirty without any gets them now. NULL: no memory. */
static struct buffer_head *wanted_buffers(struct inode *inode, struct folio *folio)
{
	struct buffer_head *bh = folio_buffers(folio);
	u64 first = folio_pos(folio) >> inode->i_blkbits;

	if (bh)
		return bh;
	bh = create_empty_buffers(folio);
	for (unsigned int i = 0; bh && i < blocks_per_folio(inode, folio); i++)
		look_up_block(inode, first + i, &bh[i]);
	return bh;
}

/* Add a block to the extent; false: the extent ends before it, or cannot begin here. */
static bool mpage_add_bh_to_extent(struct mpage_da_data *mpd, u64 lblk,
				   const struct buffer_head *bh)
{
	u32 state = bh->b_state & BH_FLAGS;

	if (!buffer_dirty(bh) || !buffer_mapped(bh) || !state)
		return !mpd->map.len; /* needs no mapping: fine as long as nothing is collected */
	if (!mpd->map.len) {
		if (!mpd->do_map)
			return false;
		mpd->map.lblk = lblk;
		mpd->map.len = 1;
		mpd->map.state = state;
		return true;
	}
	if (mpd->map.len >= MAX_WRITEPAGES_EXTENT_LEN || lblk != mpd->map.lblk + mpd->map.len ||
	    state != mpd->map.state)
		return false;
	mpd->map.len++;
	return true;
}

static int mpage_submit_folio(struct mpage_da_data *mpd, struct folio *folio)
{
	int ret;

	folio_clear_dirty_for_io(folio);
	ret = ext4_bio_write_folio(&mpd->io, folio);
	if (!knob(mpd_machine(mpd), EXT4_JDATA_WRITEPAGES) && ext4_should_journal_data(mpd->inode))
		bio_run_submit(&mpd->io.run);
	return ret;
}

/* The folio is finished with. */
static void mpage_folio_done(struct mpage_da_data *mpd, struct folio *folio)
{
	mpd->start_pos = folio_pos(folio) + folio_size(folio);
	mpd->wbc->nr_to_write -=
		knob(mpd_machine(mpd), EXT4_FOLIO_BUDGET) ? folio_nr_pages(folio) : 1;
	folio_unlock(folio);
}

/*
 * Walk a folio's blocks from number @i on: into the extent, or, where none of them needs mapping,
 * the folio goes out. 1: go on with the next folio; 0: there is an extent to map, or the end.
 */
static int mpage_process_page_bufs(struct mpage_da_data *mpd, struct folio *folio,
				   struct buffer_head *bh, unsigned int i)
{
	struct inode *inode = mpd->inode;
	u64 first = folio_pos(folio) >> inode->i_blkbits;
	u64 blocks = ((u64)inode->i_size + (1u << inode->i_blkbits) - 1) >> inode->i_blkbits;
	unsigned int nr = blocks_per_folio(inode, folio);
	bool at_end = false;
	int ret;

	for (; i < nr && !at_end; i++) {
		at_end = first + i >= blocks;
		if (!at_end && mpage_add_bh_to_extent(mpd, first + i, &bh[i]))
			continue;
		/* Even the end of the file is pass B's to find, where the folio straddles it. */
		if (mpd->map.len || !mpd->do_map)
			return 0;
	}
	if (!mpd->map.len) {
		ret = mpage_submit_folio(mpd, folio);
		mpage_folio_done(mpd, folio);
		if (ret)
			return ret;
	}
	if (first + nr >= blocks)
		mpd->scanned_until_end = true;
	return !mpd->scanned_until_end;
}

/* Lock a folio for writing; false: there is nothing to write in it. */
static bool lock_for_write(struct mpage_da_data *mpd, struct folio *folio)
{
	folio_lock(folio);
	if (folio->mapping == mpd->inode->i_mapping && folio_test_dirty(folio) &&
	    (!folio_test_writeback(folio) || mpd->wbc->sync_mode == WB_SYNC_ALL)) {
		folio_wait_writeback(folio);
		return true;
	}
	folio_unlock(folio);
	return false;
}

static int process_folio(struct mpage_da_data *mpd, struct folio *folio)
{
	struct buffer_head *bh;
	int ret;

	if (!mpd->map.len)
		mpd->start_pos = folio_pos(folio);
	mpd->next_pos = folio_pos(folio) + folio_size(folio);
	bh = wanted_buffers(mpd->inode, folio);
	if (!bh)
		return -ENOMEM;
	if (mpd->can_map)
		return mpage_process_page_bufs(mpd, folio, bh, 0);
	ret = mpage_submit_folio(mpd, folio);
	mpage_folio_done(mpd, folio);
	return ret ? ret : 1;
}

/* Has this round collected as much as it may, or something that @folio does not continue? */
static bool round_is_full(const struct mpage_da_data *mpd, const struct folio *folio)
{
	unsigned int shift = mpd_machine(mpd)->page_shift - mpd->inode->i_blkbits;
	long collected = mpd->inode->i_blkbits <= mpd_machine(mpd)->page_shift
				 ? mpd->map.len >> shift
				 : mpd->map.len << -shift;

	if (mpd->wbc->sync_mode == WB_SYNC_NONE && mpd->wbc->nr_to_write <= collected)
		return true;
	return mpd->map.len && mpd->next_pos != folio_pos(folio);
}

static int collect(struct mpage_da_data *mpd)
{
	struct address_space *mapping = mpd->inode->i_mapping;
	unsigned int shift = mpd_machine(mpd)->page_shift;
	pgoff_t index = mpd->start_pos >> shift, end = (u64)mpd->end_pos >> shift;
	struct folio *folio;

	while ((folio = filemap_next_tagged(mapping, &index, end, mpd->tag))) {
		int ret = 1;

		if (round_is_full(mpd, folio))
			ret = 0;
		else if (lock_for_write(mpd, folio))
			ret = process_folio(mpd, folio);
		folio_put(folio);
		if (ret <= 0)
			return ret;
		if (!index)
			break;
	}
	mpd->scanned_until_end = true;
	return 0;
}

static int mpage_prepare_extent_to_map(struct mpage_da_data *mpd)
{
	struct inode *inode = mpd->inode;
	handle_t *handle = NULL;
	int ret = 0;

	mpd->map.len = 0;
	mpd->next_pos = mpd->start_pos;
	if (ext4_should_journal_data(inode))
		ret = ext4_journal_start(inode, EXT4_HT_WRITE_PAGE,
					 ext4_journal_blocks_per_folio(inode), &handle);
	if (!ret)
		ret = collect(mpd);
	ext4_journal_stop(handle);
	return ret;
}

/* ---- mapping ---- */

/*
 * Hand the mapped blocks their place. The first block of a folio behind them begins a new extent
 * with the rest of that folio: then *begun.
 */
static int mpage_process_folio(struct mpage_da_data *mpd, struct folio *folio, u64 *pblk,
			       bool *begun)
{
	struct inode *inode = mpd->inode;
	struct buffer_head *bh = folio_buffers(folio);
	u64 first = folio_pos(folio) >> inode->i_blkbits, end = mpd->map.lblk + mpd->map.len;

	for (unsigned int i = 0; i < blocks_per_folio(inode, folio); i++) {
		if (first + i < mpd->map.lblk)
			continue;
		if (first + i >= end) {
			int ret;

			mpd->map.len = 0;
			*begun = true;
			ret = mpage_process_page_bufs(mpd, folio, bh, i);
			return min(ret, 0);
		}
		if (buffer_delay(&bh[i])) {
			clear_buffer_delay(&bh[i]);
			bh[i].b_blocknr = (*pblk)++;
		}
		clear_buffer_unwritten(&bh[i]);
	}
	return 0;
}

/* The folios of the mapped extent go out; one it does not fill to its end stays for the next. */
static int mpage_map_and_submit_buffers(struct mpage_da_data *mpd)
{
	struct address_space *mapping = mpd->inode->i_mapping;
	unsigned int bits = mpd->inode->i_blkbits, shift = mpd_machine(mpd)->page_shift;
	u64 end = (mpd->map.lblk + mpd->map.len) << bits, pblk = mpd->map.pblk;

	for (u64 pos = mpd->map.lblk << bits; pos < end;) {
		struct folio *folio = filemap_get_folio(mapping, pos >> shift);
		bool begun = false;
		int ret = mpage_process_folio(mpd, folio, &pblk, &begun);

		pos = folio_pos(folio) + folio_size(folio);
		if (!ret && !begun) {
			ret = mpage_submit_folio(mpd, folio);
			mpage_folio_done(mpd, folio);
		}
		folio_put(folio);
		if (ret || begun)
			return ret;
	}
	mpd->map.len = 0;
	return 0;
}

static int mpage_map_one_extent(handle_t *handle, struct mpage_da_data *mpd)
{
	struct inode *inode = mpd->inode;
	bool nolock = ext4_should_dioread_nolock(inode);
	int ret = ext4_journal_ensure_extent_credits(handle, inode);
	s64 got;

	trace_event(&mpd_machine(mpd)->trace, EV_ext4_da_write_pages_extent, 0, inode->i_ino,
		    mpd->map.lblk, mpd->map.len, mpd->map.state & 1u << BH_Delay ? 1 : 2);
	if (ret)
		return ret;
	got = ext4_map_create_blocks(handle, inode, mpd->map.lblk, mpd->map.len, nolock,
				     &mpd->map.pblk);
	if (got < 0)
		return got;
	/* Folios behind what there was room for are let go, and found again. */
	if ((u64)got < mpd->map.len)
		mpd->scanned_until_end = false;
	mpd->map.len = got;
	return nolock ? ext4_io_end_add_unwritten(mpd->io.io_end, handle, mpd->map.lblk, got) : 0;
}

/* What of the folio at hand is mapped goes out now, before the next round maps the rest. */
static int mpage_submit_partial_folio(struct mpage_da_data *mpd)
{
	loff_t pos = mpd->map.lblk << mpd->inode->i_blkbits;
	struct folio *folio;
	int ret;

	if (pos <= mpd->start_pos)
		return 0;
	folio = filemap_get_folio(mpd->inode->i_mapping,
				  mpd->start_pos >> mpd_machine(mpd)->page_shift);
	ret = mpage_submit_folio(mpd, folio);
	mpd->start_pos = pos;
	folio_unlock(folio);
	folio_put(folio);
	return ret;
}

static void update_disksize(handle_t *handle, struct mpage_da_data *mpd)
{
	struct inode *inode = mpd->inode;
	loff_t disksize = min(mpd->start_pos, inode->i_size);

	if (disksize <= inode->i_disksize)
		return;
	inode->i_disksize = disksize;
	ext4_mark_inode_dirty(handle, inode);
}

/* The kernel's words when delayed data has no place to go. */
static void warn_lost(const struct mpage_da_data *mpd, int err)
{
	machine_warn(
		mpd_machine(mpd),
		"EXT4-fs: Delayed block allocation failed for inode %u at logical offset %" PRIu64
		" with max blocks %" PRIu64 " with error %d\n"
		"EXT4-fs: This should not happen!! Data will be lost\n",
		mpd->inode->i_ino, mpd->map.lblk, mpd->map.len, -err);
}

/* Would another try, in another transaction, get further? */
static bool worth_another_round(const struct mpage_da_data *mpd, int err)
{
	return err == -EAGAIN || err == -ENOMEM ||
	       (err == -ENOSPC && ext4_count_free_blocks(mpd->inode->i_sb) &&
		!(ext4_journal(mpd->inode) && ext4_journal(mpd->inode)->j_errno));
}

static int mpage_map_and_submit_extent(handle_t *handle, struct mpage_da_data *mpd, bool *give_up)
{
	bool progress = false;
	int ret;

	do {
		ret = mpage_map_one_extent(handle, mpd);
		if (ret && worth_another_round(mpd, ret)) {
			if (progress && knob(mpd_machine(mpd), EXT4_PARTIAL_SUBMIT))
				mpage_submit_partial_folio(mpd);
			break;
		}
		if (ret) {
			warn_lost(mpd, ret);
			*give_up = true;
			break;
		}
		progress = true;
		ret = mpage_map_and_submit_buffers(mpd);
	} while (!ret && mpd->map.len);
	if (progress)
		update_disksize(handle, mpd);
	return ret;
}

/* ---- rounds ---- */

/* Folios that are still locked; with @invalidate what they hold is lost. */
static void mpage_release_unused_pages(struct mpage_da_data *mpd, bool invalidate)
{
	struct address_space *mapping = mpd->inode->i_mapping;
	unsigned int shift = mpd_machine(mpd)->page_shift;
	loff_t pos = mpd->start_pos;

	while (pos < mpd->next_pos) {
		struct folio *folio = filemap_get_folio(mapping, pos >> shift);

		/* In the middle of a folio: that one went out in part. */
		if (folio_pos(folio) == pos) {
			if (invalidate) {
				block_invalidate_folio(folio, 0, folio_size(folio));
				folio_cancel_dirty(folio);
				folio_clear_uptodate(folio);
			}
			folio_unlock(folio);
		}
		pos = folio_pos(folio) + folio_size(folio);
		folio_put(folio);
	}
}

static int start_round(struct mpage_da_data *mpd, handle_t **handle)
{
	struct inode *inode = mpd->inode;
	int ret = ext4_journal_start_with_reserve(inode, EXT4_HT_WRITE_PAGE,
						  ext4_da_writepages_trans_blocks(inode),
						  ext4_writepages_rsv_blocks(inode), handle);

	if (ret)
		machine_warn(mpd_machine(mpd),
			     "EXT4-fs: ext4_do_writepages: jbd2_start: %ld pages, ino %u; err %d\n",
			     mpd->wbc->nr_to_write, inode->i_ino, ret);
	return ret;
}

/* One round of pass B; stops @handle. */
static int map_round(struct mpage_da_data *mpd, handle_t *handle)
{
	const struct trace_event ev = {
		.id = EV_ext4_da_write_pages,
		.ino = mpd->inode->i_ino,
		.index = mpd->start_pos >> mpd_machine(mpd)->page_shift,
		.a = mpd->wbc->sync_mode,
		.c = mpd->wbc->nr_to_write,
	};
	bool give_up = false;
	int ret = ext4_io_submit_init(&mpd->io, mpd->inode);

	if (ret) {
		ext4_journal_stop(handle);
		return ret;
	}
	mpd->do_map = true;
	trace_event2(&mpd_machine(mpd)->trace, &ev);
	ret = mpage_prepare_extent_to_map(mpd);
	if (!ret && mpd->map.len)
		ret = mpage_map_and_submit_extent(handle, mpd, &give_up);
	ext4_journal_stop(handle);
	mpage_release_unused_pages(mpd, give_up);
	ext4_io_submit(&mpd->io);
	return ret;
}

/* Pass A: what has its place on disk already. */
static int write_mapped(struct mpage_da_data *mpd)
{
	int ret = ext4_io_submit_init(&mpd->io, mpd->inode);

	if (ret)
		return ret;
	mpd->do_map = false;
	ret = mpage_prepare_extent_to_map(mpd);
	mpage_release_unused_pages(mpd, false);
	ext4_io_submit(&mpd->io);
	return ret;
}

static int write_range(struct mpage_da_data *mpd)
{
	int ret = write_mapped(mpd);

	while (!ret && !mpd->scanned_until_end && mpd->wbc->nr_to_write > 0) {
		handle_t *handle;

		ret = start_round(mpd, &handle);
		if (ret)
			break;
		ret = map_round(mpd, handle);
		/* What this round could not map is the next one's, even if the scan had ended. */
		if (ret == -EAGAIN || ret == -ENOSPC)
			mpd->scanned_until_end = false;
		if (ret == -ENOSPC && ext4_journal(mpd->inode) &&
		    !ext4_journal(mpd->inode)->j_errno)
			ret = jbd2_journal_force_commit(ext4_journal(mpd->inode));
		if (ret == -EAGAIN)
			ret = 0;
	}
	return ret;
}

/* The range of pages a pass walks; a cyclic one begins where the last one ended. */
static void set_range(struct mpage_da_data *mpd, loff_t from, loff_t to)
{
	unsigned int shift = mpd_machine(mpd)->page_shift;

	mpd->scanned_until_end = false;
	mpd->start_pos = from;
	mpd->end_pos = to;
	mpd->tag = PAGECACHE_TAG_DIRTY;
	if (mpd->wbc->sync_mode != WB_SYNC_ALL)
		return;
	tag_pages_for_writeback(mpd->inode->i_mapping, from >> shift, (u64)to >> shift);
	mpd->tag = PAGECACHE_TAG_TOWRITE;
}

static int write_cyclic(struct mpage_da_data *mpd)
{
	struct address_space *mapping = mpd->inode->i_mapping;
	unsigned int shift = mpd_machine(mpd)->page_shift;
	loff_t from = (loff_t)mapping->writeback_index << shift;
	int ret;

	set_range(mpd, from, INT64_MAX);
	ret = write_range(mpd);
	if (!ret && from && mpd->wbc->nr_to_write > 0) {
		set_range(mpd, 0, from - 1);
		ret = write_range(mpd);
	}
	mapping->writeback_index = mpd->start_pos >> shift;
	return ret;
}

static int ext4_do_writepages(struct mpage_da_data *mpd)
{
	struct writeback_control *wbc = mpd->wbc;
	struct machine *m = mpd_machine(mpd);
	struct trace_event ev = {.id = EV_ext4_writepages,
				 .ino = mpd->inode->i_ino,
				 .index = wbc->range_start >> m->page_shift,
				 .a = wbc->sync_mode,
				 .c = wbc->nr_to_write};
	int ret = 0;

	trace_event2(&m->trace, &ev);
	/* With data=journal everything is in the log first; this brings it home. */
	if (ext4_should_journal_data(mpd->inode)) {
		mpd->can_map = false;
		if (wbc->sync_mode == WB_SYNC_ALL)
			ret = jbd2_complete_transaction(ext4_journal(mpd->inode),
							EXT4_I(mpd->inode)->i_datasync_tid);
	}
	blk_start_plug(m);
	if (!ret && wbc->range_cyclic) {
		ret = write_cyclic(mpd);
	} else if (!ret) {
		set_range(mpd, wbc->range_start, wbc->range_end);
		ret = write_range(mpd);
	}
	blk_finish_plug(m);
	ev.id = EV_ext4_writepages_result;
	ev.index = mpd->start_pos >> m->page_shift;
	ev.a = -ret;
	trace_event2(&m->trace, &ev);
	return ret;
}

int ext4_writepages(struct address_space *mapping, struct writeback_control *wbc)
{
	struct mpage_da_data mpd = {.inode = mapping->host, .wbc = wbc, .can_map = true};

	return ext4_do_writepages(&mpd);
}

/* ---- ordered data ---- */

int ext4_submit_inode_data(struct jbd2_inode *jinode)
{
	struct writeback_control wbc = {
		.nr_to_write = INT64_MAX,
		.sync_mode = WB_SYNC_ALL,
		.range_start = jinode->i_dirty_start,
		.range_end = jinode->i_dirty_end,
	};
	struct mpage_da_data mpd = {.inode = jinode->i_vfs_inode, .wbc = &wbc};

	return ext4_do_writepages(&mpd);
}

int ext4_finish_inode_data(struct jbd2_inode *jinode)
{
	unsigned int shift = jinode->i_vfs_inode->i_sb->s_machine->page_shift;

	filemap_fdatawait_pages(jinode->i_vfs_inode->i_mapping, jinode->i_dirty_start >> shift,
				(u64)jinode->i_dirty_end >> shift);
	return 0;
}
