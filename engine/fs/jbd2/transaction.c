/*
 * Mirrors fs/jbd2/transaction.c: handles and the blocks they change.
 */
#include "fs/jbd2/jbd2.h"

#include <errno.h>
#include <stdlib.h>

/* ---- transactions ---- */

static transaction_t *jbd2_get_transaction(journal_t *journal)
{
	transaction_t *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->t_journal = journal;
	t->t_tid = journal->j_transaction_sequence++;
	t->t_expires = journal->j_machine->clock_ps + JBD2_MAX_COMMIT_AGE_PS;
	xa_init(&t->t_buffers, &journal->j_nodes);
	xa_init(&t->t_revoked, &journal->j_nodes);
	INIT_LIST_HEAD(&t->t_inode_list);
	/* The commit block and descriptors are paid by the transaction, not by its handles. */
	t->t_outstanding_credits =
		journal->j_transaction_overhead_buffers + journal->j_reserved_credits;
	journal->j_running_transaction = t;
	return t;
}

void jbd2_free_journal_head(struct journal_head *jh)
{
	if (jh)
		free(jh->b_data);
	free(jh);
}

void jbd2_free_transaction(transaction_t *t)
{
	struct jbd2_inode *jinode, *next;
	XA_STATE(xas, &t->t_buffers, 0);
	struct journal_head *jh;

	xas_for_each(&xas, jh, ~0UL)
		jbd2_free_journal_head(jh);
	list_for_each_entry_safe(jinode, next, &t->t_inode_list, i_list)
		jbd2_journal_release_jbd_inode(jinode);
	xa_destroy(&t->t_buffers);
	xa_destroy(&t->t_revoked);
	free(t);
}

struct journal_head *jbd2_take_buffer(transaction_t *t, u64 blocknr)
{
	struct journal_head *jh = xa_erase(&t->t_buffers, blocknr);

	if (jh)
		t->t_nr_buffers--;
	return jh;
}

/* ---- credits ---- */

/* Nobody can join the running transaction: commit it, and let the next one begin. */
static int wait_transaction_locked(journal_t *journal)
{
	return jbd2_journal_commit_transaction(journal);
}

/* I/O that completes lets reserved handles begin; false: there is none under way. */
static bool wait_for_reserved(journal_t *journal)
{
	int before = journal->j_reserved_credits;

	return jbd2_wait(journal) || journal->j_reserved_credits < before;
}

/*
 * Room for @blocks and @rsv_blocks in the running transaction and in the log: 0, 1 to try again
 * with another transaction, or -errno.
 */
static int add_transaction_credits(journal_t *journal, int blocks, int rsv_blocks)
{
	transaction_t *t = journal->j_running_transaction;
	int total = blocks + rsv_blocks, max = jbd2_max_user_trans_buffers(journal), ret;

	/* What is reserved counts in every transaction: wait until enough of it has begun. */
	if (total + journal->j_reserved_credits > max ||
	    (rsv_blocks && rsv_blocks + journal->j_reserved_credits > max / 2))
		return wait_for_reserved(journal) ? 1 : -ENOSPC;
	if (t->t_outstanding_credits + total > journal->j_max_transaction_buffers) {
		ret = wait_transaction_locked(journal);
		return ret ? ret : 1;
	}
	if (jbd2_log_space_left(journal) < (unsigned int)journal->j_max_transaction_buffers) {
		ret = __jbd2_log_wait_for_space(journal, journal->j_max_transaction_buffers);
		return ret ? ret : 1;
	}
	t->t_outstanding_credits += total;
	journal->j_reserved_credits += rsv_blocks;
	return 0;
}

/* More than any transaction may hold can never start. */
static int check_wanted(const journal_t *journal, int blocks, int rsv_blocks)
{
	int max = jbd2_max_user_trans_buffers(journal);

	if (rsv_blocks <= max / 2 && blocks + rsv_blocks <= max)
		return 0;
	machine_warn(journal->j_machine,
		     "JBD2: foliolab wants too many credits credits:%d rsv_credits:%d max:%d\n",
		     blocks, rsv_blocks, max);
	return -ENOSPC;
}

