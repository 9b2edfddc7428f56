/*
 * Mirrors fs/ext4/inline.c: a file so small that its bytes lie in its inode. Reading and writing
 * them needs no block and no I/O. A write past the room there is, a hole, a preallocation and a
 * store through a mapping move them to page 0, from where writeback takes them to a block.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fs/ext4/ext4_jbd2.h"
#include "mm/internal.h"

/* Bytes in i_block, which every inode has. fs/ext4/inline.c EXT4_MIN_INLINE_DATA_SIZE. */
#define EXT4_MIN_INLINE_DATA_SIZE 60
/* With the attribute system.data in an inode of 256 bytes: seen on 6.18.44. */
#define EXT4_MAX_INLINE_DATA_SIZE 128

/* inode->i_inline */
struct ext4_inline_data {
	u32 size; /* bytes kept; the file may be shorter, then zeros follow */
	u32 room; /* bytes there is room for */
	u8 bytes[];
};

static int make_room(struct inode *inode, u32 room)
{
	struct ext4_inline_data *d = calloc(1, sizeof(*d) + room);

	if (!d)
		return -ENOMEM;
	d->room = room;
	free(inode->i_inline);
	inode->i_inline = d;
	inode->i_flags |= EXT4_INLINE_DATA_FL | EXT4_STATE_MAY_INLINE_DATA;
	return 0;
}

int ext4_set_inline_data(struct inode *inode, const void *buf, u32 len)
{
	int ret = make_room(inode, max_t(u32, len, EXT4_MAX_INLINE_DATA_SIZE));
	struct ext4_inline_data *d = inode->i_inline;

	if (ret)
		return ret;
	memcpy(d->bytes, buf, len);
	d->size = max_t(u32, len, EXT4_MIN_INLINE_DATA_SIZE);
	return 0;
}

/* The first @len bytes of the file are kept in the inode from now on. -ENOSPC: too many. */
static int ext4_prepare_inline_data(struct inode *inode, u64 len)
{
	struct ext4_inline_data *d = inode->i_inline;
	int ret = 0;

	if (len > (d ? d->room : EXT4_MAX_INLINE_DATA_SIZE))
		return -ENOSPC;
	if (!d) {
		ret = make_room(inode, EXT4_MAX_INLINE_DATA_SIZE);
		d = inode->i_inline;
	}
	if (!ret)
		d->size = max(d->size, max_t(u32, len, EXT4_MIN_INLINE_DATA_SIZE));
	return ret;
}

static void ext4_destroy_inline_data(struct inode *inode)
{
	free(inode->i_inline);
	inode->i_inline = NULL;
	inode->i_flags &= ~(EXT4_INLINE_DATA_FL | EXT4_STATE_MAY_INLINE_DATA);
}

/* Fill a folio that is not uptodate: the bytes, then zeros. */
static void ext4_read_inline_folio(const struct inode *inode, struct folio *folio)
{
	const struct ext4_inline_data *d = inode->i_inline;
	size_t len = folio->index ? 0 : min_t(u64, d->size, inode->i_size);
	char *p = folio_address(folio);

	charge2(folio_machine(folio), COST_COPY_BYTE, len, COST_ZERO_BYTE, folio_size(folio) - len);
	if (p) {
		memcpy(p, d->bytes, len);
		memset(p + len, 0, folio_size(folio) - len);
	}
}

void ext4_readpage_inline(const struct inode *inode, struct folio *folio)
{
	ext4_read_inline_folio(inode, folio);
	folio_end_read(folio, true);
}

/* Page 0, locked, asked for without an order. */
static int first_folio(struct inode *inode, struct folio **foliop)
{
	int ret = __filemap_get_folio(inode->i_mapping, 0, FGP_WRITEBEGIN, 0, foliop);

	if (ret)
		return ret;
	if (ext4_has_inline_data(inode) && !folio_test_uptodate(*foliop)) {
		ext4_read_inline_folio(inode, *foliop);
		folio_mark_uptodate(*foliop);
	}
	return 0;
}

/* Page 0 gets a block for what lay in the inode, and is dirty. */
static int ext4_convert_inline_data_to_extent(struct inode *inode, get_block_t get_block)
{
	const struct ext4_inline_data *d = inode->i_inline;
	struct folio *folio;
	int ret = first_folio(inode, &folio);

	if (ret)
		return ret;
	if (d) {
		ret = __block_write_begin(folio, 0, d->size, get_block);
		if (!ret)
			block_commit_write(folio, 0, d->size);
	}
	if (!ret)
		ext4_destroy_inline_data(inode);
	folio_unlock(folio);
	folio_put(folio);
	return ret;
}

int ext4_convert_inline_data(struct inode *inode)
{
	handle_t *handle;
	int ret;

	if (!ext4_has_inline_data(inode)) {
		inode->i_flags &= ~EXT4_STATE_MAY_INLINE_DATA;
		return 0;
	}
	ret = ext4_journal_start(inode, EXT4_HT_WRITE_PAGE, ext4_write_begin_credits(inode),
				 &handle);
	if (ret)
		return ret;
	ret = ext4_convert_inline_data_to_extent(inode, ext4_write_get_block(inode));
	ext4_journal_stop(handle);
	return ret;
}

int ext4_try_to_write_inline_data(struct inode *inode, loff_t pos, unsigned int len,
				  get_block_t get_block, struct folio **foliop)
{
	handle_t *handle;
	int ret;

	if (!(inode->i_flags & EXT4_STATE_MAY_INLINE_DATA))
		return 0;
	ret = ext4_journal_start(inode, EXT4_HT_INODE, ext4_write_begin_credits(inode), &handle);
	if (ret)
		return ret;
	ret = ext4_prepare_inline_data(inode, pos + len);
	if (ret == -ENOSPC) {
		ret = ext4_convert_inline_data_to_extent(inode, get_block);
		ext4_journal_stop(handle);
		return ret;
	}
	ext4_mark_inode_dirty(handle, inode);
	ext4_journal_stop(handle);
	if (!ret)
		ret = first_folio(inode, foliop);
	return ret ? ret : 1;
}

void ext4_write_inline_data_end(struct inode *inode, loff_t pos, unsigned int copied,
				struct folio *folio)
{
	struct ext4_inline_data *d = inode->i_inline;
	const char *p = folio_address(folio);

	charge(folio_machine(folio), COST_COPY_BYTE, copied);
	if (p)
		memcpy(d->bytes + pos, p + pos, copied);
	if (pos + copied > inode->i_size)
		inode->i_size = inode->i_disksize = pos + copied;
	folio_unlock(folio);
	folio_put(folio);
}

int ext4_inline_data_truncate(struct inode *inode, loff_t size)
{
	struct ext4_inline_data *d = inode->i_inline;

	if (size > d->size)
		return ext4_convert_inline_data(inode);
	memset(d->bytes + size, 0, d->room - size);
	if (size < inode->i_size)
		d->size = max_t(u32, size, EXT4_MIN_INLINE_DATA_SIZE);
	return 0;
}
