/*
 * Mirrors fs/ext4/readpage.c: a mapped run is looked up once and used for all folios it covers; a
 * bio grows as long as the blocks go on. A folio whose blocks do not all follow each other is left
 * to block_read_full_folio(), one bio a block.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "block/blkdev.h"
#include "fs/ext4/ext4.h"
#include "fs/super.h"

/* What is carried from folio to folio of a window. */
struct ext4_readpage {
	struct inode *inode;
	struct bio *bio;
	sector_t last_block_in_bio; /* disk block behind the bio's end */
	struct ext4_map_blocks map; /* run in hand, if mapped */
	unsigned long left;	    /* pages of the window from this folio on */
	u64 last_block_in_file;	    /* first block behind the end of the file */
	unsigned int opf;
	const struct readahead_control *rac; /* NULL for a single folio */
};

/* Runs of blocks an oops lists. */
#define BUG_RUNS_SHOWN 8

/* One folio on its way: its blocks from @first_block on the disk up to its first hole. */
struct folio_blocks {
	u64 nr;		 /* blocks of the folio */
	u64 page_block;	 /* blocks looked at so far */
	u64 first_hole;	 /* nr while there is none */
	u64 first_block; /* on the disk, where first_hole > 0 */
	bool boundary;	 /* the last look-up ended the folio at an indirect block's end */
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

/* Go on over what is left of the run from block @skip of it; a run used up is forgotten. */
static void use_map(struct ext4_readpage *rp, struct folio_blocks *b, u64 skip)
{
	u64 rest = rp->map.m_len - skip, room = b->nr - b->page_block;

	b->page_block += min(rest, room);
	b->boundary = !skip && rp->map.boundary && rest <= room;
	if (rest <= room)
		rp->map.mapped = false;
}

/* The run of the folio before may go on into this one. */
static void reuse_map(struct ext4_readpage *rp, struct folio_blocks *b, u64 lblk)
{
	const struct ext4_map_blocks *map = &rp->map;

	if (!map->mapped || lblk <= map->m_lblk || lblk >= map->m_lblk + map->m_len)
		return;
	b->first_block = map->m_pblk + (lblk - map->m_lblk);
	use_map(rp, b, lblk - map->m_lblk);
}

/* Blocks that are not written; every one below the end of the file costs a look-up of its own. */
static void pass_hole(struct ext4_readpage *rp, struct folio_blocks *b, u64 run, u64 looked_up)
{
	if (b->first_hole == b->nr)
		b->first_hole = b->page_block;
	b->page_block += run;
	if (looked_up > 1)
		charge(rp->inode->i_sb->s_machine, COST_ES_LOOKUP, looked_up - 1);
}

/* Look at all blocks of the folio. False: confused, its blocks are not one run and then holes. */
static bool map_folio(struct ext4_readpage *rp, struct folio *folio, struct folio_blocks *b)
{
	unsigned int bits = rp->inode->i_blkbits;
	u64 first = folio_pos(folio) >> bits, limit;

	limit = first + ((u64)rp->left << folio_machine(folio)->page_shift >> bits);
	limit = min(limit, rp->last_block_in_file);
	reuse_map(rp, b, first);
	while (b->page_block < b->nr) {
		u64 lblk = first + b->page_block;

		if (lblk >= limit) {
			rp->map.mapped = false;
			pass_hole(rp, b, b->nr - b->page_block, 0);
			break;
		}
		rp->map.m_lblk = lblk;
		rp->map.m_len = limit - lblk;
		ext4_map_blocks(rp->inode, &rp->map);
		if (!rp->map.mapped) {
			u64 run = min(rp->map.m_len, b->nr - b->page_block);

			pass_hole(rp, b, run, run);
			continue;
		}
		if (b->first_hole != b->nr)
			return false;
		if (!b->page_block)
			b->first_block = rp->map.m_pblk;
		else if (b->first_block + b->page_block != rp->map.m_pblk)
			return false;
		use_map(rp, b, 0);
	}
	return true;
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
		rp->bio = bio_alloc(rp->inode->i_sb->s_bdev,
				    min_t(unsigned long, rp->left, BIO_MAX_VECS), rp->opf);
		if (!rp->bio)
			return -ENOMEM;
		rp->bio->bi_iter.bi_sector = pblk << (bits - SECTOR_SHIFT);
		rp->bio->bi_end_io = mpage_end_io;
		bio_add_folio(rp->bio, folio, len, 0, folio_address(folio));
	}
	rp->last_block_in_bio = pblk + (len >> bits);
	return 0;
}

