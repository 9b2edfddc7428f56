/*
 * Mirrors fs/jbd2/recovery.c: three passes over the log - how far it is whole, what was revoked,
 * and then every block goes home.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fs/jbd2/jbd2.h"

enum passtype { PASS_SCAN, PASS_REVOKE, PASS_REPLAY };

struct recovery {
	journal_t *journal;
	struct recovery_info *info;
	struct xarray revoked; /* blocknr to the last transaction that revoked it */
	struct xa_cache nodes;
	tid_t start_tid;
	unsigned int start; /* first block of the log to read; 0: it is empty */
	char *block, *data; /* one block each */
};

static int jread(const struct recovery *r, unsigned int nr, char *buf)
{
	return blk_rw_wait(r->journal->j_dev, REQ_OP_READ | REQ_META, jbd2_log_pos(r->journal, nr),
			   buf, r->journal->j_blocksize);
}

static unsigned int wrap(const journal_t *journal, unsigned int nr)
{
	return nr >= journal->j_last ? nr - (journal->j_last - journal->j_first) : nr;
}

/* ---- tags ---- */

struct tag {
	u64 blocknr;
	u32 flags;
};

/* Tag @nr of a descriptor; false behind its end. */
static bool read_tag(const journal_t *journal, const char *descriptor, unsigned int nr,
		     struct tag *tag)
{
	unsigned int off = JBD2_HEADER_SIZE + nr * JBD2_TAG_BYTES + (nr ? JBD2_UUID_SIZE : 0);

	if (nr >= jbd2_tags_per_block(journal) || (nr && tag->flags & JBD2_FLAG_LAST_TAG))
		return false;
	tag->flags = jbd2_get32(descriptor, off + 4);
	tag->blocknr = jbd2_get32(descriptor, off) | (u64)jbd2_get32(descriptor, off + 8) << 32;
	return true;
}

static unsigned int count_tags(const journal_t *journal, const char *descriptor)
{
	struct tag tag = {0};
	unsigned int nr = 0;

	while (read_tag(journal, descriptor, nr, &tag))
		nr++;
	return nr;
}

/* fs/jbd2/revoke.c jbd2_journal_test_revoke(): freed in this transaction or a later one. */
static bool is_revoked(const struct recovery *r, u64 blocknr, tid_t tid)
{
	void *entry = xa_load(&r->revoked, blocknr);

	return entry && (s32)((tid_t)xa_to_value(entry) - tid) >= 0;
}

static int replay_block(struct recovery *r, const struct tag *tag, unsigned int nr, tid_t tid)
{
	const journal_t *journal = r->journal;
	int ret;

	if (is_revoked(r, tag->blocknr, tid)) {
		r->info->nr_revoke_hits++;
		return 0;
	}
	ret = jread(r, nr, r->data);
	if (ret)
		return ret;
	if (tag->flags & JBD2_FLAG_ESCAPE)
		jbd2_put32(r->data, 0, JBD2_MAGIC_NUMBER);
	r->info->nr_replays++;
	return blk_rw_wait(journal->j_dev, REQ_OP_WRITE | REQ_META,
			   tag->blocknr * journal->j_blocksize, r->data, journal->j_blocksize);
}

/* The blocks of the descriptor in r->block, which begin at log block @nr. */
static int replay_descriptor(struct recovery *r, unsigned int nr, tid_t tid)
{
	struct tag tag = {0};

	for (unsigned int i = 0; read_tag(r->journal, r->block, i, &tag); i++) {
		int ret = replay_block(r, &tag, wrap(r->journal, nr + i), tid);

		if (ret)
			return ret;
	}
	return 0;
}

static int scan_revoke_records(struct recovery *r, tid_t tid)
{
	unsigned int end = min(jbd2_get32(r->block, JBD2_HEADER_SIZE), r->journal->j_blocksize);

	for (unsigned int off = JBD2_REVOKE_HEADER; off + JBD2_REVOKE_BYTES <= end;
	     off += JBD2_REVOKE_BYTES) {
		u64 blocknr = (u64)jbd2_get32(r->block, off) << 32 | jbd2_get32(r->block, off + 4);

		if (xa_is_err(xa_store(&r->revoked, blocknr, xa_mk_value(tid))))
			return -ENOMEM;
		r->info->nr_revokes++;
	}
	return 0;
}

