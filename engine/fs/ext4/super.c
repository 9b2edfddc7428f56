/*
 * Mirrors fs/ext4/super.c: features, mount options, and what a kernel refuses to mount.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fs/ext4/ext4.h"
#include "fs/ext4/ondisk.h"
#include "fs/extents.h"
#include "lib/strutil.h"
#include "mm/internal.h"

#define WORD_SHOWN 40

void ext4_mount_config_init(struct ext4_mount_config *config)
{
	*config = (struct ext4_mount_config){
		.features = EXT4_FEATURE_HAS_JOURNAL | EXT4_FEATURE_EXTENTS,
		.opts = EXT4_MOUNT_ORDERED_DATA | EXT4_MOUNT_DELALLOC | EXT4_MOUNT_DIOREAD_NOLOCK,
	};
}

/* fs/ext4/ext4.h EXT4_FEATURE_*. */
u32 ext4_features_of_masks(u32 compat, u32 incompat, u32 ro_compat)
{
	u32 features = 0;

	features |= compat & 0x4 ? EXT4_FEATURE_HAS_JOURNAL : 0;
	features |= incompat & 0x40 ? EXT4_FEATURE_EXTENTS : 0;
	features |= incompat & 0x8000 ? EXT4_FEATURE_INLINE_DATA : 0;
	features |= incompat & 0x10000 ? EXT4_FEATURE_ENCRYPT : 0;
	features |= ro_compat & 0x8000 ? EXT4_FEATURE_VERITY : 0;
	features |= ro_compat & 0x200 ? EXT4_FEATURE_BIGALLOC : 0;
	return features;
}

/* ---- words ---- */

/* A word and the bits it takes off and puts on. */
struct word {
	const char *name;
	u32 clear, set;
};

/* The next word of a comma-separated list; false at its end. */
static bool next_word(const char **text, const char **word, size_t *len)
{
	while (**text == ',')
		++*text;
	*word = *text;
	*len = strcspn(*text, ",");
	*text += *len;
	return *len != 0;
}

static const struct word *find_word(const struct word *table, size_t nr, const char *word,
				    size_t len)
{
	for (size_t i = 0; i < nr; i++)
		if (strlen(table[i].name) == len && !memcmp(table[i].name, word, len))
			return &table[i];
	return NULL;
}

static int unknown_word(struct fl_error *err, const char *option, const char *what,
			const char *word, size_t len, const struct word *table, size_t nr)
{
	const char *names[16];
	const struct name_list list = {.what = what, .names = names, .nr = nr};
	char text[400], bad[WORD_SHOWN + 1];

	for (size_t i = 0; i < nr; i++)
		names[i] = table[i].name;
	len = min(len, (size_t)WORD_SHOWN);
	memcpy(bad, word, len);
	bad[len] = 0;
	return fl_error_set(err, -EINVAL, option, 0, "%s",
			    describe_unknown(text, sizeof(text), bad, &list));
}

int ext4_parse_features(struct ext4_mount_config *config, const char *text, struct fl_error *err)
{
	static const struct word words[] = {
		{"has_journal", 0, EXT4_FEATURE_HAS_JOURNAL},
		{"extent", 0, EXT4_FEATURE_EXTENTS},
		{"verity", 0, EXT4_FEATURE_VERITY},
		{"encrypt", 0, EXT4_FEATURE_ENCRYPT},
		{"inline_data", 0, EXT4_FEATURE_INLINE_DATA},
		{"bigalloc", 0, EXT4_FEATURE_BIGALLOC},
		{"ext2", EXT4_FEATURE_HAS_JOURNAL | EXT4_FEATURE_EXTENTS, 0},
	};
	const char *word;
	size_t len;

	while (next_word(&text, &word, &len)) {
		bool off = *word == '^';
		const struct word *w = find_word(words, ARRAY_SIZE(words), word + off, len - off);

		if (!w || (off && w->clear))
			return unknown_word(err, "--features", "feature", word + off, len - off,
					    words, ARRAY_SIZE(words));
		config->features &= ~(off ? w->set : w->clear);
		config->features |= off ? 0 : w->set;
	}
	return 0;
}

int ext4_parse_options(struct ext4_mount_config *config, const char *text, struct fl_error *err)
{
	static const struct word words[] = {
		{"data=journal", EXT4_MOUNT_DATA_FLAGS, EXT4_MOUNT_JOURNAL_DATA},
		{"data=ordered", EXT4_MOUNT_DATA_FLAGS, EXT4_MOUNT_ORDERED_DATA},
		{"data=writeback", EXT4_MOUNT_DATA_FLAGS, EXT4_MOUNT_WRITEBACK_DATA},
		{"delalloc", 0, EXT4_MOUNT_DELALLOC},
		{"nodelalloc", EXT4_MOUNT_DELALLOC, 0},
		{"dioread_nolock", 0, EXT4_MOUNT_DIOREAD_NOLOCK},
		{"dioread_lock", EXT4_MOUNT_DIOREAD_NOLOCK, 0},
	};
	const char *word;
	size_t len;

	while (next_word(&text, &word, &len)) {
		const struct word *w = find_word(words, ARRAY_SIZE(words), word, len);

		if (!w)
			return unknown_word(err, "--mount-options", "mount option", word, len,
					    words, ARRAY_SIZE(words));
		config->opts = (config->opts & ~w->clear) | w->set;
		config->data_given |= w->set & EXT4_MOUNT_DATA_FLAGS;
		if ((w->set | w->clear) & EXT4_MOUNT_DELALLOC)
			config->delalloc_given = w->set;
	}
	return 0;
}