static int start_this_handle(journal_t *journal, handle_t *handle)
{
	int blocks = handle->h_total_credits;
	int rsv = handle->h_rsv_handle ? handle->h_rsv_handle->h_total_credits : 0;
	int ret = check_wanted(journal, blocks, rsv);

	while (!ret) {
		if (journal->j_errno)
			return -EROFS;
		if (!journal->j_running_transaction && !jbd2_get_transaction(journal))
			return -ENOMEM;
		ret = add_transaction_credits(journal, blocks, rsv);
		if (!ret)
			break;
		ret = ret > 0 ? 0 : ret;
	}
	if (ret)
		return ret;
	handle->h_transaction = journal->j_running_transaction;
	handle->h_transaction->t_updates++;
	handle->h_transaction->t_handle_count++;
	return 0;
}

/* ---- handles ---- */

static handle_t *new_handle(journal_t *journal, int nblocks, unsigned int type)
{
	handle_t *handle = calloc(1, sizeof(*handle));

	if (!handle)
		return NULL;
	handle->h_journal = journal;
	handle->h_total_credits = handle->h_requested_credits = nblocks;
	handle->h_type = type;
	handle->h_ref = 1;
	return handle;
}

static void trace_handle(const handle_t *handle, enum trace_event_id id, int blocks)
{
	const struct trace_event ev = {
		.id = id,
		.index = handle->h_transaction->t_tid,
		.a = handle->h_type,
		.b = blocks,
		.c = handle->h_total_credits,
	};

	trace_event2(&handle->h_journal->j_machine->trace, &ev);
}

int jbd2__journal_start(journal_t *journal, int nblocks, int rsv_blocks, unsigned int type,
			handle_t **ret)
{
	struct machine *m = journal->j_machine;
	handle_t *handle = m->journal_info[m->cpu];
	int revoke_blocks = 1, err = -ENOMEM; /* a few revokes always fit into one block */

	*ret = handle;
	if (handle) {
		handle->h_ref++;
		return 0;
	}
	handle = new_handle(journal, nblocks + revoke_blocks, type);
	if (handle && rsv_blocks)
		handle->h_rsv_handle = new_handle(journal, rsv_blocks, type);
	if (handle && (!rsv_blocks || handle->h_rsv_handle))
		err = start_this_handle(journal, handle);
	if (err) {
		if (handle)
			free(handle->h_rsv_handle);
		free(handle);
		*ret = NULL;
		return err;
	}
	m->journal_info[m->cpu] = *ret = handle;
	journal->j_handles++;
	charge(m, COST_JOURNAL_START, 1);
	trace_handle(handle, EV_jbd2_handle_start, handle->h_total_credits);
	return 0;
}

void jbd2_journal_free_reserved(handle_t *handle)
{
	journal_t *journal = handle ? handle->h_journal : NULL;

	if (!handle)
		return;
	journal->j_reserved_credits -= handle->h_total_credits;
	if (journal->j_running_transaction)
		journal->j_running_transaction->t_outstanding_credits -= handle->h_total_credits;
	free(handle);
}

int jbd2_journal_start_reserved(handle_t *handle, unsigned int type)
{
	journal_t *journal = handle->h_journal;

	if (journal->j_errno ||
	    (!journal->j_running_transaction && !jbd2_get_transaction(journal))) {
		int ret = journal->j_errno ? -EROFS : -ENOMEM;

		jbd2_journal_free_reserved(handle);
		return ret;
	}
	/* Its credits count in every running transaction already. */
	journal->j_reserved_credits -= handle->h_total_credits;
	handle->h_type = type;
	handle->h_transaction = journal->j_running_transaction;
	handle->h_transaction->t_updates++;
	handle->h_transaction->t_handle_count++;
	journal->j_machine->journal_info[journal->j_machine->cpu] = handle;
	journal->j_handles++;
	charge(journal->j_machine, COST_JOURNAL_START, 1);
	trace_handle(handle, EV_jbd2_handle_start, handle->h_total_credits);
	return 0;
}

