/*
 * fs/ext4/ext4.h - ext4: large folios for regular files since v6.16.
 *
 * Mirrors    fs/ext4/ext4.h, super.c, inode.c, ext4_jbd2.c, readpage.c, page-io.c, extents.c,
 *            inline.c, file.c; who gets which folio orders is ext4_set_inode_mapping_order().
 * Invariant  a delayed block has no place on disk; writeback gives it one.
 * Owner      struct ext4_sb_info belongs to its super block.
 * Errors     0 or -errno; -ENOSPC when the disk is full.
 * Differs    the journal holds what fs/ext4/ondisk.h lays out, and no inline data; inodes have 256
 *            bytes, and what they keep inline becomes a block's when it no longer fits, not at the
 *            next writeback; clusters of bigalloc are reserved as such but allocated block by
 *            block; delayed allocation goes on when the disk is nearly full.
 */
#ifndef FL_FS_EXT4_EXT4_H
#define FL_FS_EXT4_EXT4_H

#include "fs/balloc.h"
#include "fs/buffer.h"
#include "fs/jbd2/jbd2.h"
#include "lib/error.h"

/* Features of a super block, by the names of mke2fs -O. */
enum ext4_feature {
	EXT4_FEATURE_HAS_JOURNAL = 0x01,
	EXT4_FEATURE_EXTENTS = 0x02,
	EXT4_FEATURE_VERITY = 0x04,
	EXT4_FEATURE_ENCRYPT = 0x08,
	EXT4_FEATURE_INLINE_DATA = 0x10,
	EXT4_FEATURE_BIGALLOC = 0x20,
};

/* Mount options; the three of data= exclude each other. */
enum ext4_mount_opt {
	EXT4_MOUNT_JOURNAL_DATA = 0x01,
	EXT4_MOUNT_ORDERED_DATA = 0x02,
	EXT4_MOUNT_WRITEBACK_DATA = 0x04,
	EXT4_MOUNT_DATA_FLAGS = 0x07,
	EXT4_MOUNT_DELALLOC = 0x08,
	EXT4_MOUNT_DIOREAD_NOLOCK = 0x10,
};

/* i_flags: those of the disk, and states of an inode in memory above them. */
#define EXT4_ENCRYPT_FL		   0x00000800UL
#define EXT4_JOURNAL_DATA_FL	   0x00004000UL
#define EXT4_EXTENTS_FL		   0x00080000UL
#define EXT4_VERITY_FL		   0x00100000UL
#define EXT4_INLINE_DATA_FL	   0x10000000UL
#define EXT4_STATE_DA_ALLOC_CLOSE  (1UL << 32) /* truncated to nothing: flush at close */
#define EXT4_STATE_MAY_INLINE_DATA (1UL << 33) /* tries to stay inline */

/* What a new file takes over from its directory. fs/ext4/ext4.h EXT4_FL_INHERITED. */
#define EXT4_FL_INHERITED (EXT4_JOURNAL_DATA_FL | EXT4_ENCRYPT_FL)

/* How a file system was made and mounted. */
struct ext4_mount_config {
	u32 features;		 /* enum ext4_feature */
	u32 opts;		 /* enum ext4_mount_opt */
	bool delalloc_given;	 /* delalloc stands in the options, it is not just the default */
	bool data_given;	 /* so does data= */
	u32 cluster_blocks;	 /* of bigalloc; 0: as mke2fs does unasked, 16 */
	unsigned long dir_flags; /* i_flags of the directory that holds the files */
	u64 journal_bytes;	 /* mke2fs -J size=; 0: its default */
};

struct ext4_sb_info {
	struct ext4_mount_config config;
	/* Orders of this super block's mappings where the kernel decides once (EXT4_BS_GT_PS). */
	unsigned int s_min_folio_order, s_max_folio_order;
	journal_t *s_journal;		 /* NULL without one */
	struct recovery_info s_recovery; /* what mounting found in it */
	/* What mke2fs laid out; places in blocks of the disk (fs/ext4/ondisk.h). */
	u64 s_blocks_count, s_blocks_per_group, s_groups_count, s_gdb_count, s_desc_per_block;
	unsigned int s_journal_blocks;
	u64 s_gdt_at, s_bitmaps_at, s_inodes_at, s_tree_at;
	struct block_space s_tree_space;    /* blocks of extent trees, from s_tree_at on */
	struct list_head s_freed_data_list; /* freed, and not on disk yet */
};

/* Which block of the extent tree holds which part of the file. */
struct ext4_ext_leaf {
	u64 lblk, blocknr; /* of the first file block it is for */
};

struct ext4_ext_tree {
	struct ext4_ext_leaf *leaves; /* none while the root has room for all */
	unsigned int nr_leaves;
	u64 *index[4]; /* blocks of the levels above, lowest first */
	unsigned int nr_index[4];
};

