/*
 * Mirrors fs/jbd2/commit.c: ordered data first, then revoked blocks, descriptors and what they
 * describe, and when all that is on disk the commit block.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fs/jbd2/jbd2.h"

/* Blocks on their way to the log, and the memory that has to stay until they are there. */
struct log_writer {
	journal_t *journal;
	transaction_t *transaction;
	unsigned int pending;
	int error;
	void **bufs;
	unsigned int nr_bufs;
};

static void journal_end_buffer_io(struct bio *bio)
{
	struct log_writer *w = bio->bi_private;

	w->pending--;
	if (bio->bi_status)
		w->error = bio->bi_status;
}

static void log_wait(struct log_writer *w)
{
	while (w->pending && jbd2_wait(w->journal))
		;
}

/* Put one block at the head of the log. @data NULL: nobody looks at the bytes. */
static void log_block(struct log_writer *w, void *data, unsigned int opf)
{
	journal_t *journal = w->journal;
	struct bio *bio = bio_alloc(journal->j_dev, 1, REQ_OP_WRITE | REQ_META | opf);

	if (!bio) {
		w->error = -ENOMEM;
		return;
	}
	bio->bi_iter.bi_sector =
		jbd2_journal_next_log_block(journal) * (journal->j_blocksize >> SECTOR_SHIFT);
	bio->bi_end_io = journal_end_buffer_io;
	bio->bi_private = w;
	bio_add_folio(bio, NULL, journal->j_blocksize, 0, data);
	w->pending++;
	charge(journal->j_machine, COST_JOURNAL_BLOCK, 1);
	submit_bio(bio);
}

/* A zeroed block that lives until the transaction is committed; NULL without data. */
static void *log_buffer(struct log_writer *w)
{
	void **bufs, *buf;

	if (!blk_can_lose_power(w->journal->j_dev))
		return NULL;
	bufs = realloc(w->bufs, (w->nr_bufs + 1) * sizeof(*bufs));
	buf = bufs ? calloc(1, w->journal->j_blocksize) : NULL;
	if (bufs)
		w->bufs = bufs;
	if (!buf) {
		w->error = -ENOMEM;
		return NULL;
	}
	bufs[w->nr_bufs++] = buf;
	return buf;
}

static void free_buffers(struct log_writer *w)
{
	for (unsigned int i = 0; i < w->nr_bufs; i++)
		free(w->bufs[i]);
	free(w->bufs);
}

/* ---- what a transaction holds ---- */

/* The bytes of every block, as of now: no handle is open on the transaction any more. */
static int take_contents(journal_t *journal, transaction_t *t)
{
	XA_STATE(xas, &t->t_buffers, 0);
	struct journal_head *jh;

	if (!blk_can_lose_power(journal->j_dev))
		return 0;
	xas_for_each(&xas, jh, ~0UL) {
		jh->b_data = calloc(1, journal->j_blocksize);
		if (!jh->b_data)
			return -ENOMEM;
		if (!jh->b_inode)
			journal->j_ops->fill(journal->j_private, jh->b_blocknr, jh->b_data);
		else if (!journal->j_ops->fill_data(jh->b_inode, jh->b_lblk, jh->b_data))
			blk_rw_wait(journal->j_dev, REQ_OP_READ,
				    jh->b_blocknr * journal->j_blocksize, jh->b_data,
				    journal->j_blocksize);
	}
	return 0;
}

static int journal_submit_data_buffers(journal_t *journal, transaction_t *t)
{
	struct jbd2_inode *jinode;
	int ret = 0;

	list_for_each_entry(jinode, &t->t_inode_list, i_list) {
		int err = journal->j_ops->submit_inode_data(jinode);

		ret = ret ? ret : err;
	}
	list_for_each_entry(jinode, &t->t_inode_list, i_list) {
		int err = journal->j_ops->finish_inode_data(jinode);

		ret = ret ? ret : err;
	}
	return ret;
}

