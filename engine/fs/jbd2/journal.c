/*
 * Mirrors fs/jbd2/journal.c: the journal as a whole, its superblock and the room in its log.
 */
#include "fs/jbd2/jbd2.h"

#include <errno.h>
#include <stdlib.h>

#include "machine/sched.h"

/* Blocks of the log that are never promised. fs/jbd2/journal.c jbd2_log_space_left() */
#define LOG_SLACK 32

/* fs/jbd2/journal.c jbd2_journal_get_max_txn_bufs() */
static int max_txn_bufs(const journal_t *journal)
{
	return journal->j_total_len / (knob(journal->j_machine, JBD2_THIRD) ? 3 : 4);
}

/* The commit block and enough descriptors for the largest transaction. */
static int descriptor_blocks_per_trans(const journal_t *journal)
{
	return 1 + DIV_ROUND_UP((unsigned int)max_txn_bufs(journal), jbd2_tags_per_block(journal));
}

int jbd2_max_user_trans_buffers(const journal_t *journal)
{
	return journal->j_max_transaction_buffers - journal->j_transaction_overhead_buffers;
}

int jbd2_journal_init_dev(struct block_device *bdev, u64 start, unsigned int len,
			  unsigned int blocksize, const struct journal_operations *ops,
			  void *private, journal_t **ret)
{
	journal_t *journal;

	*ret = NULL;
	if (len < JBD2_MIN_JOURNAL_BLOCKS)
		return -EINVAL;
	journal = calloc(1, sizeof(*journal));
	if (!journal)
		return -ENOMEM;
	journal->j_machine = bdev->machine;
	journal->j_dev = bdev;
	journal->j_ops = ops;
	journal->j_private = private;
	journal->j_blocksize = blocksize;
	journal->j_blk_offset = start;
	journal->j_total_len = journal->j_last = len;
	journal->j_first = journal->j_head = journal->j_tail = 1;
	journal->j_free = journal->j_last - journal->j_first;
	journal->j_transaction_sequence = journal->j_tail_sequence = 1;
	journal->j_flushed = true;
	journal->j_max_transaction_buffers = max_txn_bufs(journal);
	journal->j_transaction_overhead_buffers = descriptor_blocks_per_trans(journal);
	INIT_LIST_HEAD(&journal->j_checkpoint_transactions);
	xa_cache_init(&journal->j_nodes);
	xa_init(&journal->j_checkpoint_buffers, &journal->j_nodes);
	*ret = journal;
	return 0;
}

void jbd2_journal_destroy(journal_t *journal)
{
	transaction_t *t, *next;

	if (!journal)
		return;
	if (journal->j_running_transaction)
		jbd2_free_transaction(journal->j_running_transaction);
	if (journal->j_committing_transaction)
		jbd2_free_transaction(journal->j_committing_transaction);
	list_for_each_entry_safe(t, next, &journal->j_checkpoint_transactions, t_cplist)
		jbd2_free_transaction(t);
	xa_destroy(&journal->j_checkpoint_buffers);
	xa_cache_fini(&journal->j_nodes);
	free(journal);
}

void jbd2_journal_abort(journal_t *journal, int err)
{
	if (journal->j_errno)
		return;
	journal->j_errno = err;
	machine_warn(journal->j_machine, "Aborting journal.\n");
}

bool jbd2_wait(journal_t *journal)
{
	struct machine *m = journal->j_machine;

	if (blk_wait_next(m))
		return true;
	if (!m->sched)
		return false;
	sched_sleep_until(m, m->clock_ps + 1000000);
	return true;
}

unsigned int jbd2_log_space_left(const journal_t *journal)
{
	return journal->j_free > LOG_SLACK ? journal->j_free - LOG_SLACK : 0;
}

u64 jbd2_journal_next_log_block(journal_t *journal)
{
	u64 blocknr = journal->j_blk_offset + journal->j_head++;

	journal->j_free--;
	if (journal->j_head == journal->j_last)
		journal->j_head = journal->j_first;
	return blocknr;
}

int jbd2_journal_update_sb_log_tail(journal_t *journal, tid_t tail_tid, unsigned int start)
{
	char *buf = NULL;
	int ret;

	if (blk_can_lose_power(journal->j_dev)) {
		buf = calloc(1, journal->j_blocksize);
		if (!buf)
			return -ENOMEM;
		jbd2_put_header(buf, JBD2_SUPERBLOCK_V2, 0);
		jbd2_put32(buf, 12, journal->j_blocksize);
		jbd2_put32(buf, 16, journal->j_total_len);
		jbd2_put32(buf, 20, journal->j_first);
		jbd2_put32(buf, 24, tail_tid);
		jbd2_put32(buf, 28, start);
	}
	ret = blk_rw_wait(journal->j_dev, REQ_OP_WRITE | REQ_META | REQ_FUA,
			  jbd2_log_pos(journal, 0), buf, journal->j_blocksize);
	free(buf);
	return ret;
}

static bool tid_geq(tid_t a, tid_t b)
{
	return (s32)(a - b) >= 0;
}

int jbd2_complete_transaction(journal_t *journal, tid_t tid)
{
	const transaction_t *running = journal->j_running_transaction;

	if (running && running->t_tid == tid)
		return journal->j_errno ? -EROFS : jbd2_journal_commit_transaction(journal);
	while (journal->j_committing_transaction && !tid_geq(journal->j_commit_sequence, tid) &&
	       jbd2_wait(journal))
		;
	return journal->j_errno ? -EROFS : 0;
}

int jbd2_journal_force_commit(journal_t *journal)
{
	if (!journal->j_running_transaction)
		return 0;
	return jbd2_complete_transaction(journal, journal->j_running_transaction->t_tid);
}

bool jbd2_trans_will_send_data_barrier(const journal_t *journal, tid_t tid)
{
	return !tid_geq(journal->j_commit_sequence, tid) ||
	       (journal->j_running_transaction && journal->j_running_transaction->t_tid == tid);
}

int jbd2_journal_flush(journal_t *journal)
{
	int ret = jbd2_journal_force_commit(journal);

	while (!ret && !list_empty(&journal->j_checkpoint_transactions))
		ret = jbd2_log_do_checkpoint(journal);
	if (!ret)
		ret = jbd2_cleanup_journal_tail(journal);
	if (ret || journal->j_flushed)
		return ret;
	/* Start 0: nothing to replay. */
	ret = jbd2_journal_update_sb_log_tail(journal, journal->j_tail_sequence, 0);
	journal->j_flushed = !ret;
	return ret;
}