/* inode->i_private */
struct ext4_inode_info {
	struct jbd2_inode jinode;
	struct ext4_ext_tree tree;
	tid_t i_sync_tid, i_datasync_tid; /* what fsync waits for */
	u64 i_mtime_tick;		  /* jiffy of the last change, 0: none yet */
};

enum ext4_journal_mode {
	EXT4_INODE_JOURNAL_DATA_MODE,
	EXT4_INODE_ORDERED_DATA_MODE,
	EXT4_INODE_WRITEBACK_DATA_MODE,
};

/* Longest extent writeback maps at once. fs/ext4/inode.c MAX_WRITEPAGES_EXTENT_LEN. */
#define MAX_WRITEPAGES_EXTENT_LEN 2048

static inline struct ext4_sb_info *EXT4_SB(const struct super_block *sb)
{
	return sb->s_fs_info;
}

static inline struct ext4_inode_info *EXT4_I(const struct inode *inode)
{
	return inode->i_private;
}

/* Extents one block of the tree has room for. */
static inline unsigned int ext4_extents_per_block(const struct inode *inode)
{
	return ((1u << inode->i_blkbits) - 12) / 12;
}

static inline bool ext4_has_feature(const struct super_block *sb, enum ext4_feature feature)
{
	return EXT4_SB(sb)->config.features & feature;
}

static inline bool test_opt(const struct super_block *sb, enum ext4_mount_opt opt)
{
	return EXT4_SB(sb)->config.opts & opt;
}

/* ---- super.c ---- */

/* What mke2fs and mount do unasked: a journal, extents, data=ordered, delalloc. */
void ext4_mount_config_init(struct ext4_mount_config *config);
/*
 * Comma-separated words on top of what @config says: features as in mke2fs -O ("verity",
 * "^has_journal", "ext2"), options as in mount -o ("data=journal,nodelalloc"), flags of the
 * directory as lsattr names them ("journal_data", "encrypt"). -EINVAL with @err.
 */
int ext4_parse_features(struct ext4_mount_config *config, const char *text, struct fl_error *err);
int ext4_parse_options(struct ext4_mount_config *config, const char *text, struct fl_error *err);
int ext4_parse_flags(struct ext4_mount_config *config, const char *text, struct fl_error *err);

/* The features among the three masks of a super block on disk. */
u32 ext4_features_of_masks(u32 compat, u32 incompat, u32 ro_compat);

/*
 * Fill @sb, whose block size is set. @config NULL: the defaults. -EINVAL: what this kernel does not
 * mount. fs/ext4/super.c ext4_fill_super().
 */
int ext4_fill_super(struct super_block *sb, const struct ext4_mount_config *config,
		    struct fl_error *err);
void ext4_put_super(struct super_block *sb);

/* ---- ext4_jbd2.c ---- */

enum ext4_journal_mode ext4_inode_journal_mode(const struct inode *inode);
static inline bool ext4_should_journal_data(const struct inode *inode)
{
	return ext4_inode_journal_mode(inode) == EXT4_INODE_JOURNAL_DATA_MODE;
}
/* Does writeback allocate unwritten extents and convert them once the data is on disk? */
bool ext4_should_dioread_nolock(const struct inode *inode);

/* ---- inode.c ---- */

/* The inode has these i_flags on disk; orders and operations follow. Nothing is cached yet. */
void ext4_set_inode_flags(struct inode *inode, u32 flags);
/* A new file: flags from its directory, orders, operations. fs/ext4/ialloc.c __ext4_new_inode(). */
int ext4_init_inode(struct inode *inode);
/* Its extents are as mkfs would have left them. */
int ext4_settle_inode(struct inode *inode);
/* Its memory goes; nothing is written. */
void ext4_free_inode(struct inode *inode);
/*
 * The inode leaves memory and is read from disk again, its cache gone: what unmounting and mounting
 * does to it. Its flags stay. fs/ext4/inode.c __ext4_iget().
 */
int ext4_reread_inode(struct inode *inode);
/* Which orders the kernel gives the inode's folios, and none at all where it says so. */
void ext4_set_inode_mapping_order(struct inode *inode);
/*
 * chattr +j and -j on a file in use: 0 or what writing it back failed with. Whether its orders and
 * its cache follow depends on EXT4_JFLAG_LIVE. fs/ext4/inode.c ext4_change_inode_journal_flag().
 */
int ext4_change_inode_journal_flag(struct inode *inode, bool val);

/* The three ways a file is written; i_data.a_ops is one of them. */
extern const struct address_space_operations ext4_aops, ext4_da_aops, ext4_journalled_aops;

/* What one look into the extents says about the blocks from m_lblk on. */
struct ext4_map_blocks {
	u64 m_pblk, m_lblk, m_len;
	bool mapped;   /* written blocks; holes, unwritten and delayed ones are not */
	bool boundary; /* the next block needs another indirect block */
};