/* fs/jbd2/revoke.c jbd2_journal_write_revoke_records() */
static void write_revoke_records(struct log_writer *w)
{
	XA_STATE(xas, &w->transaction->t_revoked, 0);
	unsigned int per_block = jbd2_revokes_per_block(w->journal), nr = 0;
	char *buf = NULL;
	void *entry;

	xas_for_each(&xas, entry, ~0UL) {
		unsigned int off = JBD2_REVOKE_HEADER + nr % per_block * JBD2_REVOKE_BYTES;

		if (nr % per_block == 0) {
			if (nr)
				log_block(w, buf, 0);
			buf = log_buffer(w);
		}
		nr++;
		if (!buf)
			continue;
		jbd2_put_header(buf, JBD2_REVOKE_BLOCK, w->transaction->t_tid);
		jbd2_put32(buf, off, (u64)xas.xa_index >> 32);
		jbd2_put32(buf, off + 4, xas.xa_index);
		jbd2_put32(buf, JBD2_HEADER_SIZE, off + JBD2_REVOKE_BYTES);
	}
	if (nr)
		log_block(w, buf, 0);
}

/* A block that begins like one of the log's own is written without that beginning. */
static bool wants_escape(const struct journal_head *jh)
{
	return jh->b_data && jbd2_get32(jh->b_data, 0) == JBD2_MAGIC_NUMBER;
}

static void put_tag(char *buf, unsigned int nr, const struct journal_head *jh, bool last)
{
	unsigned int off = JBD2_HEADER_SIZE + nr * JBD2_TAG_BYTES + (nr ? JBD2_UUID_SIZE : 0);
	u32 flags = (nr ? JBD2_FLAG_SAME_UUID : 0) | (last ? JBD2_FLAG_LAST_TAG : 0) |
		    (wants_escape(jh) ? JBD2_FLAG_ESCAPE : 0);

	jbd2_put32(buf, off, jh->b_blocknr);
	jbd2_put32(buf, off + 4, flags);
	jbd2_put32(buf, off + 8, jh->b_blocknr >> 32);
}

static void log_contents(struct log_writer *w, struct journal_head *jh)
{
	char *copy = wants_escape(jh) ? log_buffer(w) : NULL;

	if (copy) {
		memcpy(copy + 4, jh->b_data + 4, w->journal->j_blocksize - 4);
		log_block(w, copy, 0);
	} else {
		log_block(w, jh->b_data, 0);
	}
}

/* One descriptor with the blocks from @index on; returns where the next one begins, 0 at the end.
 */
static u64 write_descriptor(struct log_writer *w, u64 index)
{
	unsigned int per_block = jbd2_tags_per_block(w->journal), nr = 0;
	struct journal_head *jh, *batch[65536 / JBD2_TAG_BYTES];
	XA_STATE(xas, &w->transaction->t_buffers, index);
	u64 next = 0;
	char *buf;

	xas_for_each(&xas, jh, ~0UL) {
		if (nr == per_block) {
			next = jh->b_blocknr;
			break;
		}
		batch[nr++] = jh;
	}
	if (!nr)
		return 0;
	buf = log_buffer(w);
	if (buf) {
		jbd2_put_header(buf, JBD2_DESCRIPTOR_BLOCK, w->transaction->t_tid);
		for (unsigned int i = 0; i < nr; i++)
			put_tag(buf, i, batch[i], i + 1 == nr);
	}
	log_block(w, buf, 0);
	for (unsigned int i = 0; i < nr; i++)
		log_contents(w, batch[i]);
	return next;
}

static void journal_submit_commit_record(struct log_writer *w)
{
	char *buf = log_buffer(w);

	if (buf)
		jbd2_put_header(buf, JBD2_COMMIT_BLOCK, w->transaction->t_tid);
	log_block(w, buf, REQ_PREFLUSH | REQ_FUA);
	log_wait(w);
}

