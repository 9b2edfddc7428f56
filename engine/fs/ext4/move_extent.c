/*
 * Mirrors fs/ext4/move_extent.c: EXT4_IOC_MOVE_EXT. Two files exchange the blocks of a range while
 * the data of the first stays what it is: read, its place exchanged, made dirty again. Until
 * EXT4_MOVE_FOLIO a page at a time, from then on a folio.
 */
#include <errno.h>

#include "fs/ext4/ext4_jbd2.h"
#include "fs/ext4/ondisk.h"
#include "fs/extents.h"
#include "fs/super.h"
#include "mm/internal.h"

/* A step is tried so often, a commit between two tries. */
#define MOVE_RETRIES 4

/* One step: blocks of the original and of the donor, and the folios that hold them, locked. */
struct mext_data {
	struct inode *orig, *donor;
	u64 orig_lblk, donor_lblk, len;
	struct folio *folio[2];
};

/* ---- exchanging ---- */

/* The blocks of @e from file block @lblk on, for another file's block @at. */
static struct fs_extent piece_of(const struct fs_extent *e, u64 lblk, u64 len, u64 at)
{
	return (struct fs_extent){.lblk = at, .len = len, .pblk = e->pblk + (lblk - e->lblk)};
}

/*
 * fs/ext4/extents.c ext4_swap_extents(), where both have blocks all over. The original's blocks
 * stay written or unwritten, as its data is; so the donor's become what theirs were.
 */
static int ext4_swap_extents(handle_t *handle, const struct mext_data *mext)
{
	u64 done = 0;
	int ret = 0;

	while (done < mext->len && !ret) {
		u64 o = mext->orig_lblk + done, d = mext->donor_lblk + done, o_len, d_len;
		const struct fs_extent *eo = inode_map_block(mext->orig, o, &o_len);
		const struct fs_extent *ed = inode_map_block(mext->donor, d, &d_len);
		u64 len = min(mext->len - done, min(o_len, d_len));
		struct fs_extent for_donor = piece_of(eo, o, len, d);
		struct fs_extent for_orig = piece_of(ed, d, len, o);

		for_orig.state = eo->state;
		for_donor.state = eo->state;
		ret = extents_set(mext->orig, &for_orig);
		if (!ret)
			ret = extents_set(mext->donor, &for_donor);
		done += len;
	}
	if (!ret)
		ret = ext4_ext_dirty(handle, mext->orig, mext->orig_lblk, mext->len);
	if (!ret)
		ret = ext4_ext_dirty(handle, mext->donor, mext->donor_lblk, mext->len);
	return ret;
}

/* ---- folios ---- */

static void mext_unlock(struct mext_data *mext)
{
	for (unsigned int i = 0; i < 2; i++) {
		folio_unlock(mext->folio[i]);
		folio_put(mext->folio[i]);
	}
}

/* Both folios; from EXT4_MOVE_FOLIO on as large as the extent, before that pages. */
static int mext_folio_double_lock(struct mext_data *mext)
{
	struct machine *m = mext->orig->i_sb->s_machine;
	unsigned int bits = mext->orig->i_blkbits, shift = m->page_shift;
	size_t hint = knob(m, EXT4_MOVE_FOLIO) ? mext->len << bits : 0;
	int ret = __filemap_get_folio(mext->orig->i_mapping, mext->orig_lblk << bits >> shift,
				      FGP_LOCK | FGP_CREAT, hint, &mext->folio[0]);

	if (ret)
		return ret;
	ret = __filemap_get_folio(mext->donor->i_mapping, mext->donor_lblk << bits >> shift,
				  FGP_LOCK | FGP_CREAT, hint, &mext->folio[1]);
	if (ret) {
		folio_unlock(mext->folio[0]);
		folio_put(mext->folio[0]);
		return ret;
	}
	folio_wait_writeback(mext->folio[0]);
	folio_wait_writeback(mext->folio[1]);
	return 0;
}

/* Blocks of @folio from file block @lblk on. */
static u64 blocks_left(const struct inode *inode, const struct folio *folio, u64 lblk)
{
	return ((folio_pos(folio) + folio_size(folio)) >> inode->i_blkbits) - lblk;
}

/* The bytes of the range are all there, each missing block read for itself. */
static int mext_folio_mkuptodate(struct folio *folio, u64 lblk, u64 len)
{
	struct inode *inode = folio->mapping->host;
	u64 first = folio_pos(folio) >> inode->i_blkbits;
	struct buffer_head *bh = create_empty_buffers(folio);
	bool all = true;
	int ret = 0;

	if (!bh)
		return -ENOMEM;
	if (folio_test_uptodate(folio))
		return 0;
	for (u64 i = lblk - first; i < lblk - first + len && !ret; i++) {
		if (buffer_uptodate(&bh[i]))
			continue;
		if (!buffer_mapped(&bh[i]))
			ret = ext4_get_block(inode, first + i, &bh[i], false);
		if (!ret && buffer_mapped(&bh[i]))
			ret = bh_read(folio, &bh[i], i << inode->i_blkbits);
		else if (!ret)
			folio_zero_block(folio, &bh[i], i << inode->i_blkbits);
	}
	for (unsigned int i = 0; i < blocks_per_folio(inode, folio); i++)
		all &= buffer_uptodate(&bh[i]);
	if (!ret && all)
		folio_mark_uptodate(folio);
	return ret;
}

