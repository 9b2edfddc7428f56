/*
 * Mirrors fs/ext4/ext4_jbd2.c: how the data of an inode goes through the journal, and handles.
 */
#include "fs/ext4/ext4.h"

/* From 6.16 until EXT4_JFLAG_LIVE a file with large folios is not journalled, whatever its flag. */
static bool large_folios_veto(const struct inode *inode)
{
	return !knob(inode->i_sb->s_machine, EXT4_JFLAG_LIVE) &&
	       mapping_large_folio_support(inode->i_mapping);
}

enum ext4_journal_mode ext4_inode_journal_mode(const struct inode *inode)
{
	const struct super_block *sb = inode->i_sb;
	bool journal_data = test_opt(sb, EXT4_MOUNT_JOURNAL_DATA);

	if (!ext4_has_feature(sb, EXT4_FEATURE_HAS_JOURNAL))
		return EXT4_INODE_WRITEBACK_DATA_MODE;
	if (inode->i_flags & EXT4_JOURNAL_DATA_FL && !test_opt(sb, EXT4_MOUNT_DELALLOC) &&
	    !large_folios_veto(inode))
		journal_data = true;
	if (journal_data)
		return inode->i_flags & EXT4_ENCRYPT_FL ? EXT4_INODE_ORDERED_DATA_MODE
							: EXT4_INODE_JOURNAL_DATA_MODE;
	return test_opt(sb, EXT4_MOUNT_WRITEBACK_DATA) ? EXT4_INODE_WRITEBACK_DATA_MODE
						       : EXT4_INODE_ORDERED_DATA_MODE;
}

void ext4_journal_start(struct inode *inode)
{
	if (ext4_has_feature(inode->i_sb, EXT4_FEATURE_HAS_JOURNAL))
		charge(inode->i_sb->s_machine, COST_JOURNAL_START, 1);
}
