#include "fs/buffer.h"

#include <errno.h>
#include <string.h>

#include "block/blkdev.h"
#include "mm/internal.h"

static size_t heads_size(const struct folio *folio)
{
	return blocks_per_folio(folio->mapping->host, folio) * sizeof(struct buffer_head);
}

struct buffer_head *create_empty_buffers(struct folio *folio)
{
	struct machine *m = folio_machine(folio);
	unsigned int nr = blocks_per_folio(folio->mapping->host, folio);
	struct buffer_head *bh = folio_buffers(folio);

	if (bh)
		return bh;
	bh = kzalloc(m, heads_size(folio));
	if (!bh)
		return NULL;
	charge2(m, COST_BUFFER_ALLOC, nr, COST_BUFFER_CREATE, 1);
	for (unsigned int i = 0; i < nr; i++) {
		if (folio_test_uptodate(folio))
			set_buffer_uptodate(&bh[i]);
		if (folio_test_dirty(folio))
			set_buffer_dirty(&bh[i]);
	}
	folio->private = bh;
	folio_set_private(folio);
	folio_get(folio);
	return bh;
}

static void detach_buffers(struct folio *folio)
{
	kfree(folio_machine(folio), folio->private, heads_size(folio));
	folio->private = NULL;
	folio_clear_private(folio);
	folio_put(folio);
}

bool try_to_free_buffers(struct folio *folio)
{
	const struct buffer_head *bh = folio_buffers(folio);
	unsigned int nr = blocks_per_folio(folio->mapping->host, folio);

	if (!bh)
		return true;
	if (folio_test_writeback(folio))
		return false;
	for (unsigned int i = 0; i < nr; i++)
		if (buffer_dirty(&bh[i]) || buffer_locked(&bh[i]) || buffer_jbddirty(&bh[i]))
			return false;
	detach_buffers(folio);
	/* Buffers may have become clean behind the folio's back. */
	folio_cancel_dirty(folio);
	return true;
}

bool block_dirty_folio(struct address_space *mapping, struct folio *folio)
{
	struct buffer_head *bh = folio_buffers(folio);

	unsigned int nr = bh ? blocks_per_folio(mapping->host, folio) : 0;

	charge(mapping_machine(mapping), COST_BUFFER_DIRTY, nr);
	for (unsigned int i = 0; i < nr; i++)
		set_buffer_dirty(&bh[i]);
	return filemap_dirty_folio(mapping, folio);
}

static void discard_buffer(struct buffer_head *bh)
{
	bh->b_state &= ~(1u << BH_Dirty | 1u << BH_Mapped | 1u << BH_New | 1u << BH_Delay |
			 1u << BH_Unwritten | 1u << BH_Async_Read | 1u << BH_JBDDirty);
}

void block_invalidate_folio(struct folio *folio, size_t offset, size_t length)
{
	struct buffer_head *bh = folio_buffers(folio);
	unsigned int bits = folio->mapping->host->i_blkbits;
	unsigned int first = (offset + (1u << bits) - 1) >> bits, end = (offset + length) >> bits;

	if (!bh)
		return;
	for (unsigned int i = first; i < end; i++)
		discard_buffer(&bh[i]);
	if (length == folio_size(folio))
		detach_buffers(folio);
}

bool block_is_partially_uptodate(struct folio *folio, size_t from, size_t count)
{
	const struct buffer_head *bh = folio_buffers(folio);
	unsigned int bits = folio->mapping->host->i_blkbits;
	size_t to = min(folio_size(folio) - from, count) + from;

	if (!bh || (from < 1u << bits && to > folio_size(folio) - (1u << bits)))
		return false;
	for (size_t i = from >> bits; i << bits < to; i++)
		if (!buffer_uptodate(&bh[i]))
			return false;
	return true;
}

static void zero_bytes(struct folio *folio, size_t from, size_t to)
{
	char *p = folio_address(folio);

	if (from >= to)
		return;
	charge(folio_machine(folio), COST_ZERO_BYTE, to - from);
	if (p)
		memset(p + from, 0, to - from);
}

void folio_zero_behind_eof(struct folio *folio)
{
	loff_t inside = i_size_read(folio->mapping->host) - folio_pos(folio);

	if (inside >= 0 && (u64)inside < folio_size(folio))
		zero_bytes(folio, inside, folio_size(folio));
}

void folio_zero_block(struct folio *folio, struct buffer_head *bh, size_t offset)
{
	zero_bytes(folio, offset, offset + (1u << folio->mapping->host->i_blkbits));
	set_buffer_uptodate(bh);
}

/* ---- reading single blocks ---- */

static void end_block_read(struct bio *bio)
{
	struct buffer_head *bh = bio->bi_private;

	if (!bio->bi_status)
		set_buffer_uptodate(bh);
	clear_buffer_locked(bh);
}

