/*
 * fs/iomap/ifs.h - struct iomap_folio_state, for the files of fs/iomap/ only.
 *
 * Mirrors    fs/iomap/buffered-io.c ifs_alloc() and the helpers around it.
 */
#ifndef FL_FS_IOMAP_IFS_H
#define FL_FS_IOMAP_IFS_H

#include "fs/iomap/iomap.h"

static inline unsigned int i_blocks_per_folio(const struct inode *inode, const struct folio *folio)
{
	return folio_size(folio) >> inode->i_blkbits;
}

static inline struct iomap_folio_state *folio_ifs(const struct folio *folio)
{
	return folio_test_private(folio) ? folio->private : NULL;
}

/* The folio's state, attached now if it has several blocks and none yet. NULL: none needed. */
struct iomap_folio_state *ifs_alloc(struct folio *folio);
void ifs_free(struct folio *folio);

bool ifs_block_is_uptodate(const struct folio *folio, unsigned int block);
bool ifs_block_is_dirty(const struct folio *folio, unsigned int block);
void iomap_set_range_uptodate(struct folio *folio, size_t off, size_t len);
void iomap_set_range_dirty(struct folio *folio, size_t off, size_t len);
void iomap_clear_range_dirty(struct folio *folio, size_t off, size_t len);

#endif
