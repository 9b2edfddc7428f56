/*
 * Mirrors fs/jbd2/checkpoint.c: committed blocks go home, and their place in the log is free again.
 */
#include <errno.h>

#include "fs/jbd2/jbd2.h"

/* A commit of another task is on its way to the log; it needs the room first. */
static unsigned int jbd2_space_needed(const journal_t *journal, unsigned int nblocks)
{
	const transaction_t *committing = journal->j_committing_transaction;

	return nblocks + (committing ? committing->t_outstanding_credits : 0);
}

void __jbd2_journal_remove_checkpoint(journal_t *journal, struct journal_head *jh)
{
	transaction_t *t = jh->b_transaction;

	xa_erase(&journal->j_checkpoint_buffers, jh->b_blocknr);
	jbd2_free_journal_head(jbd2_take_buffer(t, jh->b_blocknr));
	if (t->t_nr_buffers)
		return;
	list_del(&t->t_cplist);
	jbd2_free_transaction(t);
}

struct flush_batch {
	unsigned int pending;
	int error;
};

static void end_checkpoint_write(struct bio *bio)
{
	struct flush_batch *batch = bio->bi_private;

	batch->pending--;
	if (bio->bi_status)
		batch->error = bio->bi_status;
}

static int submit_home(journal_t *journal, struct journal_head *jh, struct flush_batch *batch)
{
	struct bio *bio = bio_alloc(journal->j_dev, 1, REQ_OP_WRITE | REQ_META);

	if (!bio)
		return -ENOMEM;
	bio->bi_iter.bi_sector = jh->b_blocknr * (journal->j_blocksize >> SECTOR_SHIFT);
	bio->bi_end_io = end_checkpoint_write;
	bio->bi_private = batch;
	bio_add_folio(bio, NULL, journal->j_blocksize, 0, jh->b_data);
	batch->pending++;
	submit_bio(bio);
	return 0;
}

int jbd2_log_do_checkpoint(journal_t *journal)
{
	transaction_t *t =
		list_first_entry(&journal->j_checkpoint_transactions, transaction_t, t_cplist);
	struct flush_batch batch = {0};
	XA_STATE(xas, &t->t_buffers, 0);
	struct machine *m = journal->j_machine;
	unsigned int nr = t->t_nr_buffers;
	struct journal_head *jh;
	int ret = 0;

	blk_start_plug(m);
	xas_for_each(&xas, jh, ~0UL)
		ret = ret ? ret : submit_home(journal, jh, &batch);
	blk_finish_plug(m);
	while (batch.pending && jbd2_wait(journal))
		;
	ret = ret ? ret : batch.error;
	if (ret)
		return ret;
	trace_event(&m->trace, EV_jbd2_checkpoint, 0, 0, t->t_tid, nr, 0);
	journal->j_checkpoints++;
	for (u64 index = 0; nr; nr--) {
		unsigned long at = index;

		jh = xa_find(&t->t_buffers, &at, ~0UL, XA_PRESENT);
		index = at + 1;
		__jbd2_journal_remove_checkpoint(journal, jh); /* the last one takes @t along */
	}
	return jbd2_cleanup_journal_tail(journal);
}

int jbd2_cleanup_journal_tail(journal_t *journal)
{
	const transaction_t *oldest =
		!list_empty(&journal->j_checkpoint_transactions)
			? list_first_entry(&journal->j_checkpoint_transactions, transaction_t,
					   t_cplist)
			: journal->j_committing_transaction;
	unsigned int start = oldest ? oldest->t_log_start : journal->j_head, freed;
	const transaction_t *running = journal->j_running_transaction;
	tid_t tid = oldest    ? oldest->t_tid
		    : running ? running->t_tid
			      : journal->j_transaction_sequence;
	int ret;

	if (tid == journal->j_tail_sequence)
		return 0;
	freed = start - journal->j_tail;
	if (start < journal->j_tail)
		freed += journal->j_last - journal->j_first;
	/* What went home must be there for good before the log forgets it. */
	ret = blkdev_issue_flush(journal->j_dev);
	if (!ret)
		ret = jbd2_journal_update_sb_log_tail(journal, tid, start);
	if (ret)
		return ret;
	journal->j_free += freed;
	journal->j_tail = start;
	journal->j_tail_sequence = tid;
	return 0;
}

int __jbd2_log_wait_for_space(journal_t *journal, unsigned int nblocks)
{
	nblocks = jbd2_space_needed(journal, nblocks);
	while (jbd2_log_space_left(journal) < nblocks) {
		unsigned int before = jbd2_log_space_left(journal);
		int ret;

		if (!list_empty(&journal->j_checkpoint_transactions))
			ret = jbd2_log_do_checkpoint(journal);
		else
			ret = jbd2_cleanup_journal_tail(journal);
		if (ret)
			return ret;
		if (jbd2_log_space_left(journal) > before ||
		    !list_empty(&journal->j_checkpoint_transactions))
			continue;
		/* Nothing is left to go home, and still no room: commit what is running. */
		ret = journal->j_running_transaction ? jbd2_journal_commit_transaction(journal)
						     : -ENOSPC;
		if (ret)
			return ret;
	}
	return 0;
}