/* The blocks have another place now; what is cached of them has to go there. */
static int mext_remap_and_dirty(handle_t *handle, struct mext_data *mext)
{
	struct folio *folio = mext->folio[0];
	struct inode *inode = mext->orig;
	unsigned int bits = inode->i_blkbits;
	size_t from = (mext->orig_lblk << bits) - folio_pos(folio);
	struct buffer_head *bh = create_empty_buffers(folio);
	int ret = 0;

	if (!bh)
		return -ENOMEM;
	for (u64 i = 0; i < mext->len && !ret; i++)
		ret = ext4_get_block(inode, mext->orig_lblk + i, &bh[(from >> bits) + i], false);
	if (!ret)
		ret = block_commit_write(folio, from, from + (mext->len << bits));
	if (!ret)
		ext4_jbd2_inode_add_write(handle, inode, mext->orig_lblk << bits,
					  mext->len << bits);
	return ret;
}

/* Whole folios let go of their buffers: a dirty one anywhere in them is in the way. */
static int mext_release(struct mext_data *mext)
{
	for (unsigned int i = 0; i < 2; i++)
		if (folio_buffers(mext->folio[i]) && !try_to_free_buffers(mext->folio[i]))
			return -EBUSY;
	return 0;
}

/* ---- steps ---- */

/* Exchange what both folios hold of the step; its length is cut to that. */
static int move_locked(handle_t *handle, struct mext_data *mext)
{
	u64 o_len, d_len;
	const struct fs_extent *eo = inode_map_block(mext->orig, mext->orig_lblk, &o_len);
	const struct fs_extent *ed = inode_map_block(mext->donor, mext->donor_lblk, &d_len);
	int ret;

	mext->len = min(mext->len, min(o_len, d_len));
	mext->len = min(mext->len, blocks_left(mext->orig, mext->folio[0], mext->orig_lblk));
	mext->len = min(mext->len, blocks_left(mext->donor, mext->folio[1], mext->donor_lblk));
	if (!eo || !ed || ed->state == EXTENT_DELAYED)
		return 0; /* a hole: nothing to exchange */
	if (eo->state == EXTENT_UNWRITTEN && ed->state == EXTENT_UNWRITTEN) {
		ret = mext_release(mext);
		return ret ? ret : ext4_swap_extents(handle, mext);
	}
	ret = mext_folio_mkuptodate(mext->folio[0], mext->orig_lblk, mext->len);
	if (!ret)
		ret = mext_release(mext);
	if (!ret)
		ret = ext4_swap_extents(handle, mext);
	return ret ? ret : mext_remap_and_dirty(handle, mext);
}

static int mext_move_once(struct mext_data *mext)
{
	handle_t *handle;
	int ret = ext4_journal_start(mext->orig, EXT4_HT_MOVE_EXTENTS,
				     ext4_move_extent_credits(mext->orig, mext->len), &handle);

	if (ret)
		return ret;
	ret = mext_folio_double_lock(mext);
	if (!ret) {
		ret = move_locked(handle, mext);
		mext_unlock(mext);
	}
	ext4_journal_stop(handle);
	return ret;
}

/* One step, as often as a commit helps. */
static int mext_move_extent(struct mext_data *mext)
{
	int ret = mext_move_once(mext);

	for (int i = 0; i < MOVE_RETRIES && (ret == -EBUSY || ret == -ENOSPC); i++) {
		if (!ext4_journal(mext->orig))
			break;
		ret = jbd2_journal_force_commit(ext4_journal(mext->orig));
		if (!ret)
			ret = mext_move_once(mext);
	}
	return ret;
}

/* fs/ext4/move_extent.c mext_check_arguments() */
static int check_arguments(const struct inode *orig, const struct inode *donor, u64 orig_lblk,
			   u64 donor_lblk)
{
	u64 per_page = max(1UL, orig->i_sb->s_machine->page_size >> orig->i_blkbits);

	if (orig == donor || orig->i_sb != donor->i_sb)
		return -EINVAL;
	if (!(orig->i_flags & donor->i_flags & EXT4_EXTENTS_FL) || ext4_should_journal_data(orig) ||
	    ext4_has_feature(orig->i_sb, EXT4_FEATURE_BIGALLOC))
		return -EOPNOTSUPP;
	if (!orig->i_size || !donor->i_size || orig_lblk % per_page != donor_lblk % per_page)
		return -EINVAL;
	return 0;
}

/* Blocks up to the end of the shorter file. */
static u64 clip_len(const struct inode *inode, u64 lblk, u64 len)
{
	u64 end = ((u64)inode->i_size + (1u << inode->i_blkbits) - 1) >> inode->i_blkbits;

	return lblk < end ? min(len, end - lblk) : 0;
}

int ext4_move_extents(struct inode *orig, struct inode *donor, u64 orig_lblk, u64 donor_lblk,
		      u64 len)
{
	struct machine *m = orig->i_sb->s_machine;
	u64 per_page = max(1UL, m->page_size >> orig->i_blkbits), done = 0;
	int ret = check_arguments(orig, donor, orig_lblk, donor_lblk);

	len = clip_len(orig, orig_lblk, clip_len(donor, donor_lblk, len));
	if (ret || !len)
		return ret ? ret : -EINVAL;
	while (done < len && !ret) {
		struct mext_data mext = {.orig = orig,
					 .donor = donor,
					 .orig_lblk = orig_lblk + done,
					 .donor_lblk = donor_lblk + done,
					 .len = len - done};
		u64 run;
		const struct fs_extent *e = inode_map_block(orig, mext.orig_lblk, &run);

		mext.len = min(mext.len, run);
		if (e && !knob(m, EXT4_MOVE_FOLIO))
			mext.len = min(mext.len, per_page - mext.orig_lblk % per_page);
		if (e && e->state != EXTENT_DELAYED)
			ret = mext_move_extent(&mext);
		done += mext.len;
	}
	return ret;
}
