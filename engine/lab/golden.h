/*
 * lab/golden.h - runs recorded on real kernels, played on the miniature and compared.
 *
 * The format is described in tests/golden/README.md: for each operation the folios that were
 * added (in order) and removed (as a set), at the end every cached folio with its flags.
 *
 * Invariant  a run that cannot be played as a whole is skipped with a reason, never passed.
 * Owner      a golden_run owns its arrays until golden_run_fini(); it may be read into again.
 * Errors     -EINVAL with file and line for what is not the format; -ENOMEM; -E2BIG.
 */
#ifndef FL_LAB_GOLDEN_H
#define FL_LAB_GOLDEN_H

#include "lab/workload.h"

/* One line of a recording under an operation: folios that came or went, a tracepoint. */
struct golden_change {
	char sign; /* + - # */
	u8 order;
	u32 count; /* consecutive folios; 0 for a tracepoint */
	u64 index; /* of the first; of a tracepoint's text in traces */
};

/* One operation of a recording. */
struct golden_op {
	struct wl_op op; /* op.line is the line in the file */
	u64 repeat;	 /* times it was done in a row */
	size_t first_change, nr_changes;
};

/* A folio that was there at the end; flags are letters of "udm". */
struct golden_state {
	u64 index;
	u32 count;
	u8 order;
	u8 flags; /* GOLDEN_* */
};

#define GOLDEN_UPTODATE 1
#define GOLDEN_DIRTY	2
#define GOLDEN_MARK	4

struct golden_run {
	char name[64], kernel[64], fs[32], file[32];
	char profile[64]; /* plays as this one; "" for the one that fits the kernel */
	s64 size;
	bool ended; /* "> end" was there: the recording of this run is whole */
	u64 ra_pages, io_pages;
	u32 line; /* where the run begins */
	struct golden_op *ops;
	size_t nr_ops, cap_ops;
	struct golden_change *changes;
	size_t nr_changes, cap_changes;
	struct golden_state *states;
	size_t nr_states, cap_states;
	const char **traces; /* readahead tracepoints, into the text; not terminated by NUL */
	size_t nr_traces, cap_traces;
};

/* Walks a text run by run. */
struct golden_reader {
	const char *name; /* of the file, for messages */
	const char *pos, *end;
	u32 line;
};

enum golden_verdict { GOLDEN_IDENTICAL, GOLDEN_DIFFERENT, GOLDEN_SKIPPED };

struct golden_result {
	enum golden_verdict verdict;
	const char *reason;   /* why it was skipped: "writes", "tmpfs", ... */
	u32 line;	      /* of the operation that differs */
	char op[96];	      /* that operation, as text */
	char *expected, *got; /* what it caused, a line each; golden_result_fini() */
	char window[256];     /* the readahead state after it */
};

/*
 * The written files of a recording stay from run to run: holes that one run punched are there for
 * the next. Runs have to be played in the order of the recording.
 */
struct golden_files {
	struct golden_file *first;
};

/* An empty store is all zero. */
void golden_files_fini(struct golden_files *files);

/* @text must stay as long as the reader and the runs read from it. */
void golden_reader_init(struct golden_reader *r, const char *name, const char *text, size_t len);

/* The next run: 1, 0 at the end, or negative errno. @run is zeroed before the first call. */
int golden_read(struct golden_reader *r, struct golden_run *run, struct fl_error *err);
void golden_run_fini(struct golden_run *run);

/*
 * Play @run on the file as @files has it, and compare. @knobs ("" or "+X-Y") is put behind the
 * profile of the recorded kernel. With @tracepoints the readahead tracepoints of kernels that have
 * them must match too, text and place. 0 with @result filled, or negative errno (no memory, a
 * kernel without a profile, knobs).
 */
int golden_play(const struct golden_run *run, struct golden_files *files, const char *knobs,
		bool tracepoints, struct golden_result *result, struct fl_error *err);
void golden_result_fini(struct golden_result *result);

#endif