/* Who called, as far as the page cache knows. */
static void bug_callers(struct machine *m, const struct readahead_control *rac)
{
	static const char *const callers[PROVENANCE_NR] = {
		[PROVENANCE_SYNC] = " page_cache_sync_ra\n filemap_get_pages\n filemap_read\n",
		[PROVENANCE_ASYNC] = " page_cache_async_ra\n filemap_get_pages\n filemap_read\n",
		[PROVENANCE_FAULT] = " do_sync_mmap_readahead\n filemap_fault\n __do_fault\n",
	};

	machine_bug(m, " ext4_mpage_readpages\n");
	if (!rac) {
		machine_bug(m, " ext4_read_folio\n filemap_read_folio\n");
		return;
	}
	machine_bug(m, " ext4_readahead\n read_pages\n page_cache_ra_order\n%s",
		    callers[rac->provenance] ? callers[rac->provenance] : "");
}

/* Where the folio's blocks are: the layout that brought the read here. */
static void bug_layout(struct machine *m, const struct inode *inode, pgoff_t index,
		       unsigned int order)
{
	u64 first = index << m->page_shift >> inode->i_blkbits;
	u64 nr = (m->page_size << order) >> inode->i_blkbits, len;
	unsigned int shown = 0;

	machine_bug(m, "Layout: %" PRIu64 " blocks of %u bytes in a folio of %lu pages\n", nr,
		    1u << inode->i_blkbits, 1UL << order);
	for (u64 lblk = first; lblk < first + nr; lblk += len) {
		const struct fs_extent *e = inode_map_block(inode, lblk, &len);

		len = min(len, first + nr - lblk);
		if (shown++ == BUG_RUNS_SHOWN) {
			machine_bug(m, " ...\n");
			break;
		}
		machine_bug(m, " file blocks %" PRIu64 "..%" PRIu64, lblk, lblk + len - 1);
		if (!e)
			machine_bug(m, " hole\n");
		else
			machine_bug(m, " %s disk block %" PRIu64 "\n",
				    e->state == EXTENT_UNWRITTEN ? "unwritten at" : "at",
				    e->pblk + (lblk - e->lblk));
	}
}

static int read_confused(struct ext4_readpage *rp, struct folio *folio)
{
	struct machine *m = folio_machine(folio);
	unsigned int order = folio_order(folio);
	pgoff_t index = folio->index;
	bool lives = !m->bug[0];
	int ret;

	submit_readpage_bio(rp);
	if (folio_test_uptodate(folio)) {
		folio_unlock(folio);
		return 0;
	}
	ret = block_read_full_folio(folio, ext4_get_block);
	if (lives && m->bug[0]) {
		bug_callers(m, rp->rac);
		bug_layout(m, rp->inode, index, order);
	}
	return ret;
}

static int read_one_folio(struct ext4_readpage *rp, struct folio *folio)
{
	u64 nr = blocks_per_folio(rp->inode, folio);
	struct folio_blocks b = {.nr = nr, .first_hole = nr};
	size_t len;
	int ret;

	if (folio_buffers(folio) || !map_folio(rp, folio, &b))
		return read_confused(rp, folio);
	len = b.first_hole << rp->inode->i_blkbits;
	if (len < folio_size(folio))
		zero_tail(folio, len);
	if (!len) {
		folio_end_read(folio, true);
		return 0;
	}
	ret = add_to_bio(rp, folio, len, b.first_block);
	if (ret)
		folio_end_read(folio, false);
	else if (b.boundary || b.first_hole != nr)
		submit_readpage_bio(rp);
	return ret;
}

/* What is read of a file with Merkle trees goes to the end of all files. */
static u64 last_block(const struct inode *inode)
{
	loff_t end = inode->i_flags & EXT4_VERITY_FL ? inode->i_sb->s_maxbytes : i_size_read(inode);

	return ((u64)end + (1u << inode->i_blkbits) - 1) >> inode->i_blkbits;
}

int ext4_mpage_readpages(struct inode *inode, struct readahead_control *rac, struct folio *folio)
{
	struct ext4_readpage rp = {
		.inode = inode,
		.rac = rac,
		.opf = REQ_OP_READ | (rac ? REQ_RAHEAD : 0),
		.left = rac ? readahead_count(rac) : folio_nr_pages(folio),
		.last_block_in_file = last_block(inode),
	};
	int ret = 0;

	if (!rac)
		ret = read_one_folio(&rp, folio);
	else
		while ((folio = readahead_folio(rac))) {
			unsigned long nr = folio_nr_pages(folio);

			read_one_folio(&rp, folio);
			rp.left -= nr;
		}
	submit_readpage_bio(&rp);
	return ret;
}
