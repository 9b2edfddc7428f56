/*
 * lab/workload.h - the workload language: what a run does to its file, one operation a line.
 *
 *     # comment
 *     fadvise sequential 0 0
 *     read 4k 1024; fsync
 *
 * Operations are separated by newlines or ';', words by blanks; '#' starts a comment that ends
 * with the line. Sizes and counts are what parse_size() reads (0x10, 4k, 1G).
 *
 * Invariant  an operation that parsed is in range: no field but step is negative, n >= 1
 *            (except fd and task, where it is their number), OFF + LEN * N and OFF + STEP * (N - 1)
 *            stay within 0..2^63-1. LEN of 0 is for the kernel to judge, LEN past
 *            MAX_RW_COUNT for the engine to cut.
 *            Repeats stay a count: nothing is expanded here.
 * Owner      a struct workload owns its array; init by parse or load, release with fini.
 * Errors     -errno with a struct fl_error that names file, line, fault and expectation; the
 *            workload is then empty and fini is optional. No operation at all is no error.
 */
#ifndef FL_LAB_WORKLOAD_H
#define FL_LAB_WORKLOAD_H

#include "lib/error.h"
#include "lib/types.h"

#define WL_MAX_BYTES (64UL << 20) /* of text */
#define WL_MAX_LINES 1000000UL	  /* and as many operations */
#define WL_MAX_LINE  4096UL	  /* bytes of one operation with its blanks and comment */

/*
 * Every operation once: X(id, name, kinds, arguments, help).
 * Kinds say how the words after the name are read, a letter each; what follows '|' is given
 * completely or not at all:
 *   o OFF   l LEN   s STEP   n N   k descriptor or task   f advice of fadvise   m advice of madvise
 */
#define WL_OPS(X)                                                                                  \
	X(READ, "read", "l|n", "LEN [N]", "read LEN bytes at the file position, N times")          \
	X(PREAD, "pread", "ol", "OFF LEN", "read LEN bytes at OFF")                                \
	X(SEEK, "seek", "o", "OFF", "set the file position")                                       \
	X(FD, "fd", "k", "K", "go on with descriptor K mod 4 of the same file")                    \
	X(REOPEN, "reopen", "", "", "close the current descriptor and open it again")              \
	X(FADVISE, "fadvise", "fol", "ADVICE OFF LEN", "posix_fadvise(2); LEN 0 is to the end")    \
	X(READAHEAD, "readahead", "ol", "OFF LEN", "readahead(2)")                                 \
	X(MMAP, "mmap", "", "", "map the whole file, shared, read-write")                          \
	X(MUNMAP, "munmap", "", "", "drop the mapping")                                            \
	X(MADVISE, "madvise", "m", "ADVICE", "madvise(2) on the whole mapping")                    \
	X(TOUCH, "touch", "o|sn", "OFF [STEP N]", "load N bytes through the mapping, STEP apart")  \
	X(WTOUCH, "wtouch", "o|sn", "OFF [STEP N]", "store N bytes, STEP apart (may be negative)") \
	X(PWRITE, "pwrite", "ol|n", "OFF LEN [N]", "write LEN bytes at OFF, N times advancing")    \
	X(FSYNC, "fsync", "", "", "write dirty pages back")                                        \
	X(FTRUNCATE, "ftruncate", "l", "LEN", "set the file size")                                 \
	X(PUNCH, "punch", "ol", "OFF LEN", "punch a hole, keeping the size")                       \
	X(FALLOCATE, "fallocate", "ol", "OFF LEN", "allocate blocks, growing the file")            \
	X(SPLICE, "splice", "ol", "OFF LEN", "splice LEN bytes at OFF into a pipe")                \
	X(POISON, "poison", "o", "OFF", "a memory error hits the page that caches OFF")            \
	X(SOFT_OFFLINE, "soft-offline", "o", "OFF", "move the page away before it fails")          \
	X(UNPOISON, "unpoison", "o", "OFF", "take the memory error back")                          \
	X(DEFRAG, "defrag", "", "", "defragment the file (EXT4_IOC_MOVE_EXT)")                     \
	X(TASK, "task", "k", "K", "what follows is done by task K, on CPU K, beside the others")