int ext4_parse_flags(struct ext4_mount_config *config, const char *text, struct fl_error *err)
{
	static const struct word words[] = {
		{"journal_data", 0, EXT4_JOURNAL_DATA_FL},
		{"encrypt", 0, EXT4_ENCRYPT_FL},
	};
	const char *word;
	size_t len;

	while (next_word(&text, &word, &len)) {
		const struct word *w = find_word(words, ARRAY_SIZE(words), word, len);

		if (!w)
			return unknown_word(err, "--dir-flags", "flag", word, len, words,
					    ARRAY_SIZE(words));
		config->dir_flags |= w->set;
	}
	return 0;
}

/* ---- mounting ---- */

static int refuse(struct fl_error *err, const char *option, const char *why)
{
	return fl_error_set(err, -EINVAL, option, 0, "%s", why);
}

/* data=journal takes no delayed allocation: the default gives way, an option excludes it. */
static int settle_options(struct ext4_mount_config *config, struct fl_error *err)
{
	if (config->data_given && !(config->features & EXT4_FEATURE_HAS_JOURNAL))
		return refuse(err, "--mount-options",
			      "data= without a journal, expected the feature has_journal");
	if (config->opts & EXT4_MOUNT_JOURNAL_DATA) {
		if (config->delalloc_given)
			return refuse(err, "--mount-options",
				      "data=journal with delalloc, expected one of the two");
		config->opts &= ~(EXT4_MOUNT_DELALLOC | EXT4_MOUNT_DIOREAD_NOLOCK);
	}
	if (config->dir_flags & EXT4_ENCRYPT_FL && !(config->features & EXT4_FEATURE_ENCRYPT))
		return refuse(err, "--dir-flags",
			      "an encrypted directory, expected the feature encrypt");
	return 0;
}

/* Blocks larger than a page need large folios everywhere. */
static int check_large_blocks(const struct super_block *sb, const struct ext4_mount_config *config,
			      struct fl_error *err)
{
	const struct machine *m = sb->s_machine;

	if (sb->s_blocksize_bits <= m->page_shift)
		return 0;
	if (!knob(m, EXT4_BS_GT_PS) || !knob(m, EXT4_LARGE))
		return fl_error_set(err, -EINVAL, "--block-size", 0,
				    "blocks of %u bytes are larger than a page, expected a kernel "
				    "with EXT4_BS_GT_PS (v7.3) for ext4",
				    1u << sb->s_blocksize_bits);
	if (config->features & EXT4_FEATURE_ENCRYPT)
		return refuse(err, "--features",
			      "encrypt with blocks larger than a page, expected smaller blocks");
	if (config->opts & EXT4_MOUNT_JOURNAL_DATA && !knob(m, EXT4_JDATA_BIG_BLOCK))
		return refuse(err, "--mount-options",
			      "data=journal with blocks larger than a page, expected smaller "
			      "blocks or EXT4_JDATA_BIG_BLOCK");
	return 0;
}

/* fs/ext4/super.c ext4_set_max_mapping_order(). Nothing in [0, 0] gets large folios. */
static void set_mapping_orders(struct super_block *sb)
{
	const struct machine *m = sb->s_machine;
	struct ext4_sb_info *sbi = EXT4_SB(sb);
	unsigned int bits = sb->s_blocksize_bits;

	sbi->s_min_folio_order = bits > m->page_shift ? bits - m->page_shift : 0;
	sbi->s_max_folio_order = 0;
	if (ext4_has_feature(sb, EXT4_FEATURE_ENCRYPT) || !knob(m, EXT4_LARGE))
		return;
	if (ext4_has_feature(sb, EXT4_FEATURE_VERITY) && !knob(m, EXT4_VERITY_LARGE))
		return;
	sbi->s_max_folio_order = test_opt(sb, EXT4_MOUNT_JOURNAL_DATA)
					 ? sbi->s_min_folio_order
					 : min(m->max_pagecache_order, 11 + bits - m->page_shift);
}

/* ---- the journal ---- */

/* What the journal of a file that is read or truncated meanwhile cannot find is what the disk has.
 */
static bool fill_journalled_data(struct inode *inode, u64 lblk, void *buf)
{
	unsigned int bits = inode->i_blkbits;
	u64 pos = lblk << bits;
	struct folio *folio =
		filemap_get_folio(inode->i_mapping, pos >> inode->i_sb->s_machine->page_shift);

	if (!folio)
		return false;
	memcpy(buf, (char *)folio_address(folio) + (pos - folio_pos(folio)), 1u << bits);
	folio_put(folio);
	return true;
}