/* ---- passes ---- */

/* One block of the log in its turn; *nr moves behind what belongs to it, *tid behind a commit. */
static int one_block(struct recovery *r, enum passtype pass, unsigned int *nr, tid_t *tid)
{
	const journal_t *journal = r->journal;
	unsigned int at = wrap(journal, *nr + 1);
	int ret = 0;

	switch (jbd2_get32(r->block, 4)) {
	case JBD2_DESCRIPTOR_BLOCK:
		if (pass == PASS_REPLAY)
			ret = replay_descriptor(r, at, *tid);
		at = wrap(journal, at + count_tags(journal, r->block));
		break;
	case JBD2_REVOKE_BLOCK:
		if (pass == PASS_REVOKE)
			ret = scan_revoke_records(r, *tid);
		break;
	case JBD2_COMMIT_BLOCK:
		++*tid;
		break;
	default:
		ret = 1; /* nothing of ours: the log ends here */
	}
	*nr = at;
	return ret;
}

static int do_one_pass(struct recovery *r, enum passtype pass)
{
	unsigned int nr = r->start, seen = 0;
	tid_t tid = r->start_tid;

	while (seen++ < r->journal->j_total_len) {
		int ret;

		if (pass != PASS_SCAN && tid == r->info->end_transaction)
			break;
		ret = jread(r, nr, r->block);
		if (ret)
			return ret;
		if (jbd2_get32(r->block, 0) != JBD2_MAGIC_NUMBER || jbd2_get32(r->block, 8) != tid)
			break;
		ret = one_block(r, pass, &nr, &tid);
		if (ret < 0)
			return ret;
		if (ret)
			break;
	}
	if (pass == PASS_SCAN)
		r->info->end_transaction = tid;
	return 0;
}

static int read_superblock(struct recovery *r)
{
	const journal_t *journal = r->journal;
	int ret = jread(r, 0, r->block);

	if (ret)
		return ret;
	r->start_tid = r->info->start_transaction = r->info->end_transaction = 1;
	if (!jbd2_get32(r->block, 0)) /* never written: as mkfs left it */
		return 0;
	if (jbd2_get32(r->block, 0) != JBD2_MAGIC_NUMBER ||
	    jbd2_get32(r->block, 12) != journal->j_blocksize ||
	    jbd2_get32(r->block, 16) != journal->j_total_len)
		return -EINVAL;
	r->start_tid = r->info->start_transaction = jbd2_get32(r->block, 24);
	r->info->end_transaction = r->start_tid;
	r->start = jbd2_get32(r->block, 28);
	return r->start < journal->j_last ? 0 : -EINVAL;
}

/* The log is empty again; transactions go on behind the last one replayed. */
static int finish_recovery(struct recovery *r)
{
	journal_t *journal = r->journal;
	int ret = blkdev_issue_flush(journal->j_dev);

	journal->j_transaction_sequence = journal->j_tail_sequence = r->info->end_transaction + 1;
	journal->j_commit_sequence = r->info->end_transaction;
	if (!ret)
		ret = jbd2_journal_update_sb_log_tail(journal, journal->j_tail_sequence, 0);
	return ret;
}

int jbd2_journal_recover(journal_t *journal, struct recovery_info *info)
{
	struct recovery r = {.journal = journal, .info = info};
	int ret;

	*info = (struct recovery_info){0};
	xa_cache_init(&r.nodes);
	xa_init(&r.revoked, &r.nodes);
	r.block = malloc(journal->j_blocksize);
	r.data = malloc(journal->j_blocksize);
	ret = r.block && r.data ? read_superblock(&r) : -ENOMEM;
	if (!ret && r.start)
		ret = do_one_pass(&r, PASS_SCAN);
	if (!ret && r.start)
		ret = do_one_pass(&r, PASS_REVOKE);
	if (!ret && r.start)
		ret = do_one_pass(&r, PASS_REPLAY);
	if (!ret && r.start)
		ret = finish_recovery(&r);
	free(r.block);
	free(r.data);
	xa_destroy(&r.revoked);
	xa_cache_fini(&r.nodes);
	return ret;
}
