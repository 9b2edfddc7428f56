/*
 * fs/jbd2/jbd2.h - a journal of blocks: handles, transactions, commit, checkpoint, recovery.
 *
 * Mirrors    include/linux/jbd2.h, fs/jbd2/.
 * Invariant  a block belongs to at most one of: the running transaction, the committing one, one
 *            that waits for its checkpoint (the newest that committed it). Credits of a transaction
 * = blocks in it + what its handles have left + what is reserved. Owner      the journal belongs to
 * the file system that made it. A handle is the running task's (machine->journal_info) from start
 * to stop. Inodes attached for ordered data belong to the file system and are detached with
 * jbd2_journal_release_jbd_inode(). Errors     0 or -errno: -ENOSPC for a handle that wants more
 * than a transaction may hold, and for a handle that ran out of credits; -EROFS once the journal is
 * aborted; -ENOMEM, -EIO. Differs    whoever needs a commit does it, there is no kjournald; the
 * bytes of a block are asked for when its transaction commits (nothing can change them before), and
 * only on disks whose power can go out, so there are no frozen copies; no fast commits; tags carry
 * no checksums.
 */
#ifndef FL_FS_JBD2_JBD2_H
#define FL_FS_JBD2_JBD2_H

#include "block/blkdev.h"
#include "lib/list.h"
#include "lib/xarray.h"

typedef u32 tid_t;

struct inode;
struct folio;
typedef struct journal_s journal_t;
typedef struct transaction_s transaction_t;
typedef struct jbd2_journal_handle handle_t;

/* Smallest journal, in blocks. include/linux/jbd2.h */
#define JBD2_MIN_JOURNAL_BLOCKS 1024
/* A running transaction is committed when it is this old. JBD2_DEFAULT_MAX_COMMIT_AGE */
#define JBD2_MAX_COMMIT_AGE_PS (5 * 1000000000000ULL)

/* One block of a transaction. */
struct journal_head {
	u64 b_blocknr;
	transaction_t *b_transaction; /* the one that has it */
	struct inode *b_inode;	      /* data of this file; NULL: metadata */
	u64 b_lblk;		      /* its block in the file */
	char *b_data;		      /* as committed; NULL before, and where nobody reads them */
};

/* An inode whose data must be on disk before a transaction commits. */
struct jbd2_inode {
	transaction_t *i_transaction; /* NULL: not attached */
	struct list_head i_list;
	struct inode *i_vfs_inode;
	loff_t i_dirty_start, i_dirty_end; /* bytes, inclusive */
};

struct transaction_s {
	journal_t *t_journal;
	tid_t t_tid;
	struct xarray t_buffers; /* blocknr to journal_head */
	unsigned int t_nr_buffers;
	struct xarray t_revoked;       /* blocks that older transactions must not bring back */
	struct list_head t_inode_list; /* jbd2_inode.i_list */
	int t_updates;		       /* handles that are open */
	int t_outstanding_credits;
	unsigned int t_handle_count;
	u64 t_expires;		   /* virtual ps */
	unsigned int t_log_start;  /* its first block in the log */
	struct list_head t_cplist; /* among those that wait for their checkpoint */
};

struct jbd2_journal_handle {
	journal_t *h_journal;
	transaction_t *h_transaction; /* NULL: only reserved so far */
	handle_t *h_rsv_handle;	      /* starts later, without waiting */
	int h_total_credits;	      /* left */
	int h_requested_credits;
	int h_revoke_credits;
	int h_ref;
	u8 h_type;
	bool h_sync;
	bool h_aborted;
};

/* What a journal asks its file system. */
struct journal_operations {
	/* The bytes of metadata block @blocknr as they are now; asked for only where they matter.
	 */
	void (*fill)(void *private, u64 blocknr, void *buf);
	/* The bytes of block @lblk of a file; false: the block is gone from its cache. */
	bool (*fill_data)(struct inode *inode, u64 lblk, void *buf);
	/* A data block is in the log: from now on the page cache may write it home. */
	void (*data_committed)(struct inode *inode, u64 lblk);
	/* Write the attached range back; wait for it. */
	int (*submit_inode_data)(struct jbd2_inode *jinode);
	int (*finish_inode_data)(struct jbd2_inode *jinode);
	/* A transaction is committed. */
	void (*commit_callback)(void *private, tid_t tid);
};