static int write_log(journal_t *journal, transaction_t *t)
{
	struct log_writer w = {.journal = journal, .transaction = t};
	u64 next = 0;

	blk_start_plug(journal->j_machine);
	write_revoke_records(&w);
	do
		next = write_descriptor(&w, next);
	while (next && !w.error);
	blk_finish_plug(journal->j_machine);
	log_wait(&w);
	if (!w.error)
		journal_submit_commit_record(&w);
	free_buffers(&w);
	return w.error;
}

/* ---- what it leaves ---- */

/* Freed blocks have nothing to be written home any more. */
static void forget_revoked(journal_t *journal, transaction_t *t)
{
	XA_STATE(xas, &t->t_revoked, 0);
	void *entry;

	xas_for_each(&xas, entry, ~0UL)
		jbd2_journal_written(journal, xas.xa_index);
}

/* Every block waits for its checkpoint in the newest transaction that committed it. */
static void file_checkpoint(journal_t *journal, transaction_t *t)
{
	XA_STATE(xas, &t->t_buffers, 0);
	struct journal_head *jh;

	list_add_tail(&t->t_cplist, &journal->j_checkpoint_transactions);
	xas_for_each(&xas, jh, ~0UL) {
		jbd2_journal_written(journal, jh->b_blocknr);
		xa_store(&journal->j_checkpoint_buffers, jh->b_blocknr, jh);
		if (jh->b_inode)
			journal->j_ops->data_committed(jh->b_inode, jh->b_lblk);
	}
	if (!t->t_nr_buffers) {
		list_del(&t->t_cplist);
		jbd2_free_transaction(t);
	}
}

/*
 * The running transaction, once no handle is open on it and no other is being committed: 0 with
 * *ret, which is NULL where another task was faster; -EDEADLK if that never happens.
 */
static int lock_transaction(journal_t *journal, transaction_t **ret)
{
	transaction_t *t;

	for (;;) {
		t = journal->j_running_transaction;
		if (!t || (!journal->j_committing_transaction && !t->t_updates))
			break;
		if (!jbd2_wait(journal))
			return -EDEADLK;
	}
	*ret = t;
	if (!t)
		return 0;
	journal->j_running_transaction = NULL;
	journal->j_committing_transaction = t;
	t->t_log_start = journal->j_head;
	return 0;
}

static void detach_inodes(transaction_t *t)
{
	struct jbd2_inode *jinode, *next;

	list_for_each_entry_safe(jinode, next, &t->t_inode_list, i_list)
		jbd2_journal_release_jbd_inode(jinode);
}

int jbd2_journal_commit_transaction(journal_t *journal)
{
	struct machine *m = journal->j_machine;
	transaction_t *t = NULL;
	tid_t tid;
	int ret = 0;

	if (journal->j_flushed)
		ret = jbd2_journal_update_sb_log_tail(journal, journal->j_tail_sequence,
						      journal->j_tail);
	journal->j_flushed = false;
	if (!ret)
		ret = lock_transaction(journal, &t);
	if (!t)
		return ret;
	tid = t->t_tid;
	trace_event(&m->trace, EV_jbd2_start_commit, 0, 0, tid, t->t_nr_buffers, 0);
	charge(m, COST_JOURNAL_COMMIT, 1);
	/* Lost data is its writer's error; the metadata is committed all the same. */
	journal_submit_data_buffers(journal, t);
	ret = take_contents(journal, t);
	if (!ret)
		ret = write_log(journal, t);
	journal->j_committing_transaction = NULL;
	detach_inodes(t);
	if (ret) {
		jbd2_journal_abort(journal, ret);
		jbd2_free_transaction(t);
		return ret;
	}
	journal->j_commit_sequence = tid;
	journal->j_commits++;
	journal->j_ops->commit_callback(journal->j_private, tid);
	forget_revoked(journal, t);
	file_checkpoint(journal, t);
	trace_event(&m->trace, EV_jbd2_end_commit, 0, 0, tid, journal->j_tail_sequence, 0);
	return 0;
}
