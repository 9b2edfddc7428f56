#include "host/ext4_image_check.h"

#include <stdlib.h>
#include <string.h>

#define DISK_BYTES (1ULL << 46) /* of the miniature, fs/super.c */

static bool power_of_two(u64 n)
{
	return n && !(n & (n - 1));
}

const char *ext4_image_check_super(const struct ext4_image_super *super, u64 size)
{
	if (!power_of_two(super->block_size) || super->block_size < 1024 ||
	    super->block_size > 65536)
		return "its block size, expected a power of two from 1k to 64k";
	if (!power_of_two(super->cluster_size) || super->cluster_size < super->block_size)
		return "its cluster size, expected a power of two of blocks";
	if (super->blocks > DISK_BYTES / super->block_size)
		return "more than 64 TiB, expected a smaller file system";
	if (super->blocks * super->block_size > size)
		return "the image is shorter than its file system, expected all of it";
	return NULL;
}

static const char *check_extent(const struct ext4_image_super *super, const struct fs_extent *e)
{
	if (!e->len)
		return "an extent without blocks, expected some";
	if (e->lblk > UINT32_MAX || e->lblk + e->len > 1ULL << 32)
		return "an extent past the last block a file may have, expected one below 2^32";
	if (e->pblk <= super->first_block || e->pblk >= super->blocks ||
	    e->len > super->blocks - e->pblk)
		return "an extent outside the file system, expected one inside";
	return NULL;
}

static int by_pblk(const void *a, const void *b)
{
	const struct fs_extent *x = a, *y = b;

	return (x->pblk > y->pblk) - (x->pblk < y->pblk);
}

/* Two extents with a block in common: the miniature's disk gives a block once. */
static const char *check_shared(const struct fs_extent *extents, unsigned int nr)
{
	struct fs_extent *sorted = nr ? malloc(nr * sizeof(*sorted)) : NULL;
	const char *wrong = NULL;

	if (!sorted)
		return nr ? "no memory to check its extents, expected some" : NULL;
	memcpy(sorted, extents, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), by_pblk);
	for (unsigned int i = 1; i < nr; i++)
		if (sorted[i - 1].pblk + sorted[i - 1].len > sorted[i].pblk)
			wrong = "two extents share a block, expected each block once";
	free(sorted);
	return wrong;
}

const char *ext4_image_check_inode(const struct ext4_image_super *super,
				   const struct ext4_image_inode *inode)
{
	const char *wrong = NULL;
	u64 end = 0;

	if (inode->inline_data && inode->nr_extents)
		return "inline data and extents in one inode, expected one of the two";
	for (unsigned int i = 0; i < inode->nr_extents && !wrong; i++) {
		wrong = check_extent(super, &inode->extents[i]);
		if (!wrong && inode->extents[i].lblk < end)
			wrong = "extents out of order, expected them sorted";
		end = inode->extents[i].lblk + inode->extents[i].len;
	}
	return wrong ? wrong : check_shared(inode->extents, inode->nr_extents);
}