static int submit_block_read(struct folio *folio, struct buffer_head *bh, size_t offset,
			     bio_end_io_t *end_io)
{
	struct inode *inode = folio->mapping->host;
	char *data = folio_address(folio);
	struct bio *bio = bio_alloc(inode->i_sb->s_bdev, 1, REQ_OP_READ);

	if (!bio)
		return -ENOMEM;
	set_buffer_locked(bh);
	bio->bi_iter.bi_sector = bh->b_blocknr << (inode->i_blkbits - SECTOR_SHIFT);
	bio->bi_end_io = end_io;
	bio->bi_private = bh;
	bio_add_folio(bio, folio, 1u << inode->i_blkbits, offset, data ? data + offset : NULL);
	submit_bio(bio);
	return 0;
}

int bh_read(struct folio *folio, struct buffer_head *bh, size_t offset)
{
	struct machine *m = folio_machine(folio);
	int ret = submit_block_read(folio, bh, offset, end_block_read);

	while (!ret && buffer_locked(bh) && blk_wait_next(m))
		;
	return ret ? ret : buffer_uptodate(bh) ? 0 : -EIO;
}

/* ---- writing ---- */

/* One block of __block_write_begin(); [from, to) is what will be overwritten, in the folio. */
static int prepare_block(struct folio *folio, struct buffer_head *bh, size_t start, size_t from,
			 size_t to, get_block_t get_block)
{
	struct inode *inode = folio->mapping->host;
	size_t size = 1u << inode->i_blkbits, end = start + size;
	bool partly = start < from || end > to;
	int ret;

	if (end <= from || start >= to) {
		if (folio_test_uptodate(folio))
			set_buffer_uptodate(bh);
		return 0;
	}
	clear_buffer_new(bh);
	if (!buffer_mapped(bh)) {
		ret = get_block(inode, (folio_pos(folio) + start) >> inode->i_blkbits, bh, true);
		if (ret)
			return ret;
		if (buffer_new(bh) && !folio_test_uptodate(folio)) {
			zero_bytes(folio, start, max(start, from));
			zero_bytes(folio, min(end, to), end);
			return 0;
		}
	}
	if (folio_test_uptodate(folio))
		set_buffer_uptodate(bh);
	if (buffer_uptodate(bh) || buffer_delay(bh) || buffer_unwritten(bh) || !partly)
		return 0;
	return bh_read(folio, bh, start);
}

/* A write that cannot go on: what it made new in the folio is zeros. folio_zero_new_buffers(). */
static void zero_new_buffers(struct folio *folio, size_t from, size_t to)
{
	unsigned int bits = folio->mapping->host->i_blkbits;
	struct buffer_head *bh = folio_buffers(folio);

	for (size_t i = from >> bits; i << bits < to; i++) {
		if (!buffer_new(&bh[i]))
			continue;
		if (!folio_test_uptodate(folio))
			zero_bytes(folio, max(i << bits, from), min((i + 1) << bits, to));
		clear_buffer_new(&bh[i]);
		set_buffer_uptodate(&bh[i]);
		set_buffer_dirty(&bh[i]);
		filemap_dirty_folio(folio->mapping, folio);
	}
}

int __block_write_begin(struct folio *folio, loff_t pos, unsigned int len, get_block_t get_block)
{
	struct inode *inode = folio->mapping->host;
	struct machine *m = folio_machine(folio);
	size_t from = pos - folio_pos(folio), to = from + len;
	unsigned int nr = blocks_per_folio(inode, folio);
	struct buffer_head *bh = create_empty_buffers(folio);
	bool stop = knob(m, BUFFER_WALK_STOP) && folio_test_uptodate(folio);

	if (!bh)
		return -ENOMEM;
	for (unsigned int i = 0; i < nr; i++) {
		size_t start = (size_t)i << inode->i_blkbits;
		int ret;

		if (stop && start >= to)
			break;
		charge(m, COST_BUFFER_VISIT, 1);
		ret = prepare_block(folio, &bh[i], start, from, to, get_block);
		if (ret) {
			zero_new_buffers(folio, from, to);
			return ret;
		}
	}
	return 0;
}

int block_commit_write(struct folio *folio, size_t from, size_t to)
{
	struct inode *inode = folio->mapping->host;
	struct machine *m = folio_machine(folio);
	unsigned int nr = blocks_per_folio(inode, folio);
	struct buffer_head *bh = folio_buffers(folio);
	bool was_uptodate = folio_test_uptodate(folio), all = true;
	unsigned int dirtied = 0;

	for (unsigned int i = 0; i < nr; i++) {
		size_t start = (size_t)i << inode->i_blkbits,
		       end = start + (1u << inode->i_blkbits);

		if (knob(m, BUFFER_WALK_STOP) && was_uptodate && start >= to)
			break;
		charge(m, COST_BUFFER_VISIT, 1);
		if (end <= from || start >= to) {
			all &= buffer_uptodate(&bh[i]);
		} else {
			set_buffer_uptodate(&bh[i]);
			set_buffer_dirty(&bh[i]);
			dirtied++;
		}
		clear_buffer_new(&bh[i]);
	}
	charge(m, COST_MARK_BUFFER_DIRTY, dirtied);
	if (dirtied)
		filemap_dirty_folio(folio->mapping, folio);
	if (all && !was_uptodate)
		folio_mark_uptodate(folio);
	return 0;
}