/* Every advice once: X(id, name, who takes it). */
#define WL_BY_FADVISE 1
#define WL_BY_MADVISE 2
#define WL_ADVICES(X)                                                                              \
	X(NORMAL, "normal", WL_BY_FADVISE | WL_BY_MADVISE)                                         \
	X(RANDOM, "random", WL_BY_FADVISE | WL_BY_MADVISE)                                         \
	X(SEQUENTIAL, "sequential", WL_BY_FADVISE | WL_BY_MADVISE)                                 \
	X(WILLNEED, "willneed", WL_BY_FADVISE | WL_BY_MADVISE)                                     \
	X(DONTNEED, "dontneed", WL_BY_FADVISE | WL_BY_MADVISE)                                     \
	X(NOREUSE, "noreuse", WL_BY_FADVISE)                                                       \
	X(HUGEPAGE, "hugepage", WL_BY_MADVISE)                                                     \
	X(NOHUGEPAGE, "nohugepage", WL_BY_MADVISE)                                                 \
	X(POPULATE_READ, "populate_read", WL_BY_MADVISE)                                           \
	X(POPULATE_WRITE, "populate_write", WL_BY_MADVISE)                                         \
	X(COLD, "cold", WL_BY_MADVISE)                                                             \
	X(PAGEOUT, "pageout", WL_BY_MADVISE)

enum wl_op_type {
#define X(id, ...) WL_##id,
	WL_OPS(X)
#undef X
		WL_NR_OPS
};

enum wl_advice {
#define X(id, ...) WL_ADV_##id,
	WL_ADVICES(X)
#undef X
		WL_NR_ADVICES
};

struct wl_op {
	enum wl_op_type type;
	u32 line;  /* 1-based line of the text it stands in */
	u8 advice; /* enum wl_advice, for fadvise and madvise */
	s64 off;   /* OFF, bytes */
	s64 len;   /* LEN, bytes */
	s64 step;  /* STEP, bytes, may be negative; 0 where not given */
	u64 n;	   /* N, 1 where not given; K of fd and task */
};

/* How many operations a line stands for; the N of fd and task is something else. */
static inline u64 workload_op_count(const struct wl_op *op)
{
	return op->type == WL_FD || op->type == WL_TASK ? 1 : op->n;
}

struct workload {
	struct wl_op *ops; /* in the order of the text; NULL when there is none */
	size_t nr;
	char name[256]; /* where it came from, as messages call it */
};

/*
 * Parse @len bytes of @text, called @name in messages ("-e"). @w need not be initialised.
 * Returns 0, -EINVAL (not the language), -ERANGE (a number or range past 2^63-1), -E2BIG (a
 * limit above), -ENOMEM.
 */
int workload_parse(struct workload *w, const char *name, const char *text, size_t len,
		   struct fl_error *err);

/*
 * The same for a regular file, or for standard input when @path is "-". What is no regular file
 * gives -EISDIR or -EINVAL without waiting for it, what cannot be read its errno.
 */
int workload_load(struct workload *w, const char *path, struct fl_error *err);

/* Release what parse or load built; @w is then empty. */
void workload_fini(struct workload *w);

/*
 * Parse one operation: @len bytes without newline or ';', a comment may follow. op->line says
 * where it stands (it is the line of the message, @name its file) and is kept.
 * Returns 1, 0 when there is no operation (blank, comment), or as workload_parse().
 */
int workload_parse_op(struct wl_op *op, const char *name, const char *text, size_t len,
		      struct fl_error *err);

/*
 * Write @op the canonical way: one blank between words, sizes by format_size(), optional
 * arguments only where they matter. It parses back to the same operation.
 * Returns the length as snprintf() does, -EINVAL for an operation that cannot have parsed.
 */
int workload_format_op(const struct wl_op *op, char *buf, size_t n);

/* The columns of the tables; "?" for a type or advice that does not exist. */
const char *workload_op_name(enum wl_op_type type);
const char *workload_op_args(enum wl_op_type type);
const char *workload_op_help(enum wl_op_type type);
const char *workload_advice_name(u8 advice);

#endif
