/*
 * posix_fadvise(2).
 *
 * Mirrors mm/fadvise.c.
 */
#include <errno.h>

#include "mm/internal.h"

static void fadvise_willneed(struct file *file, loff_t offset, loff_t endbyte)
{
	struct address_space *mapping = file->f_mapping;
	unsigned int shift = mapping_machine(mapping)->page_shift;
	pgoff_t start_index = offset >> shift, end_index = endbyte >> shift;
	unsigned long nrpages = end_index - start_index + 1;
	DEFINE_READAHEAD(ractl, file, &file->f_ra, mapping, start_index);
	struct machine *m = mapping_machine(mapping);
	u64 start_ps = m->clock_ps;

	if (!nrpages)
		nrpages = ~0UL;
	ractl.provenance = PROVENANCE_WILLNEED;
	force_page_cache_ra(&ractl, nrpages);
	m->mm->ra_ps += m->clock_ps - start_ps;
}

/* First and last page that lie wholly inside; false if there are none. */
static bool dontneed_range(const struct inode *inode, unsigned int shift, loff_t offset,
			   loff_t endbyte, pgoff_t *start_index, pgoff_t *end_index)
{
	u64 mask = (1UL << shift) - 1;

	*start_index = ((u64)offset + mask) >> shift;
	*end_index = (u64)endbyte >> shift;
	if ((endbyte & mask) != mask && endbyte != inode->i_size - 1) {
		if (*end_index == 0)
			return false;
		(*end_index)--;
	}
	return *end_index >= *start_index;
}

static void fadvise_dontneed(struct file *file, loff_t offset, loff_t endbyte)
{
	struct address_space *mapping = file->f_mapping;
	struct machine *m = mapping_machine(mapping);
	unsigned long nr_failed = 0;
	pgoff_t start_index, end_index;

	__filemap_fdatawrite_range(mapping, offset, endbyte);
	if (!dontneed_range(mapping->host, m->page_shift, offset, endbyte, &start_index,
			    &end_index))
		return;
	lru_add_drain(m);
	mapping_try_invalidate(mapping, start_index, end_index, &nr_failed);
	if (!nr_failed)
		return;
	lru_add_drain(m);
	mapping_try_invalidate(mapping, start_index, end_index, NULL);
}

static void set_readahead_mode(struct file *file, unsigned int factor)
{
	const struct machine *m = mapping_machine(file->f_mapping);

	file->f_ra.ra_pages = inode_to_bdi(file->f_mapping->host)->ra_pages * factor;
	file->f_mode &= ~FMODE_RANDOM;
	if (factor == 1 && knob(m, NOREUSE))
		file->f_mode &= ~FMODE_NOREUSE;
}

int vfs_fadvise(struct file *file, loff_t offset, loff_t len, int advice)
{
	loff_t endbyte;

	if (offset < 0 || len < 0)
		return -EINVAL;
	/* An overflowing or empty length reaches to the end; the last byte is inclusive. */
	endbyte = (u64)offset + (u64)len;
	if (!len || endbyte < len)
		endbyte = INT64_MAX;
	else
		endbyte--;
	if (!inode_to_bdi(file->f_inode)->capabilities) /* noop_backing_dev_info */
		return advice <= POSIX_FADV_NOREUSE_ ? 0 : -EINVAL;
	switch (advice) {
	case POSIX_FADV_NORMAL_:
		set_readahead_mode(file, 1);
		break;
	case POSIX_FADV_SEQUENTIAL_:
		set_readahead_mode(file, 2);
		break;
	case POSIX_FADV_RANDOM_:
		file->f_mode |= FMODE_RANDOM;
		break;
	case POSIX_FADV_WILLNEED_:
		fadvise_willneed(file, offset, endbyte);
		break;
	case POSIX_FADV_NOREUSE_:
		if (knob(mapping_machine(file->f_mapping), NOREUSE))
			file->f_mode |= FMODE_NOREUSE;
		break;
	case POSIX_FADV_DONTNEED_:
		fadvise_dontneed(file, offset, endbyte);
		break;
	default:
		return -EINVAL;
	}
	return 0;
}
