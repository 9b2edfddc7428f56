/*
 * tests/fs/journal_log.h - handles, extents and commits of a run, as the specification writes them.
 *
 * Owner      the log listens from _begin to _end; texts are overwritten by the next call.
 */
#ifndef FL_TESTS_FS_JOURNAL_LOG_H
#define FL_TESTS_FS_JOURNAL_LOG_H

#include "fs/ext4/ext4_jbd2.h"
#include "fs/files.h"

#define LOG_MAX 8192

struct journal_log {
	struct trace_sink sink;
	unsigned int nr_handles, nr_extends, nr_restarts, nr_commits, nr_maps;
	unsigned int nr_extents, nr_folios;
	struct {
		u32 type, credits; /* what ext4 asked for, without jbd2's block for revokes */
	} handles[LOG_MAX];
	struct {
		u64 lblk;
		u32 len;
	} extents[LOG_MAX];
	u32 wanted[LOG_MAX]; /* blocks each map call asked for */
	char text[1024];
};

void journal_log_begin(struct journal_log *log, struct run *run);
void journal_log_end(struct journal_log *log, struct run *run);
/* Credits of the handles of one type: "31", "31*512", "30 2". */
const char *journal_log_credits(struct journal_log *log, enum ext4_handle_type type);
/* "0+512 512+2048" */
const char *journal_log_extents(struct journal_log *log);

/* Play @ops while it listens. */
void journal_log_ops(struct journal_log *log, struct run *run, const char *ops);

#endif