int jbd2_journal_extend(handle_t *handle, int nblocks)
{
	transaction_t *t = handle->h_transaction;
	journal_t *journal = handle->h_journal;

	if (journal->j_errno)
		return -EROFS;
	if (t != journal->j_running_transaction ||
	    t->t_outstanding_credits + nblocks > journal->j_max_transaction_buffers)
		return 1;
	trace_handle(handle, EV_jbd2_handle_extend, nblocks);
	t->t_outstanding_credits += nblocks;
	handle->h_total_credits += nblocks;
	handle->h_requested_credits += nblocks;
	journal->j_extends++;
	return 0;
}

/* What the handle did not use goes back. */
static void stop_this_handle(handle_t *handle)
{
	transaction_t *t = handle->h_transaction;

	t->t_updates--;
	t->t_outstanding_credits -= handle->h_total_credits;
	jbd2_journal_free_reserved(handle->h_rsv_handle);
	handle->h_rsv_handle = NULL;
	handle->h_transaction = NULL;
}

int jbd2__journal_restart(handle_t *handle, int nblocks)
{
	journal_t *journal = handle->h_journal;
	struct machine *m = journal->j_machine;
	int ret = 0;

	stop_this_handle(handle);
	m->journal_info[m->cpu] = NULL;
	if (journal->j_running_transaction && !journal->j_running_transaction->t_updates)
		ret = jbd2_journal_commit_transaction(journal);
	handle->h_total_credits = nblocks;
	if (!ret)
		ret = start_this_handle(journal, handle);
	m->journal_info[m->cpu] = handle;
	if (ret) {
		handle->h_aborted = true;
		return ret;
	}
	journal->j_restarts++;
	trace_handle(handle, EV_jbd2_handle_restart, nblocks);
	return 0;
}

int jbd2_journal_stop(handle_t *handle)
{
	journal_t *journal = handle->h_journal;
	transaction_t *t = handle->h_transaction;
	int err = handle->h_aborted || journal->j_errno ? -EIO : 0;
	bool expired = t && journal->j_machine->clock_ps >= t->t_expires;

	if (--handle->h_ref)
		return err;
	if (t) {
		trace_handle(handle, EV_jbd2_handle_stats, handle->h_requested_credits);
		stop_this_handle(handle);
	}
	journal->j_machine->journal_info[journal->j_machine->cpu] = NULL;
	free(handle);
	/* A reserved handle stops where I/O completes, which is no place to wait for more. */
	if (expired && t == journal->j_running_transaction && !t->t_updates && !journal->j_errno &&
	    !journal->j_committing_transaction)
		jbd2_journal_commit_transaction(journal);
	return err;
}

/* ---- blocks ---- */

/* A handle at its end: the kernel warns, and its file system gives up. */
static int out_of_credits(handle_t *handle, u64 blocknr)
{
	machine_warn(handle->h_journal->j_machine,
		     "WARNING: fs/jbd2/transaction.c jbd2_journal_dirty_metadata\n"
		     "EXT4: jbd2_journal_dirty_metadata failed: block %llu, handle type %u, "
		     "credits %d/%d, errcode %d\n",
		     (unsigned long long)blocknr, handle->h_type, handle->h_requested_credits,
		     handle->h_total_credits, -ENOSPC);
	handle->h_aborted = true;
	return -ENOSPC;
}