struct journal_s {
	struct machine *j_machine;
	struct block_device *j_dev;
	const struct journal_operations *j_ops;
	void *j_private;
	unsigned int j_blocksize;
	u64 j_blk_offset;	      /* of the log on the disk, in blocks */
	unsigned int j_total_len;     /* blocks, the superblock of the log included */
	unsigned int j_first, j_last; /* the log proper: [j_first, j_last) */
	unsigned int j_head, j_tail, j_free;
	tid_t j_transaction_sequence; /* of the next transaction */
	tid_t j_tail_sequence;	      /* oldest one in the log */
	tid_t j_commit_sequence;      /* newest committed one */
	int j_max_transaction_buffers;
	int j_transaction_overhead_buffers;
	int j_reserved_credits;
	transaction_t *j_running_transaction;
	transaction_t *j_committing_transaction;
	struct list_head j_checkpoint_transactions; /* oldest first */
	struct xarray j_checkpoint_buffers;	    /* blocknr to journal_head of those */
	struct xa_cache j_nodes;		    /* of all the arrays above */
	int j_errno;				    /* why it was aborted, 0: it was not */
	bool j_flushed; /* the log is empty and its superblock says so */
	u64 j_commits, j_handles, j_extends, j_restarts, j_checkpoints; /* counts for reports */
};

/* ---- journal.c ---- */

/*
 * A journal of @len blocks of @blocksize bytes from block @start on, on a disk that reads as zeros
 * there: an empty one. 0, -EINVAL (too short), -ENOMEM.
 */
int jbd2_journal_init_dev(struct block_device *bdev, u64 start, unsigned int len,
			  unsigned int blocksize, const struct journal_operations *ops,
			  void *private, journal_t **ret);
/* Frees everything; writes nothing. NULL is fine. */
void jbd2_journal_destroy(journal_t *journal);
/* Nothing goes through the journal any more. */
void jbd2_journal_abort(journal_t *journal, int err);
/* Commit transaction @tid if it is not yet; its data and itself are durable then. */
int jbd2_complete_transaction(journal_t *journal, tid_t tid);
/* Commit what is running, if anything. fs/jbd2/journal.c jbd2_journal_force_commit_nested() */
int jbd2_journal_force_commit(journal_t *journal);
/* Would committing @tid flush the disk's cache? */
bool jbd2_trans_will_send_data_barrier(const journal_t *journal, tid_t tid);
/* Commit and checkpoint everything: the log is empty after it. */
int jbd2_journal_flush(journal_t *journal);
/* Credits a transaction may have, its descriptors taken off. */
int jbd2_max_user_trans_buffers(const journal_t *journal);
/* The next free block of the log, on the disk. */
u64 jbd2_journal_next_log_block(journal_t *journal);
unsigned int jbd2_log_space_left(const journal_t *journal);
/* Write the superblock of the log, past the disk's cache. */
int jbd2_journal_update_sb_log_tail(journal_t *journal, tid_t tail_tid, unsigned int start);
/* Where block @nr of the log lies on the disk, in bytes. */
static inline u64 jbd2_log_pos(const journal_t *journal, unsigned int nr)
{
	return (journal->j_blk_offset + nr) * journal->j_blocksize;
}

/* Wait until something happens, an I/O or another task; false: nothing ever will. */
bool jbd2_wait(journal_t *journal);

/* ---- transaction.c ---- */

/*
 * Open a handle of the running task for @nblocks blocks, @rsv_blocks more reserved for a second one
 * that starts later. Nested: the outer handle again, with one reference more.
 * 0, -ENOSPC ("wants too many credits"), -EROFS, -ENOMEM.
 */
int jbd2__journal_start(journal_t *journal, int nblocks, int rsv_blocks, unsigned int type,
			handle_t **ret);
/* Start a reserved handle (taken off h_rsv_handle); never waits. On error the handle is gone. */
int jbd2_journal_start_reserved(handle_t *handle, unsigned int type);
/* A reserved handle nobody needs. NULL is fine. */
void jbd2_journal_free_reserved(handle_t *handle);
/* @nblocks more for an open handle: 0, or 1 if the transaction has no room. */
int jbd2_journal_extend(handle_t *handle, int nblocks);
/* Go on in another transaction, with @nblocks credits. */
int jbd2__journal_restart(handle_t *handle, int nblocks);
int jbd2_journal_stop(handle_t *handle);

/*
 * Block @blocknr was or is about to be changed under @handle; the first time in a transaction it
 * costs a credit. -ENOSPC, with the kernel's warning, when there is none left.
 * jbd2_journal_get_write_access() and jbd2_journal_dirty_metadata().
 */
