/*
 * Mirrors fs/ext4/ext4_jbd2.c: how the data of an inode goes through the journal, and handles.
 */
#include "fs/ext4/ext4_jbd2.h"

#include <errno.h>

#include "fs/ext4/ondisk.h"

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

bool ext4_should_dioread_nolock(const struct inode *inode)
{
	return test_opt(inode->i_sb, EXT4_MOUNT_DIOREAD_NOLOCK) &&
	       inode->i_flags & EXT4_EXTENTS_FL && !ext4_should_journal_data(inode) &&
	       test_opt(inode->i_sb, EXT4_MOUNT_DELALLOC);
}

/* ---- handles ---- */

int ext4_journal_start_with_reserve(struct inode *inode, enum ext4_handle_type type, int blocks,
				    int rsv_blocks, handle_t **handle)
{
	journal_t *journal = ext4_journal(inode);

	*handle = NULL;
	return journal ? jbd2__journal_start(journal, blocks, rsv_blocks, type, handle) : 0;
}

int ext4_journal_stop(handle_t *handle)
{
	return handle ? jbd2_journal_stop(handle) : 0;
}

int ext4_journal_ensure_credits(handle_t *handle, int credits)
{
	if (!handle || handle->h_total_credits >= credits)
		return 0;
	return jbd2_journal_extend(handle, credits - handle->h_total_credits);
}

int ext4_journal_ensure_credits_restart(handle_t *handle, int credits)
{
	int ret = ext4_journal_ensure_credits(handle, credits);

	return ret > 0 ? jbd2__journal_restart(handle, credits) : ret;
}

int ext4_journal_ensure_extent_credits(handle_t *handle, struct inode *inode)
{
	int ret;

	if (!handle || !knob(inode->i_sb->s_machine, EXT4_EXTEND_HANDLE))
		return 0;
	ret = ext4_journal_ensure_credits(handle, ext4_chunk_trans_extent(inode, 1));
	return ret > 0 ? -EAGAIN : ret;
}

int ext4_handle_dirty_metadata(handle_t *handle, const struct inode *inode, u64 blocknr)
{
	int ret;

	if (!handle)
		return 0;
	ret = jbd2_journal_dirty_metadata(handle, blocknr);
	if (ret == -ENOSPC)
		jbd2_journal_abort(ext4_journal(inode), ret);
	return ret;
}

int ext4_mark_inode_dirty(handle_t *handle, struct inode *inode)
{
	struct ext4_inode_info *ei = EXT4_I(inode);

	if (!handle)
		return 0;
	ei->i_sync_tid = ei->i_datasync_tid = handle->h_transaction->t_tid;
	return ext4_handle_dirty_metadata(handle, inode, ext4_inode_block(inode));
}

int ext4_dirty_inode(struct inode *inode)
{
	handle_t *handle;
	int ret = ext4_journal_start(inode, EXT4_HT_INODE, 2, &handle);

	if (ret)
		return ret;
	ret = ext4_mark_inode_dirty(handle, inode);
	ext4_journal_stop(handle);
	return ret;
}

void ext4_jbd2_inode_add_write(handle_t *handle, struct inode *inode, loff_t start, loff_t len)
{
	if (handle && ext4_inode_journal_mode(inode) == EXT4_INODE_ORDERED_DATA_MODE)
		jbd2_journal_inode_ranged_write(handle, &EXT4_I(inode)->jinode, start, len);
}
