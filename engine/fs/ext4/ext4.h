/*
 * fs/ext4/ext4.h - ext4: large folios for regular files since v6.16.
 *
 * Mirrors    fs/ext4/ext4.h, inode.c, readpage.c (the read side).
 * Differs    no journal and no write path yet; extents are those of the inode.
 */
#ifndef FL_FS_EXT4_EXT4_H
#define FL_FS_EXT4_EXT4_H

#include "mm/pagemap.h"

/* fs/ext4/inode.c ext4_set_inode_mapping_order() and ext4_set_aops(). */
void ext4_init_inode(struct inode *inode);

/*
 * Read the folios of @rac, or the single @folio where @rac is NULL. 0 or -ENOMEM; what could not
 * be read is unlocked and not uptodate. fs/ext4/readpage.c ext4_mpage_readpages().
 */
int ext4_mpage_readpages(struct inode *inode, struct readahead_control *rac, struct folio *folio);

#endif