/* Look up at most map->m_len blocks from map->m_lblk on, make none; counts as one lookup. */
void ext4_map_blocks(struct inode *inode, struct ext4_map_blocks *map);

/* Levels of the extent tree below the root, as it is now. */
int ext_depth(const struct inode *inode);

/* ---- readpage.c, page-io.c, file.c ---- */

/*
 * Read the folios of @rac, or the single @folio where @rac is NULL. 0 or -ENOMEM; what could not
 * be read is unlocked and not uptodate. fs/ext4/readpage.c ext4_mpage_readpages().
 */
int ext4_mpage_readpages(struct inode *inode, struct readahead_control *rac, struct folio *folio);

/* How a write through a mapping, or one from within, makes blocks: at once, or delayed. */
get_block_t ext4_write_get_block(const struct inode *inode);

/* Look a block up, with @create make it at once: only written blocks are mapped. */
int ext4_get_block(struct inode *inode, u64 iblock, struct buffer_head *bh, bool create);
/* The block for a delayed write: a hole is reserved, not placed. */
int ext4_da_get_block_prep(struct inode *inode, u64 iblock, struct buffer_head *bh, bool create);

/*
 * Give the delayed or unwritten blocks from @lblk on a place, at most @len and in one piece, or at
 * once the state of written ones; @unwritten: they stay unwritten until their data is on disk.
 * Returns how many, or -errno. The part of ext4_map_blocks(EXT4_GET_BLOCKS_CREATE) writeback uses.
 */
s64 ext4_map_create_blocks(handle_t *handle, struct inode *inode, u64 lblk, u64 len, bool unwritten,
			   u64 *pblk);

int ext4_sync_file(struct file *file);

/* ---- writeback.c, page-io.c ---- */

/* fs/ext4/inode.c ext4_writepages() */
int ext4_writepages(struct address_space *mapping, struct writeback_control *wbc);
/* What a transaction in ordered mode has to wait for: blocks that have their place, and no others.
 */
int ext4_submit_inode_data(struct jbd2_inode *jinode);
int ext4_finish_inode_data(struct jbd2_inode *jinode);

/* Zero [from, end), which lies inside one block; a hole stays one. ext4_block_zero_page_range(). */
int ext4_block_zero_range(struct inode *inode, loff_t from, loff_t end);
/* Zero [from, end of its block). fs/ext4/inode.c ext4_block_truncate_page(). */
int ext4_block_truncate_page(struct inode *inode, loff_t from);

/* ---- inline.c ---- */

/* Are the file's bytes in its inode? */
static inline bool ext4_has_inline_data(const struct inode *inode)
{
	return inode->i_flags & EXT4_INLINE_DATA_FL;
}
/* The inode of a disk has these bytes in it, the first of the file. 0 or -ENOMEM. */
int ext4_set_inline_data(struct inode *inode, const void *buf, u32 len);
/* Read a locked folio of such a file, whole, without I/O; unlocks it. */
void ext4_readpage_inline(const struct inode *inode, struct folio *folio);
/*
 * Begin a write: 1 with @foliop locked and uptodate if the bytes will stay in the inode, for
 * ext4_write_inline_data_end(); 0 if the write goes on as any other, what was inline being in page
 * 0 by now; or -errno.
 */
int ext4_try_to_write_inline_data(struct inode *inode, loff_t pos, unsigned int len,
				  get_block_t get_block, struct folio **foliop);
void ext4_write_inline_data_end(struct inode *inode, loff_t pos, unsigned int copied,
				struct folio *folio);
/* Before something that needs blocks: the bytes go to page 0 and will not come back. */
int ext4_convert_inline_data(struct inode *inode);
/* The file will be @size long; call it before the size changes. May convert. */
int ext4_inline_data_truncate(struct inode *inode, loff_t size);

/*
 * EXT4_IOC_MOVE_EXT: exchange the blocks of [orig_lblk, orig_lblk + len) with those of the donor
 * from @donor_lblk on; the data of @orig stays. Holes of either stay where they are. 0, -EINVAL,
 * -EOPNOTSUPP, -EBUSY, -ENOSPC, -EIO, -ENOMEM. fs/ext4/move_extent.c ext4_move_extents()
 */
int ext4_move_extents(struct inode *orig, struct inode *donor, u64 orig_lblk, u64 donor_lblk,
		      u64 len);

/* fs/ext4/file.c and extents.c */
ssize_t ext4_buffered_write_iter(struct kiocb *iocb, struct iov_iter *iter);
/* Blocks behind the end of the file go; its last block ends in zeros. */
int ext4_truncate(struct inode *inode);
int ext4_setattr_size(struct inode *inode, loff_t size);
long ext4_fallocate(struct file *file, int mode, loff_t offset, loff_t len);
void ext4_release_file(struct inode *inode);

#endif
