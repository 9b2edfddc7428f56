#include <errno.h>
#include <string.h>

#include "block/blkdev.h"
#include "fs/iomap/iomap.h"
#include "fs/super.h"

struct iomap_readpage_ctx {
	struct inode *inode;
	const struct iomap_ops *ops;
	struct iomap iomap;		/* extent in hand; length 0 at the start */
	struct bio *bio;		/* being filled */
	unsigned short nr_vecs;		/* wanted for a new bio */
	unsigned int opf;
};

/* folio->private while a folio is being read: bytes still to come, and whether one failed. */
#define READ_FAILED (1UL << 63)

static void read_bytes_add(struct folio *folio, long bytes)
{
	folio->private = (void *)((unsigned long)folio->private + bytes);
}

static void iomap_finish_folio_read(struct folio *folio, size_t len, int error)
{
	unsigned long state;

	read_bytes_add(folio, -(long)len);
	state = (unsigned long)folio->private | (error ? READ_FAILED : 0);
	folio->private = (void *)state;
	if (state & ~READ_FAILED)
		return;
	folio->private = NULL;
	folio_end_read(folio, !(state & READ_FAILED));
}

static void iomap_read_end_io(struct bio *bio)
{
	for (unsigned int i = 0; i < bio->bi_vcnt; i++)
		iomap_finish_folio_read(bio->bi_io_vec[i].bv_folio, bio->bi_io_vec[i].bv_len,
					bio->bi_status);
}

static void submit_ctx_bio(struct iomap_readpage_ctx *ctx)
{
	if (ctx->bio)
		submit_bio(ctx->bio);
	ctx->bio = NULL;
}

/* Get the extent over @pos if the one in hand does not reach there. */
static int iomap_iter_to(struct iomap_readpage_ctx *ctx, loff_t pos, loff_t length)
{
	const struct machine *m = ctx->inode->i_sb->s_machine;
	const struct iomap *map = &ctx->iomap;

	if (map->length && pos >= map->offset && (u64)(pos - map->offset) < map->length)
		return 0;
	if (knob(m, IOMAP_BIO_PER_EXTENT))
		submit_ctx_bio(ctx);
	return ctx->ops->iomap_begin(ctx->inode, pos, length, &ctx->iomap);
}

static void zero_folio_range(struct folio *folio, size_t offset, size_t len)
{
	char *p = folio_address(folio);

	charge(folio_machine(folio), COST_ZERO_BYTE, len);
	if (p)
		memset(p + offset, 0, len);
}

static int add_to_bio(struct iomap_readpage_ctx *ctx, struct folio *folio, size_t offset,
		      size_t len, sector_t sector)
{
	char *data = folio_address(folio);

	if (data)
		data += offset;
	if (ctx->bio && bio_end_sector(ctx->bio) != sector)
		submit_ctx_bio(ctx);
	if (!ctx->bio || !bio_add_folio(ctx->bio, folio, len, offset, data)) {
		submit_ctx_bio(ctx);
		ctx->bio = bio_alloc(ctx->inode->i_sb->s_bdev, ctx->nr_vecs, ctx->opf);
		if (!ctx->bio)
			return -ENOMEM;
		ctx->bio->bi_iter.bi_sector = sector;
		ctx->bio->bi_end_io = iomap_read_end_io;
		bio_add_folio(ctx->bio, folio, len, offset, data);
	}
	return 0;
}

/* Read or zero the whole folio, extent by extent. Bytes read stay pending until their bio ends. */
static int iomap_readpage_iter(struct iomap_readpage_ctx *ctx, struct folio *folio)
{
	loff_t pos = folio_pos(folio), end = pos + folio_size(folio);

	while (pos < end) {
		size_t offset = pos - folio_pos(folio), len;
		int ret = iomap_iter_to(ctx, pos, end - pos);

		if (ret)
			return ret;
		len = min_t(u64, end - pos, ctx->iomap.offset + ctx->iomap.length - pos);
		if (ctx->iomap.type == IOMAP_HOLE) {
			zero_folio_range(folio, offset, len);
		} else {
			u64 addr = ctx->iomap.addr + (pos - ctx->iomap.offset);

			read_bytes_add(folio, len);
			ret = add_to_bio(ctx, folio, offset, len, addr >> SECTOR_SHIFT);
			if (ret) {
				read_bytes_add(folio, -(long)len);
				return ret;
			}
		}
		pos += len;
	}
	return 0;
}

/* A byte is held back so that a bio that ends early does not unlock the folio. */
static int read_one_folio(struct iomap_readpage_ctx *ctx, struct folio *folio)
{
	int ret;

	read_bytes_add(folio, 1);
	ret = iomap_readpage_iter(ctx, folio);
	iomap_finish_folio_read(folio, 1, ret);
	return ret;
}

void iomap_readahead(struct readahead_control *rac, const struct iomap_ops *ops)
{
	struct iomap_readpage_ctx ctx = {
		.inode = rac->mapping->host, .ops = ops, .opf = REQ_OP_READ | REQ_RAHEAD,
		.nr_vecs = min_t(u32, readahead_count(rac), BIO_MAX_VECS),
	};
	struct folio *folio;

	while ((folio = readahead_folio(rac)))
		read_one_folio(&ctx, folio);
	submit_ctx_bio(&ctx);
}

int iomap_read_folio(struct folio *folio, const struct iomap_ops *ops)
{
	struct iomap_readpage_ctx ctx = {
		.inode = folio->mapping->host, .ops = ops, .opf = REQ_OP_READ, .nr_vecs = 1,
	};
	int ret = read_one_folio(&ctx, folio);

	submit_ctx_bio(&ctx);
	return ret;
}

int iomap_from_extents(struct inode *inode, loff_t pos, loff_t length, struct iomap *iomap)
{
	unsigned int bits = inode->i_blkbits;
	u64 lblk = pos >> bits, len;
	const struct fs_extent *e = inode_map_block(inode, lblk, &len);

	(void)length;
	iomap->offset = (loff_t)(lblk << bits);
	iomap->length = min(len, (u64)INT64_MAX >> bits) << bits;
	iomap->type = e ? IOMAP_MAPPED : IOMAP_HOLE;
	iomap->addr = e ? (e->pblk + (lblk - e->lblk)) << bits : 0;
	return 0;
}