/* It is in the log: what was the journal's to write is writeback's now. */
static void journalled_data_committed(struct inode *inode, u64 lblk)
{
	unsigned int bits = inode->i_blkbits;
	u64 pos = lblk << bits;
	struct folio *folio =
		filemap_get_folio(inode->i_mapping, pos >> inode->i_sb->s_machine->page_shift);
	struct buffer_head *bh = folio ? folio_buffers(folio) : NULL;

	if (bh)
		bh += (pos - folio_pos(folio)) >> bits;
	if (bh && buffer_jbddirty(bh) &&
	    !jbd2_journal_pending(EXT4_SB(inode->i_sb)->s_journal, bh->b_blocknr)) {
		clear_buffer_jbddirty(bh);
		set_buffer_dirty(bh);
	}
	if (folio)
		folio_put(folio);
}

static void journal_commit_callback(void *private, tid_t tid)
{
	ext4_process_freed_data(private, tid);
}

static const struct journal_operations ext4_journal_operations = {
	.fill = ext4_fill_metadata,
	.fill_data = fill_journalled_data,
	.data_committed = journalled_data_committed,
	.submit_inode_data = ext4_submit_inode_data,
	.finish_inode_data = ext4_finish_inode_data,
	.commit_callback = journal_commit_callback,
};

/* Replay what a crash left in the log. fs/ext4/super.c ext4_load_journal() */
static int ext4_load_journal(struct super_block *sb, struct fl_error *err)
{
	struct ext4_sb_info *sbi = EXT4_SB(sb);
	int ret;

	if (sbi->s_journal_blocks < JBD2_MIN_JOURNAL_BLOCKS)
		return fl_error_set(err, -EINVAL, "--journal", 0,
				    "a journal of %u blocks, expected at least %u (%u KiB)",
				    sbi->s_journal_blocks, JBD2_MIN_JOURNAL_BLOCKS,
				    JBD2_MIN_JOURNAL_BLOCKS << sb->s_blocksize_bits >> 10);
	ret = jbd2_journal_init_dev(sb->s_bdev, sbi->s_blocks_count, sbi->s_journal_blocks,
				    1u << sb->s_blocksize_bits, &ext4_journal_operations, sb,
				    &sbi->s_journal);
	/* The log of a new file system is empty: nothing has to be read to know it. */
	if (ret || !blk_was_written(sb->s_bdev))
		return ret;
	return jbd2_journal_recover(sbi->s_journal, &sbi->s_recovery);
}

static int make_layout(struct super_block *sb, struct fl_error *err)
{
	struct ext4_sb_info *sbi = EXT4_SB(sb);

	INIT_LIST_HEAD(&sbi->s_freed_data_list);
	sbi->s_journal_blocks =
		min_t(u64, sbi->config.journal_bytes >> sb->s_blocksize_bits, UINT32_MAX);
	ext4_set_geometry(sb, sb->s_space->free[0].len);
	sb->s_bdev->blank_from = sbi->s_blocks_count << sb->s_blocksize_bits;
	if (block_space_init(&sbi->s_tree_space, EXT4_TREE_BLOCKS))
		return -ENOMEM;
	return ext4_has_feature(sb, EXT4_FEATURE_HAS_JOURNAL) ? ext4_load_journal(sb, err) : 0;
}

void ext4_put_super(struct super_block *sb)
{
	struct ext4_sb_info *sbi = EXT4_SB(sb);
	struct ext4_free_data *fd, *next;

	jbd2_journal_destroy(sbi->s_journal);
	sbi->s_journal = NULL;
	if (!sbi->s_tree_space.free)
		return;
	list_for_each_entry_safe(fd, next, &sbi->s_freed_data_list, list)
		free(fd);
	block_space_fini(&sbi->s_tree_space);
}

int ext4_fill_super(struct super_block *sb, const struct ext4_mount_config *config,
		    struct fl_error *err)
{
	struct ext4_sb_info *sbi = calloc(1, sizeof(*sbi));
	int ret;

	if (!sbi)
		return -ENOMEM;
	sb->s_fs_info = sbi;
	/* fs/ext4/super.c ext4_max_size(): block numbers of a file have 32 bits. */
	sb->s_maxbytes = ((1LL << 32) - 1) << sb->s_blocksize_bits;
	if (config)
		sbi->config = *config;
	else
		ext4_mount_config_init(&sbi->config);
	if (!ext4_has_feature(sb, EXT4_FEATURE_BIGALLOC))
		sbi->config.cluster_blocks = 1;
	else if (!sbi->config.cluster_blocks)
		sbi->config.cluster_blocks = 16;
	ret = settle_options(&sbi->config, err);
	if (!ret)
		ret = check_large_blocks(sb, &sbi->config, err);
	if (ret)
		return ret;
	set_mapping_orders(sb);
	return make_layout(sb, err);
}
