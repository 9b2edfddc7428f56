/*
 * Mirrors fs/ext4/readpage.c: the longest mapped run is looked up once and used for all folios it
 * covers; a bio grows as long as the blocks go on.
 */
#include <errno.h>
#include <string.h>

#include "block/blkdev.h"
#include "fs/ext4/ext4.h"
#include "fs/super.h"

/* What is carried from folio to folio. */
struct ext4_readpage {
	struct inode *inode;
	struct bio *bio;
	sector_t last_block_in_bio;	/* disk block behind the bio's end */
	u64 map_lblk, map_len, map_pblk; /* run in hand; map_len 0: none */
	bool mapped;
	unsigned int nr_vecs, opf;
};

static void mpage_end_io(struct bio *bio)
{
	for (unsigned int i = 0; i < bio->bi_vcnt; i++)
		folio_end_read(bio->bi_io_vec[i].bv_folio, !bio->bi_status);
}

static void submit_readpage_bio(struct ext4_readpage *rp)
{
	if (rp->bio)
		submit_bio(rp->bio);
	rp->bio = NULL;
}

static void map_block(struct ext4_readpage *rp, u64 lblk)
{
	const struct fs_extent *e;

	if (rp->map_len && lblk >= rp->map_lblk && lblk - rp->map_lblk < rp->map_len)
		return;
	e = inode_map_block(rp->inode, lblk, &rp->map_len);
	rp->map_lblk = lblk;
	rp->mapped = e;
	rp->map_pblk = e ? e->pblk + (lblk - e->lblk) : 0;
}

/* Blocks of the folio before its first hole, and the disk block of the first one. */
static u64 mapped_head(struct ext4_readpage *rp, const struct folio *folio, u64 *pblk)
{
	u64 first = folio_pos(folio) >> rp->inode->i_blkbits;
	u64 blocks = folio_size(folio) >> rp->inode->i_blkbits;

	map_block(rp, first);
	if (!rp->mapped)
		return 0;
	*pblk = rp->map_pblk + (first - rp->map_lblk);
	return min(blocks, rp->map_lblk + rp->map_len - first);
}

static void zero_tail(struct folio *folio, size_t from)
{
	char *p = folio_address(folio);

	charge(folio_machine(folio), COST_ZERO_BYTE, folio_size(folio) - from);
	if (p)
		memset(p + from, 0, folio_size(folio) - from);
}

static int add_to_bio(struct ext4_readpage *rp, struct folio *folio, size_t len, u64 pblk)
{
	unsigned int bits = rp->inode->i_blkbits;

	if (rp->bio && rp->last_block_in_bio != pblk)
		submit_readpage_bio(rp);
	if (!rp->bio || !bio_add_folio(rp->bio, folio, len, 0, folio_address(folio))) {
		submit_readpage_bio(rp);
		rp->bio = bio_alloc(rp->inode->i_sb->s_bdev, rp->nr_vecs, rp->opf);
		if (!rp->bio)
			return -ENOMEM;
		rp->bio->bi_iter.bi_sector = pblk << (bits - SECTOR_SHIFT);
		rp->bio->bi_end_io = mpage_end_io;
		bio_add_folio(rp->bio, folio, len, 0, folio_address(folio));
	}
	rp->last_block_in_bio = pblk + (len >> bits);
	return 0;
}

static int read_one_folio(struct ext4_readpage *rp, struct folio *folio)
{
	u64 pblk = 0, blocks = mapped_head(rp, folio, &pblk);
	size_t len = blocks << rp->inode->i_blkbits;
	int ret;

	if (len < folio_size(folio))
		zero_tail(folio, len);
	if (!len) {
		folio_end_read(folio, true);
		return 0;
	}
	ret = add_to_bio(rp, folio, len, pblk);
	if (ret)
		folio_end_read(folio, false);
	else if (len < folio_size(folio))
		submit_readpage_bio(rp);
	return ret;
}

int ext4_mpage_readpages(struct inode *inode, struct readahead_control *rac, struct folio *folio)
{
	struct ext4_readpage rp = {
		.inode = inode, .opf = REQ_OP_READ | (rac ? REQ_RAHEAD : 0),
		.nr_vecs = rac ? min_t(u32, readahead_count(rac), BIO_MAX_VECS) : 1,
	};
	int ret = 0;

	if (!rac)
		ret = read_one_folio(&rp, folio);
	else
		while ((folio = readahead_folio(rac)))
			read_one_folio(&rp, folio);
	submit_readpage_bio(&rp);
	return ret;
}