int block_page_mkwrite(struct vm_area_struct *vma, struct vm_fault *vmf, get_block_t get_block)
{
	struct folio *folio = vmf->folio;
	struct address_space *mapping = vma->vm_file->f_mapping;
	loff_t size = i_size_read(mapping->host);
	size_t end;
	int ret = -EFAULT;

	folio_lock(folio);
	if (folio->mapping != mapping || folio_pos(folio) >= size)
		goto unlock;
	end = min_t(loff_t, folio_size(folio), size - folio_pos(folio));
	charge(folio_machine(folio), COST_BUFFER_COLD, 2 * blocks_per_folio(mapping->host, folio));
	ret = __block_write_begin(folio, folio_pos(folio), end, get_block);
	if (ret)
		goto unlock;
	block_commit_write(folio, 0, end);
	folio_mark_dirty(folio);
	folio_wait_writeback(folio);
	return 0;
unlock:
	folio_unlock(folio);
	return ret;
}

/* ---- block_read_full_folio ---- */

/* The last block under way ends the folio. */
static void end_buffer_async_read(struct bio *bio)
{
	struct folio *folio = bio->bi_io_vec[0].bv_folio;
	struct buffer_head *done = bio->bi_private, *bh = folio_buffers(folio);
	unsigned int nr = blocks_per_folio(folio->mapping->host, folio);
	bool uptodate = true;

	if (!bio->bi_status)
		set_buffer_uptodate(done);
	clear_buffer_async_read(done);
	clear_buffer_locked(done);
	for (unsigned int i = 0; i < nr; i++) {
		if (buffer_async_read(&bh[i]))
			return;
		uptodate &= buffer_uptodate(&bh[i]);
	}
	folio_end_read(folio, uptodate);
}

/* Blocks from @from on are not going to be read: the folio ends with those under way, or now. */
static void abandon_blocks(struct folio *folio, unsigned int from)
{
	struct buffer_head *bh = folio_buffers(folio);
	unsigned int nr = blocks_per_folio(folio->mapping->host, folio);
	bool under_way = false;

	for (unsigned int i = 0; i < nr; i++) {
		if (i >= from)
			clear_buffer_async_read(&bh[i]);
		under_way |= buffer_async_read(&bh[i]);
	}
	if (!under_way)
		folio_end_read(folio, false);
}

/* Look the block up; true if it has to be read. */
static bool block_wants_read(struct folio *folio, struct buffer_head *bh, u64 iblock, size_t start,
			     get_block_t get_block, int *err)
{
	struct inode *inode = folio->mapping->host;
	u64 end = ((u64)i_size_read(inode) + (1u << inode->i_blkbits) - 1) >> inode->i_blkbits;

	if (buffer_uptodate(bh))
		return false;
	if (!buffer_mapped(bh)) {
		if (iblock < end && !*err)
			*err = get_block(inode, iblock, bh, false);
		if (!buffer_mapped(bh)) {
			zero_bytes(folio, start, start + (1u << inode->i_blkbits));
			if (!*err)
				set_buffer_uptodate(bh);
			return false;
		}
	}
	set_buffer_async_read(bh);
	return true;
}

/* Until e59e97d42b05 a kernel with CONFIG_DEBUG_VM died here on a large folio. */
static bool assert_small(const struct folio *folio)
{
	if (!knob(folio_machine(folio), ASSERT_NO_LARGE_FULL_READ) || !folio_test_large(folio))
		return true;
	if (!folio_machine(folio)->bug[0]) {
		vm_bug_on_folio(folio, "folio_test_large(folio)", "fs/buffer.c");
		machine_bug(folio_machine(folio), "Call Trace:\n block_read_full_folio\n");
	}
	return false;
}

/* Send the blocks marked for reading, one bio each; the last one to complete ends the folio. */
static int submit_marked_blocks(struct folio *folio, unsigned int wanted)
{
	struct inode *inode = folio->mapping->host;
	struct buffer_head *bh = folio_buffers(folio);

	for (unsigned int i = 0; wanted; i++) {
		int err;

		if (!buffer_async_read(&bh[i]) || buffer_locked(&bh[i]))
			continue;
		err = submit_block_read(folio, &bh[i], (size_t)i << inode->i_blkbits,
					end_buffer_async_read);
		if (err) {
			abandon_blocks(folio, i);
			return err;
		}
		wanted--;
	}
	return 0;
}

int block_read_full_folio(struct folio *folio, get_block_t get_block)
{
	struct inode *inode = folio->mapping->host;
	unsigned int nr = blocks_per_folio(inode, folio), wanted = 0;
	struct buffer_head *bh;
	int err = 0;

	if (!assert_small(folio)) {
		folio_end_read(folio, false);
		return -EIO;
	}
	bh = create_empty_buffers(folio);
	if (!bh) {
		folio_end_read(folio, false);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < nr; i++)
		wanted +=
			block_wants_read(folio, &bh[i], (folio_pos(folio) >> inode->i_blkbits) + i,
					 (size_t)i << inode->i_blkbits, get_block, &err);
	if (wanted)
		return submit_marked_blocks(folio, wanted);
	folio_end_read(folio, !err);
	return 0;
}
