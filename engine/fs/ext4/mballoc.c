/*
 * Mirrors fs/ext4/mballoc.c: blocks in use, blocks on their way to being free, and the bitmaps and
 * group descriptors that say so on disk.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fs/balloc.h"
#include "fs/ext4/ext4_jbd2.h"
#include "fs/ext4/ondisk.h"

#define DESC_SIZE 64

/* ---- taking and giving back ---- */

/* Bitmap and descriptor of every group of the run. */
static int dirty_groups(handle_t *handle, const struct inode *inode, u64 pblk, u64 len)
{
	const struct ext4_sb_info *sbi = EXT4_SB(inode->i_sb);
	u64 last = (pblk + len - 1) / sbi->s_blocks_per_group;
	int ret = 0;

	for (u64 group = pblk / sbi->s_blocks_per_group; handle && group <= last && !ret; group++) {
		ret = ext4_handle_dirty_metadata(handle, inode, sbi->s_bitmaps_at + group);
		if (!ret)
			ret = ext4_handle_dirty_metadata(
				handle, inode, sbi->s_gdt_at + group / sbi->s_desc_per_block);
	}
	return ret;
}

s64 ext4_mb_new_blocks(handle_t *handle, struct inode *inode, u64 goal, u64 want, u64 *pblk)
{
	s64 got = block_alloc(inode->i_sb->s_space, goal, want, pblk);
	int ret = got > 0 ? dirty_groups(handle, inode, *pblk, got) : 0;

	if (!ret)
		return got;
	block_free(inode->i_sb->s_space, *pblk, got);
	return ret;
}

/* Journalled data must not come back over whatever these blocks hold next. */
static int revoke_data(handle_t *handle, const struct inode *inode, u64 pblk, u64 len)
{
	int ret = 0;

	if (!ext4_should_journal_data(inode))
		return 0;
	for (u64 i = 0; i < len && !ret; i++)
		ret = jbd2_journal_revoke(handle, pblk + i);
	return ret;
}

int ext4_free_blocks(handle_t *handle, struct inode *inode, u64 pblk, u64 len)
{
	struct ext4_sb_info *sbi = EXT4_SB(inode->i_sb);
	struct ext4_free_data *fd;
	int ret;

	if (!handle)
		return block_free(inode->i_sb->s_space, pblk, len);
	ret = dirty_groups(handle, inode, pblk, len);
	if (!ret)
		ret = revoke_data(handle, inode, pblk, len);
	fd = ret ? NULL : malloc(sizeof(*fd));
	if (!fd)
		return ret ? ret : -ENOMEM;
	*fd = (struct ext4_free_data){
		.pblk = pblk, .len = len, .tid = handle->h_transaction->t_tid};
	list_add_tail(&fd->list, &sbi->s_freed_data_list);
	return 0;
}

void ext4_process_freed_data(struct super_block *sb, tid_t tid)
{
	struct ext4_free_data *fd, *next;

	list_for_each_entry_safe(fd, next, &EXT4_SB(sb)->s_freed_data_list, list) {
		if ((s32)(fd->tid - tid) > 0)
			continue;
		block_free(sb->s_space, fd->pblk, fd->len);
		list_del(&fd->list);
		free(fd);
	}
}

bool ext4_should_retry_alloc(struct inode *inode, int *retries)
{
	if (!ext4_journal(inode) || ++*retries > 3 ||
	    list_empty(&EXT4_SB(inode->i_sb)->s_freed_data_list))
		return false;
	return !jbd2_journal_force_commit(ext4_journal(inode));
}

u64 ext4_count_free_blocks(const struct super_block *sb)
{
	const struct ext4_free_data *fd;
	u64 nr = 0;

	for (size_t i = 0; i < sb->s_space->nr; i++)
		nr += sb->s_space->free[i].len;
	list_for_each_entry(fd, &EXT4_SB(sb)->s_freed_data_list, list)
		nr += fd->len;
	return nr;
}

/* ---- bytes ---- */

