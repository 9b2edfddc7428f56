/*
 * Writing through the page cache.
 *
 * Mirrors mm/filemap.c: __filemap_get_folio(), generic_perform_write().
 */
#include <errno.h>
#include <string.h>

#include "mm/internal.h"
#include "mm/writeback.h"

/* include/linux/pagemap.h fgf_set_order(): the order that @size would fill. */
static unsigned int hint_order(const struct machine *m, size_t size)
{
	if (size < 2 * m->page_size)
		return 0;
	return ilog2(size) - m->page_shift;
}

static unsigned int first_order(const struct address_space *mapping, pgoff_t index, size_t size)
{
	struct machine *m = mapping_machine(mapping);
	unsigned int order = max(mapping_min_folio_order(mapping), hint_order(m, size));

	order = min(order, mapping_max_folio_order(mapping));
	if (index & ((1UL << order) - 1))
		order = __ffs(index);
	return order;
}

/* Put a new folio at @index, from @order down to the smallest. -EEXIST: something is there. */
static int create_folio(struct address_space *mapping, pgoff_t index, unsigned int order,
			struct folio **ret)
{
	struct machine *m = mapping_machine(mapping);
	unsigned int min_order = mapping_min_folio_order(mapping);
	int err;

	do {
		gfp_t gfp = mapping_gfp_mask(mapping);
		struct folio *folio;

		if (order == 1 && !knob(m, ORDER1))
			order = 0;
		if (order > min_order)
			gfp |= __GFP_NORETRY | __GFP_NOWARN;
		err = -ENOMEM;
		folio = filemap_alloc_folio(m, gfp, order);
		if (!folio)
			continue;
		err = filemap_add_folio(mapping, folio, index, gfp, PROVENANCE_WRITE);
		if (!err) {
			*ret = folio;
			return 0;
		}
		folio_put(folio);
	} while (order-- > min_order);
	return err;
}

/* A cached folio, locked and still in place; false if it went away meanwhile. */
static bool lock_cached(struct address_space *mapping, struct folio *folio, int fgp_flags)
{
	if (!(fgp_flags & FGP_LOCK))
		return true;
	folio_lock(folio);
	if (folio->mapping == mapping)
		return true;
	folio_unlock(folio);
	folio_put(folio);
	return false;
}

int __filemap_get_folio(struct address_space *mapping, pgoff_t index, int fgp_flags,
			size_t size_hint, struct folio **ret)
{
	for (;;) {
		struct folio *folio = filemap_get_folio(mapping, index);
		int err;

		*ret = folio;
		if (folio) {
			if (lock_cached(mapping, folio, fgp_flags))
				return 0;
			continue;
		}
		if (!(fgp_flags & FGP_CREAT))
			return -ENOENT;
		index = round_down(index, mapping_min_folio_nrpages(mapping));
		err = create_folio(mapping, index, first_order(mapping, index, size_hint), ret);
		if (err != -EEXIST)
			return err;
	}
}

/* Bytes one turn of the write loop may cover. */
static size_t write_chunk(const struct address_space *mapping)
{
	const struct machine *m = mapping_machine(mapping);

	return knob(m, WRITE_LARGE_CHUNK) ? m->page_size << mapping_max_folio_order(mapping)
					  : m->page_size;
}

size_t copy_folio_from_iter(struct folio *folio, size_t offset, size_t bytes, struct iov_iter *iter)
{
	struct machine *m = folio_machine(folio);
	char *to = folio_address(folio);

	charge2(m, COST_COPY_FOLIO, 1, COST_COPY_BYTE, bytes);
	page_state_use(m, folio, offset, bytes);
	if (to && iter->ubuf)
		memcpy(to + offset, iter->ubuf, bytes);
	if (iter->ubuf)
		iter->ubuf += bytes;
	iter->count -= bytes;
	return bytes;
}

ssize_t generic_perform_write(struct kiocb *iocb, struct iov_iter *iter)
{
	struct address_space *mapping = iocb->ki_filp->f_mapping;
	const struct address_space_operations *a_ops = mapping->a_ops;
	size_t chunk = write_chunk(mapping);
	ssize_t written = 0;
	int status = 0;

	while (iter->count) {
		loff_t pos = iocb->ki_pos + written;
		size_t bytes = min(chunk - (pos & (chunk - 1)), iter->count), offset;
		struct folio *folio;

		balance_dirty_pages_ratelimited(mapping);
		charge(mapping_machine(mapping), COST_WRITE_TURN, 1);
		status = a_ops->write_begin(mapping, pos, bytes, &folio);
		if (status < 0)
			break;
		if (status)
			bytes = min_t(size_t, bytes, status);
		offset = pos & (folio_size(folio) - 1);
		bytes = min(bytes, folio_size(folio) - offset);
		copy_folio_from_iter(folio, offset, bytes, iter);
		status = a_ops->write_end(mapping, pos, bytes, bytes, folio);
		if (status < 0)
			break;
		written += status;
	}
	if (!written)
		return status;
	iocb->ki_pos += written;
	return written;
}
