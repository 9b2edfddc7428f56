/*
 * read(2) from files in memory, in its four stages.
 *
 * Mirrors shmem_file_read_iter() of mm/shmem.c: page by page (up to v6.12), the same with its
 * position in ki_pos (SHMEM_READ_KIPOS), folio by folio as first posted (SHMEM_READ_V1) and as
 * merged (SHMEM_READ_FOLIO). Differs: the reader's memory may end early (iov_iter.short_mem).
 */
#include <errno.h>
#include <string.h>

#include "mm/internal.h"
#include "mm/shmem_fs.h"

struct shmem_reader {
	struct inode *inode;
	struct machine *m;
	struct iov_iter *to;
	loff_t pos;
	ssize_t retval;
};

/* Bytes that fit: what the reader still wants, as far as its memory goes. */
static size_t accessible(const struct iov_iter *to, size_t bytes)
{
	bytes = min(bytes, to->count);
	return to->short_mem ? min(bytes, to->mem) : bytes;
}

/* A copy call moves a page after the other. copy_folio_to_iter() */
static void copy_pages(char *to, const char *from, size_t n, size_t page_size)
{
	for (size_t part; n; n -= part, to += part, from += part) {
		part = min(n, page_size - ((uintptr_t)from & (page_size - 1)));
		memcpy(to, from, part);
	}
}

/* One copy call of @bytes from @offset of the folio (NULL: zeros); returns what arrived. */
static size_t copy_to_iter(struct shmem_reader *r, struct folio *folio, size_t offset, size_t bytes)
{
	struct iov_iter *to = r->to;
	size_t n = accessible(to, bytes);
	const char *from = folio ? folio_address(folio) : NULL;

	charge2(r->m, COST_COPY_FOLIO, 1, COST_SHMEM_COPY_BYTE, n);
	trace_event(&r->m->trace, EV_fl_shmem_copy, folio ? folio->_order : 0, r->inode->i_ino,
		    r->pos, bytes, n);
	if (n && folio)
		page_state_use(r->m, folio, offset, n);
	if (n && to->ubuf && from)
		copy_pages(to->ubuf, from + offset, n, r->m->page_size);
	else if (n && to->ubuf && r->m->data)
		memset(to->ubuf, 0, n);
	if (to->ubuf)
		to->ubuf += n;
	to->count -= n;
	to->mem -= to->short_mem ? n : 0;
	return n;
}

/* The folio over the position, unlocked; NULL for a hole. -EINVAL: the end of the file. */
static int lookup(struct shmem_reader *r, struct folio **foliop)
{
	int error;

	shmem_between(r->inode);
	error = shmem_get_folio(r->inode, r->pos >> r->m->page_shift, 0, foliop, SGP_READ);
	if (!error && *foliop)
		folio_unlock(*foliop);
	return error;
}

/*
 * Copy @nr bytes at the position and move on. The folio counts as used once a @fsize unit, at its
 * start. False if the copy ended the read; *error tells why.
 */
static bool copy_piece(struct shmem_reader *r, struct folio *folio, size_t fsize, size_t nr,
		       int *error)
{
	size_t in_unit = r->pos & (fsize - 1), ret;

	if (folio && !in_unit)
		folio_mark_accessed(folio);
	ret = copy_to_iter(r, folio, folio ? r->pos & (folio_size(folio) - 1) : 0, nr);
	r->retval += ret;
	r->pos += ret;
	if (!r->to->count)
		return false;
	if (ret < nr)
		*error = -EFAULT;
	return ret == nr;
}

static void put(struct folio *folio)
{
	if (folio)
		folio_put(folio);
}

/* ---- page by page: up to v6.12 ---- */

/* One turn; false: the read is over. */
static bool read_page(struct shmem_reader *r, int *error)
{
	struct folio *folio;
	bool more = false;
	size_t nr;

	if (shmem_past_end_page(r->inode, r->pos) || !shmem_page_bytes(r->inode, r->pos))
		return false;
	*error = lookup(r, &folio);
	if (*error)
		return false;
	if (folio && folio_page_hwpoison(folio, r->pos >> r->m->page_shift)) {
		*error = -EIO;
		folio_put(folio);
		return false;
	}
	shmem_between(r->inode);
	nr = shmem_page_bytes(r->inode, r->pos);
	if (nr)
		more = copy_piece(r, folio, r->m->page_size, nr, error);
	put(folio);
	return more;
}

/* ---- with the position in ki_pos, and folio by folio: v6.13 ---- */

enum read_unit { UNIT_PAGE, UNIT_FOLIO, UNIT_FOLIO_V1 };

static enum read_unit read_unit(const struct machine *m)
{
	if (knob(m, SHMEM_READ_V1))
		return UNIT_FOLIO_V1;
	return knob(m, SHMEM_READ_FOLIO) ? UNIT_FOLIO : UNIT_PAGE;
}

/* How much of the folio one turn covers, or 0 if the page at the position cannot be read. */
static size_t turn_size(const struct shmem_reader *r, const struct folio *folio,
			enum read_unit unit)
{
	bool poison = folio && folio_contain_hwpoisoned_page(folio);

	if (folio &&
	    (unit == UNIT_FOLIO_V1 ? poison
				   : folio_page_hwpoison(folio, r->pos >> r->m->page_shift)))
		return 0;
	if (!folio || unit == UNIT_PAGE || poison)
		return r->m->page_size;
	return folio_size(folio);
}

/* One turn; false: the read is over. */
static bool read_folio(struct shmem_reader *r, enum read_unit unit, int *error)
{
	struct folio *folio;
	bool more = false;
	size_t fsize;
	loff_t end;

	if (r->pos >= i_size_read(r->inode))
		return false;
	*error = lookup(r, &folio);
	if (*error)
		return false;
	fsize = turn_size(r, folio, unit);
	if (!fsize) {
		*error = -EIO;
		folio_put(folio);
		return false;
	}
	shmem_between(r->inode);
	end = min_t(loff_t, i_size_read(r->inode), r->pos + r->to->count);
	if (r->pos < end)
		more = copy_piece(r, folio, fsize,
				  min_t(size_t, end - r->pos, fsize - (r->pos & (fsize - 1))),
				  error);
	put(folio);
	return more;
}

ssize_t shmem_file_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct inode *inode = iocb->ki_filp->f_inode;
	struct shmem_reader r = {
		.inode = inode, .m = inode->i_sb->s_machine, .to = to, .pos = iocb->ki_pos};
	enum read_unit unit = read_unit(r.m);
	int error = 0;
	bool more = to->count != 0;

	while (more)
		more = knob(r.m, SHMEM_READ_KIPOS) ? read_folio(&r, unit, &error)
						   : read_page(&r, &error);
	iocb->ki_pos = r.pos;
	if (error == -EINVAL)
		error = 0;
	return r.retval ? r.retval : error;
}
