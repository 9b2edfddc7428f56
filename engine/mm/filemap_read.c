/*
 * Reading from the page cache.
 *
 * Mirrors filemap_read(), filemap_splice_read() and what they need of mm/filemap.c.
 */
#include <errno.h>
#include <string.h>

#include "block/blkdev.h"
#include "mm/internal.h"

/* include/linux/fs.h: the folio left the mapping while we slept, look it up again. */
#define AOP_TRUNCATED_PAGE 0x80001

static void shrink_readahead_size_eio(struct file_ra_state *ra)
{
	ra->ra_pages /= 4;
}

static bool filemap_range_uptodate(struct address_space *mapping, loff_t pos, size_t count,
				   struct folio *folio, bool need_uptodate)
{
	if (folio_test_uptodate(folio))
		return true;
	if (need_uptodate || !mapping->a_ops->is_partially_uptodate)
		return false;
	if (mapping->host->i_blkbits >= folio_shift(folio))
		return false;
	if (folio_pos(folio) > pos) {
		count -= folio_pos(folio) - pos;
		pos = 0;
	} else {
		pos -= folio_pos(folio);
	}
	if (knob(mapping_machine(mapping), WHOLE_NOT_PARTIAL) && pos == 0 &&
	    count >= folio_size(folio))
		return false;
	return mapping->a_ops->is_partially_uptodate(folio, pos, count);
}

int filemap_read_folio(struct file *file, struct folio *folio)
{
	int ret = folio->mapping->a_ops->read_folio(file, folio);

	if (ret)
		return ret;
	folio_wait_locked(folio);
	if (folio_test_uptodate(folio))
		return 0;
	shrink_readahead_size_eio(&file->f_ra);
	return -EIO;
}

/* Make the folio readable. A positive result asks for another lookup; the reference stays. */
static int filemap_update_page(struct kiocb *iocb, struct address_space *mapping, size_t count,
			       struct folio *folio, bool need_uptodate)
{
	if (!folio_trylock(folio)) {
		if (iocb->ki_flags & (IOCB_NOWAIT | IOCB_NOIO))
			return -EAGAIN;
		folio_wait_locked(folio);
		return AOP_TRUNCATED_PAGE;
	}
	if (!folio->mapping) {
		folio_unlock(folio);
		return AOP_TRUNCATED_PAGE;
	}
	if (filemap_range_uptodate(mapping, iocb->ki_pos, count, folio, need_uptodate)) {
		folio_unlock(folio);
		return 0;
	}
	if (iocb->ki_flags & (IOCB_NOIO | IOCB_NOWAIT | IOCB_WAITQ)) {
		folio_unlock(folio);
		return -EAGAIN;
	}
	return filemap_read_folio(iocb->ki_filp, folio);
}

static int filemap_create_folio(struct kiocb *iocb, struct folio_batch *fbatch)
{
	struct address_space *mapping = iocb->ki_filp->f_mapping;
	struct machine *m = mapping_machine(mapping);
	unsigned int min_order = mapping_min_folio_order(mapping);
	pgoff_t index = iocb->ki_pos >> m->page_shift >> min_order << min_order;
	struct folio *folio;
	int ret;

	if (iocb->ki_flags & (IOCB_NOWAIT | IOCB_WAITQ))
		return -EAGAIN;
	folio = filemap_alloc_folio(m, mapping_gfp_mask(mapping), min_order);
	if (!folio)
		return -ENOMEM;
	lock_shared(m, INVALIDATE_LOCK, &mapping->invalidate_lock);
	ret = filemap_add_folio(mapping, folio, index, mapping_gfp_mask(mapping),
				PROVENANCE_FORCED);
	if (ret == -EEXIST)
		ret = AOP_TRUNCATED_PAGE;
	if (!ret)
		ret = filemap_read_folio(iocb->ki_filp, folio);
	unlock_shared(m, INVALIDATE_LOCK, &mapping->invalidate_lock);
	if (ret) {
		folio_put(folio);
		return ret;
	}
	folio_batch_add(fbatch, folio);
	return 0;
}