/* Tell @fn the parts of free runs inside [first, end). */
static void for_free_runs(struct super_block *sb, u64 first, u64 end,
			  void (*fn)(void *ctx, u64 from, u64 to), void *ctx)
{
	const struct ext4_free_data *fd;
	const struct block_space *s = sb->s_space;

	for (size_t i = 0; i < s->nr && s->free[i].start < end; i++)
		if (s->free[i].start + s->free[i].len > first)
			fn(ctx, max(first, s->free[i].start),
			   min(end, s->free[i].start + s->free[i].len));
	list_for_each_entry(fd, &EXT4_SB(sb)->s_freed_data_list, list)
		if (fd->pblk < end && fd->pblk + fd->len > first)
			fn(ctx, max(first, fd->pblk), min(end, fd->pblk + fd->len));
}

struct bitmap_ctx {
	u8 *bits;
	u64 first;
};

static void clear_bits(void *ctx, u64 from, u64 to)
{
	struct bitmap_ctx *b = ctx;

	for (u64 i = from - b->first; i < to - b->first; i++)
		b->bits[i / 8] &= ~(1u << i % 8);
}

void ext4_fill_bitmap(struct super_block *sb, u64 group, void *buf)
{
	u64 per_group = EXT4_SB(sb)->s_blocks_per_group, first = group * per_group;
	struct bitmap_ctx ctx = {buf, first};

	memset(buf, 0xff, per_group / 8);
	for_free_runs(sb, first, first + per_group, clear_bits, &ctx);
}

struct descriptor_ctx {
	u8 *buf;
	u64 first_group, per_group;
};

static void count_free(void *ctx, u64 from, u64 to)
{
	struct descriptor_ctx *d = ctx;

	while (from < to) {
		u64 group = from / d->per_group, end = min(to, (group + 1) * d->per_group);
		unsigned int off = (group - d->first_group) * DESC_SIZE + 12;

		ext4_put32(d->buf, off, ext4_get32(d->buf, off) + (end - from));
		from = end;
	}
}

void ext4_fill_descriptors(struct super_block *sb, u64 first_group, void *buf)
{
	const struct ext4_sb_info *sbi = EXT4_SB(sb);
	struct descriptor_ctx ctx = {buf, first_group, sbi->s_blocks_per_group};
	u64 end = min(first_group + sbi->s_desc_per_block, sbi->s_groups_count);

	for_free_runs(sb, first_group * ctx.per_group, end * ctx.per_group, count_free, &ctx);
}

/* Compare bitmap @group on disk with what the mounted files make of it: 0 or 1, or -errno. */
static int check_bitmap(struct super_block *sb, u64 group, char *disk, char *want)
{
	const struct ext4_sb_info *sbi = EXT4_SB(sb);
	/* Behind the last block of a group that is cut short nothing is said. */
	u64 blocks =
		min(sbi->s_blocks_per_group, sbi->s_blocks_count - group * sbi->s_blocks_per_group);
	int ret = blk_rw_wait(sb->s_bdev, REQ_OP_READ | REQ_META,
			      (sbi->s_bitmaps_at + group) << sb->s_blocksize_bits, disk,
			      1u << sb->s_blocksize_bits);

	ext4_fill_bitmap(sb, group, want);
	return ret ? ret : !!memcmp(disk, want, blocks / 8);
}

/* The first group from @group on that has a block in use, or a bitmap that was written. */
static u64 next_touched_group(struct super_block *sb, u64 group)
{
	const struct ext4_sb_info *sbi = EXT4_SB(sb);
	u64 used = block_next_used(sb->s_space, group * sbi->s_blocks_per_group);
	u64 written =
		blk_next_written(sb->s_bdev, (sbi->s_bitmaps_at + group) << sb->s_blocksize_bits);

	return min(used / sbi->s_blocks_per_group,
		   (written >> sb->s_blocksize_bits) - sbi->s_bitmaps_at);
}

s64 ext4_check_bitmaps(struct super_block *sb)
{
	const struct ext4_sb_info *sbi = EXT4_SB(sb);
	unsigned int size = 1u << sb->s_blocksize_bits;
	char *disk = malloc(size), *want = malloc(size);
	s64 bad = disk && want ? 0 : -ENOMEM;

	/* Of all others, which are free, a bitmap of zeros is right. */
	for (u64 group = next_touched_group(sb, 0); group < sbi->s_groups_count && bad >= 0;
	     group = next_touched_group(sb, group + 1)) {
		int ret = check_bitmap(sb, group, disk, want);

		bad = ret < 0 ? ret : bad + ret;
	}
	free(disk);
	free(want);
	return bad;
}