int jbd2_journal_dirty_metadata(handle_t *handle, u64 blocknr);
/* The same for a block of file data. */
int jbd2_journal_dirty_data(handle_t *handle, u64 blocknr, struct inode *inode, u64 lblk);
/* The block is freed: replay must not bring it back. jbd2_journal_revoke() */
int jbd2_journal_revoke(handle_t *handle, u64 blocknr);
/* The page cache wrote a data block home: there is nothing to checkpoint any more. */
void jbd2_journal_written(journal_t *journal, u64 blocknr);
/* No block is data of @inode any more. */
void jbd2_journal_forget_inode(journal_t *journal, const struct inode *inode);
/* Is the block in a transaction that is not committed yet? */
bool jbd2_journal_pending(const journal_t *journal, u64 blocknr);

void jbd2_journal_init_jbd_inode(struct jbd2_inode *jinode, struct inode *inode);
/* Data in [start, start + length) must be on disk before the handle's transaction commits. */
void jbd2_journal_inode_ranged_write(handle_t *handle, struct jbd2_inode *jinode, loff_t start,
				     loff_t length);
void jbd2_journal_release_jbd_inode(struct jbd2_inode *jinode);

/* ---- commit.c, checkpoint.c, recovery.c ---- */

/* Commit the running transaction; there must be one, and no handle of the running task on it. */
int jbd2_journal_commit_transaction(journal_t *journal);
/* Write the blocks of the oldest committed transactions home until @nblocks of the log are free. */
int __jbd2_log_wait_for_space(journal_t *journal, unsigned int nblocks);
/* The oldest one. */
int jbd2_log_do_checkpoint(journal_t *journal);
/* What is checkpointed leaves the log. */
int jbd2_cleanup_journal_tail(journal_t *journal);
/* Drop a committed block, and its transaction with the last one. */
void __jbd2_journal_remove_checkpoint(journal_t *journal, struct journal_head *jh);

/* What a replay found and did. */
struct recovery_info {
	tid_t start_transaction, end_transaction; /* [start, end) are in the log, whole */
	unsigned int nr_replays, nr_revokes, nr_revoke_hits;
};

/*
 * Read the log and bring every block of its whole transactions home; then the log is empty.
 * A log that says it is empty is fine. -EINVAL (no journal there), -EIO, -ENOMEM.
 */
int jbd2_journal_recover(journal_t *journal, struct recovery_info *info);

/* Shared by transaction.c and the others. */
void jbd2_free_transaction(transaction_t *transaction);
struct journal_head *jbd2_take_buffer(transaction_t *transaction, u64 blocknr);
void jbd2_free_journal_head(struct journal_head *jh);

/* ---- on disk, big endian; include/linux/jbd2.h ---- */

#define JBD2_MAGIC_NUMBER     0xc03b3998U
#define JBD2_DESCRIPTOR_BLOCK 1
#define JBD2_COMMIT_BLOCK     2
#define JBD2_SUPERBLOCK_V2    4
#define JBD2_REVOKE_BLOCK     5
#define JBD2_FLAG_ESCAPE      1
#define JBD2_FLAG_SAME_UUID   2
#define JBD2_FLAG_LAST_TAG    8
#define JBD2_HEADER_SIZE      12 /* magic, type, sequence */
#define JBD2_TAG_BYTES	      12 /* block low, checksum 16 and flags 16, block high */
#define JBD2_UUID_SIZE	      16 /* behind the first tag */
#define JBD2_REVOKE_HEADER    16 /* header and count */
#define JBD2_REVOKE_BYTES     8

static inline void jbd2_put32(void *block, unsigned int off, u32 v)
{
	u8 *p = (u8 *)block + off;

	p[0] = v >> 24;
	p[1] = v >> 16;
	p[2] = v >> 8;
	p[3] = v;
}

static inline u32 jbd2_get32(const void *block, unsigned int off)
{
	const u8 *p = (const u8 *)block + off;

	return (u32)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}

static inline void jbd2_put_header(void *block, u32 type, tid_t tid)
{
	jbd2_put32(block, 0, JBD2_MAGIC_NUMBER);
	jbd2_put32(block, 4, type);
	jbd2_put32(block, 8, tid);
}

/* Tags that fit into one descriptor block; the kernel leaves 16 bytes at its end. */
static inline unsigned int jbd2_tags_per_block(const journal_t *journal)
{
	return (journal->j_blocksize - JBD2_HEADER_SIZE - JBD2_UUID_SIZE - 16) / JBD2_TAG_BYTES;
}

static inline unsigned int jbd2_revokes_per_block(const journal_t *journal)
{
	return (journal->j_blocksize - JBD2_REVOKE_HEADER) / JBD2_REVOKE_BYTES;
}

#endif