static int filemap_readahead(struct kiocb *iocb, struct file *file, struct address_space *mapping,
			     struct folio *folio, pgoff_t last_index)
{
	DEFINE_READAHEAD(ractl, file, &file->f_ra, mapping, folio->index);

	if (iocb->ki_flags & IOCB_NOIO)
		return -EAGAIN;
	page_cache_async_ra(&ractl, folio, last_index - folio->index);
	return 0;
}

/*
 * The contiguous folios from @index on, up to one that is marked, not uptodate, fills the batch
 * or reaches @max: only the last of a batch can need work.
 */
static void filemap_get_read_batch(struct address_space *mapping, pgoff_t index, pgoff_t max,
				   struct folio_batch *fbatch)
{
	struct machine *m = mapping_machine(mapping);
	XA_STATE(xas, &mapping->i_pages, index);
	struct folio *folio;

	for (folio = xas_load(&xas); folio; folio = xas_next(&xas)) {
		if (xas.xa_index > max || xa_is_value(folio) || xa_is_sibling(folio))
			break;
		if (unlikely(!folio_try_get(folio))) {
			filemap_look_again(m);
			xas_set(&xas, xas.xa_index);
			continue;
		}
		if (!folio_batch_add(fbatch, folio) || !folio_test_uptodate(folio) ||
		    folio_test_readahead(folio) || folio_next_index(folio) > max)
			break;
		xas_advance(&xas, folio_next_index(folio) - 1);
	}
	charge2(m, COST_GET_PAGES, 1, COST_READ_BATCH, fbatch->nr);
}

static pgoff_t read_last_index(const struct machine *m, const struct address_space *mapping,
			       loff_t pos, size_t count)
{
	u64 end = (u64)pos + count;

	if (knob(m, LAST_INDEX_ROUND))
		end = round_up(end, m->page_size << mapping_min_folio_order(mapping));
	return (end + m->page_size - 1) >> m->page_shift;
}

/* Drop the last folio of the batch; true if others are left. */
static bool drop_last(struct folio_batch *fbatch)
{
	folio_put(fbatch->folios[--fbatch->nr]);
	return fbatch->nr != 0;
}

/* Work the last folio of the batch needs. 0, negative errno, or AOP_TRUNCATED_PAGE to retry. */
static int finish_last_folio(struct kiocb *iocb, size_t count, struct folio_batch *fbatch,
			     pgoff_t last_index, bool need_uptodate)
{
	struct file *file = iocb->ki_filp;
	struct address_space *mapping = file->f_mapping;
	struct folio *folio = fbatch->folios[fbatch->nr - 1];
	int ret = 0;

	if (folio_test_readahead(folio))
		ret = filemap_readahead(iocb, file, mapping, folio, last_index);
	if (!ret && !folio_test_uptodate(folio)) {
		if (knob(mapping_machine(mapping), SKIP_NONUPTODATE) && fbatch->nr > 1)
			ret = AOP_TRUNCATED_PAGE;
		else
			ret = filemap_update_page(iocb, mapping, count, folio, need_uptodate);
	}
	if (ret && drop_last(fbatch))
		return 0;
	return ret;
}

static void trace_get_pages(struct machine *m, const struct address_space *mapping, pgoff_t index,
			    pgoff_t last_index)
{
	if (trace_count(&m->trace, EV_mm_filemap_get_pages, 0)) {
		struct trace_event ev = {.id = EV_mm_filemap_get_pages,
					 .ino = mapping->host->i_ino,
					 .index = index,
					 .c = last_index - 1};

		trace_dispatch(&m->trace, &ev);
	}
}