static int dirty_block(handle_t *handle, const struct journal_head *what)
{
	transaction_t *t = handle->h_transaction;
	struct journal_head *jh;

	if (handle->h_aborted || handle->h_journal->j_errno)
		return -EROFS;
	if (xa_load(&t->t_buffers, what->b_blocknr))
		return 0;
	if (handle->h_total_credits <= 0)
		return out_of_credits(handle, what->b_blocknr);
	jh = malloc(sizeof(*jh));
	if (!jh)
		return -ENOMEM;
	*jh = *what;
	jh->b_transaction = t;
	if (xa_is_err(xa_store(&t->t_buffers, jh->b_blocknr, jh))) {
		free(jh);
		return -ENOMEM;
	}
	t->t_nr_buffers++;
	handle->h_total_credits--;
	charge(handle->h_journal->j_machine, COST_JOURNAL_DIRTY, 1);
	return 0;
}

int jbd2_journal_dirty_metadata(handle_t *handle, u64 blocknr)
{
	const struct journal_head what = {.b_blocknr = blocknr};

	return dirty_block(handle, &what);
}

int jbd2_journal_dirty_data(handle_t *handle, u64 blocknr, struct inode *inode, u64 lblk)
{
	const struct journal_head what = {.b_blocknr = blocknr, .b_inode = inode, .b_lblk = lblk};

	xa_erase(&handle->h_transaction->t_revoked, blocknr);
	return dirty_block(handle, &what);
}

int jbd2_journal_revoke(handle_t *handle, u64 blocknr)
{
	transaction_t *t = handle->h_transaction;

	jbd2_free_journal_head(jbd2_take_buffer(t, blocknr));
	return xa_is_err(xa_store(&t->t_revoked, blocknr, xa_mk_value(1))) ? -ENOMEM : 0;
}

bool jbd2_journal_pending(const journal_t *journal, u64 blocknr)
{
	const transaction_t *running = journal->j_running_transaction;
	const transaction_t *committing = journal->j_committing_transaction;

	return (running && xa_load(&running->t_buffers, blocknr)) ||
	       (committing && xa_load(&committing->t_buffers, blocknr));
}

/* Without a file to ask, a block is what the disk has. */
static void forget_data(transaction_t *t, const struct inode *inode)
{
	unsigned long index = 0;
	struct journal_head *jh;

	for (; (jh = xa_find(&t->t_buffers, &index, ~0UL, XA_PRESENT)); index++)
		if (jh->b_inode == inode)
			jbd2_free_journal_head(jbd2_take_buffer(t, index));
}

void jbd2_journal_forget_inode(journal_t *journal, const struct inode *inode)
{
	if (journal->j_running_transaction)
		forget_data(journal->j_running_transaction, inode);
}

void jbd2_journal_written(journal_t *journal, u64 blocknr)
{
	struct journal_head *jh = xa_load(&journal->j_checkpoint_buffers, blocknr);

	if (jh)
		__jbd2_journal_remove_checkpoint(journal, jh);
}

/* ---- ordered data ---- */

void jbd2_journal_init_jbd_inode(struct jbd2_inode *jinode, struct inode *inode)
{
	*jinode = (struct jbd2_inode){.i_vfs_inode = inode};
}

void jbd2_journal_inode_ranged_write(handle_t *handle, struct jbd2_inode *jinode, loff_t start,
				     loff_t length)
{
	loff_t end = start + length - 1;

	if (jinode->i_transaction == handle->h_transaction) {
		jinode->i_dirty_start = min(jinode->i_dirty_start, start);
		jinode->i_dirty_end = max(jinode->i_dirty_end, end);
		return;
	}
	jbd2_journal_release_jbd_inode(jinode);
	jinode->i_transaction = handle->h_transaction;
	jinode->i_dirty_start = start;
	jinode->i_dirty_end = end;
	list_add_tail(&jinode->i_list, &handle->h_transaction->t_inode_list);
}

void jbd2_journal_release_jbd_inode(struct jbd2_inode *jinode)
{
	if (!jinode->i_transaction)
		return;
	list_del(&jinode->i_list);
	jinode->i_transaction = NULL;
}
