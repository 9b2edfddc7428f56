/*
 * Mirrors fs/ext4/fsync.c.
 */
#include "block/blkdev.h"
#include "fs/ext4/ext4_jbd2.h"
#include "mm/internal.h"

/* The transaction that has what the file needs; a flush where no commit sends one. */
static int ext4_fsync_journal(struct inode *inode)
{
	journal_t *journal = ext4_journal(inode);
	tid_t tid = EXT4_I(inode)->i_sync_tid;
	bool needs_barrier = !jbd2_trans_will_send_data_barrier(journal, tid);
	int ret = jbd2_complete_transaction(journal, tid);

	if (!ret && needs_barrier)
		ret = blkdev_issue_flush(inode->i_sb->s_bdev);
	return ret;
}

int ext4_sync_file(struct file *file)
{
	struct inode *inode = file->f_inode;
	struct trace *t = &inode->i_sb->s_machine->trace;
	int ret;

	trace_event(t, EV_ext4_sync_file_enter, 0, inode->i_ino, 0, 0, 0);
	ret = filemap_write_and_wait_range(file->f_mapping, 0, INT64_MAX);
	if (!ret && ext4_journal(inode))
		ret = ext4_fsync_journal(inode);
	else if (!ret)
		ret = blkdev_issue_flush(inode->i_sb->s_bdev);
	trace_event(t, EV_ext4_sync_file_exit, 0, inode->i_ino, 0, -ret, 0);
	return ret;
}