static int filemap_get_pages(struct kiocb *iocb, size_t count, struct folio_batch *fbatch,
			     bool need_uptodate)
{
	struct file *file = iocb->ki_filp;
	struct address_space *mapping = file->f_mapping;
	struct machine *m = mapping_machine(mapping);
	pgoff_t index = iocb->ki_pos >> m->page_shift;
	pgoff_t last_index = read_last_index(m, mapping, iocb->ki_pos, count);
	pgoff_t batch_max = knob(m, READ_BATCH_END) ? last_index - 1 : last_index;
	int ret;

	do {
		filemap_get_read_batch(mapping, index, batch_max, fbatch);
		if (!fbatch->nr) {
			DEFINE_READAHEAD(ractl, file, &file->f_ra, mapping, index);

			if (iocb->ki_flags & IOCB_NOIO)
				return -EAGAIN;
			page_cache_sync_ra(&ractl, last_index - index);
			filemap_get_read_batch(mapping, index, batch_max, fbatch);
		}
		if (!fbatch->nr) {
			ret = filemap_create_folio(iocb, fbatch);
			if (ret <= 0)
				return ret;
			continue;
		}
		ret = finish_last_folio(iocb, count, fbatch, last_index, need_uptodate);
	} while (ret == AOP_TRUNCATED_PAGE);
	if (!ret)
		trace_get_pages(m, mapping, index, last_index);
	return ret;
}

static bool pos_same_folio(loff_t pos1, loff_t pos2, const struct folio *folio)
{
	unsigned int shift = folio_shift(folio);

	return pos1 >> shift == pos2 >> shift;
}

static size_t copy_folio_to_iter(struct machine *m, struct folio *folio, size_t offset,
				 size_t bytes, struct iov_iter *iter)
{
	const char *from = folio_address(folio);

	charge2(m, COST_COPY_FOLIO, 1, COST_COPY_BYTE, bytes);
	if (!bytes) /* the folio behind the request that v6.1 still has in its batch */
		return 0;
	page_state_use(m, folio, offset, bytes);
	if (from && iter->ubuf)
		memcpy(iter->ubuf, from + offset, bytes);
	if (iter->ubuf)
		iter->ubuf += bytes;
	iter->count -= bytes;
	return bytes;
}

/* Copy what the batch has of [ki_pos, end); returns the bytes. */
static ssize_t copy_batch(struct machine *m, struct kiocb *iocb, struct iov_iter *iter,
			  struct folio_batch *fbatch, loff_t end, loff_t *last_pos)
{
	ssize_t copied = 0;

	if (!pos_same_folio(iocb->ki_pos, *last_pos - 1, fbatch->folios[0]))
		folio_mark_accessed(fbatch->folios[0]);
	for (unsigned int i = 0; i < fbatch->nr; i++) {
		struct folio *folio = fbatch->folios[i];
		size_t fsize = folio_size(folio);
		size_t offset = iocb->ki_pos & (fsize - 1);
		size_t bytes = min_t(loff_t, end - iocb->ki_pos, fsize - offset);

		if (end < folio_pos(folio))
			break;
		if (i > 0)
			folio_mark_accessed(folio);
		copied += copy_folio_to_iter(m, folio, offset, bytes, iter);
		iocb->ki_pos += bytes;
		*last_pos = iocb->ki_pos;
	}
	return copied;
}

static void put_batch(struct folio_batch *fbatch)
{
	for (unsigned int i = 0; i < fbatch->nr; i++)
		folio_put(fbatch->folios[i]);
	fbatch->nr = 0;
}

ssize_t filemap_read(struct kiocb *iocb, struct iov_iter *iter, ssize_t already_read)
{
	struct file *filp = iocb->ki_filp;
	struct address_space *mapping = filp->f_mapping;
	struct inode *inode = mapping->host;
	struct machine *m = mapping_machine(mapping);
	loff_t once = filp->f_ra.prev_pos;
	loff_t *last_pos = knob(m, PREV_POS_ONCE) ? &once : &filp->f_ra.prev_pos;
	struct folio_batch fbatch;
	int error = 0;

	if (iocb->ki_pos >= inode->i_sb->s_maxbytes || !iter->count)
		return 0;
	iter->count = min_t(u64, iter->count, inode->i_sb->s_maxbytes - iocb->ki_pos);
	folio_batch_init(m, &fbatch);
	while (iter->count && iocb->ki_pos < i_size_read(inode) && !error) {
		loff_t isize;

		error = filemap_get_pages(iocb, iter->count, &fbatch, false);
		if (error < 0)
			break;
		isize = i_size_read(inode);
		if (iocb->ki_pos < isize)
			already_read += copy_batch(m, iocb, iter, &fbatch,
						   min_t(loff_t, isize, iocb->ki_pos + iter->count),
						   last_pos);
		put_batch(&fbatch);
	}
	filp->f_ra.prev_pos = *last_pos;
	return already_read ? already_read : error;
}

/*
 * The folio that a read of @count bytes at the file position would find as its whole batch, with
 * nothing to do but copy: uptodate, unmarked, accessed by the read before. NULL if there is none.
 */
static struct folio *plain_hit(const struct file *file, size_t count)
{
	struct address_space *mapping = file->f_mapping;
	struct machine *m = mapping_machine(mapping);
	loff_t pos = file->f_pos;
	struct folio *folio = xa_load(&mapping->i_pages, pos >> m->page_shift);

	if (!folio || xa_is_value(folio) || !folio_test_uptodate(folio) ||
	    folio_test_readahead(folio) || count >= folio_size(folio))
		return NULL;
	return pos_same_folio(pos, file->f_ra.prev_pos - 1, folio) ? folio : NULL;
}

/* Where reads stop being plain: at the folio's or the file's end; a page earlier on v6.1. */
static loff_t plain_end(const struct file *file, const struct folio *folio)
{
	const struct machine *m = folio_machine(folio);
	loff_t end = folio_pos(folio) + folio_size(folio);

	if (!knob(m, READ_BATCH_END))
		end -= m->page_size;
	return min(end, i_size_read(file->f_inode));
}

u64 filemap_read_plain(struct file *file, size_t count, u64 n)
{
	struct machine *m = mapping_machine(file->f_mapping);
	struct folio *folio;
	loff_t end;

	if (m->data || m->trace.sinks || m->sched || m->next_io_ps != ~0ULL || !count)
		return 0;
	folio = plain_hit(file, count);
	end = folio ? plain_end(file, folio) : 0;
	if (end - file->f_pos < (loff_t)count)
		return 0;
	n = min(n, (u64)(end - file->f_pos) / count);
	charge2(m, COST_GET_PAGES, n, COST_READ_BATCH, n);
	charge2(m, COST_COPY_FOLIO, n, COST_COPY_BYTE, n * count);
	trace_count_many(&m->trace, EV_mm_filemap_get_pages, n);
	page_state_use(m, folio, file->f_pos & (folio_size(folio) - 1), n * count);
	file->f_pos += n * count;
	file->f_ra.prev_pos = file->f_pos;
	return n;
}

/* Hand the folios of a batch to the pipe; returns the bytes. */
static size_t splice_batch(struct machine *m, struct file *in, loff_t *ppos, size_t len,
			   struct folio_batch *fbatch, loff_t isize)
{
	size_t total = 0;

	for (unsigned int i = 0; i < fbatch->nr && len; i++) {
		struct folio *folio = fbatch->folios[i];
		size_t offset = *ppos & (folio_size(folio) - 1), n;

		if (folio_pos(folio) >= isize)
			break;
		folio_mark_accessed(folio);
		n = min(len, folio_size(folio) - offset);
		n = min_t(loff_t, n, isize - *ppos);
		charge(m, COST_COPY_FOLIO, 1);
		page_state_use(m, folio, offset, n);
		len -= n;
		total += n;
		*ppos += n;
		in->f_ra.prev_pos = *ppos;
	}
	return total;
}

ssize_t filemap_splice_read(struct file *in, loff_t *ppos, size_t len)
{
	struct inode *inode = in->f_mapping->host;
	struct machine *m = mapping_machine(in->f_mapping);
	struct kiocb iocb = {.ki_filp = in};
	struct folio_batch fbatch;
	size_t total = 0;
	int error = 0;

	if (*ppos >= inode->i_sb->s_maxbytes)
		return 0;
	folio_batch_init(m, &fbatch);
	while (len && *ppos < i_size_read(inode)) {
		size_t n;

		iocb.ki_pos = *ppos;
		error = filemap_get_pages(&iocb, len, &fbatch, true);
		if (error < 0)
			break;
		n = splice_batch(m, in, ppos, len, &fbatch, i_size_read(inode));
		put_batch(&fbatch);
		total += n;
		len -= n;
		if (!n)
			break;
	}
	return total ? (ssize_t)total : error;
}
