/*
 * cli/out.h - output that is complete or not there, and what a terminal gets to see.
 *
 * A struct out is standard output or the FILE of -o. A regular file is written beside its
 * target under a temporary name, synced, and takes the target's place in out_commit(): whoever
 * looks sees the old file or the whole new one. A device or FIFO is written directly.
 *
 * Invariant  the first failed write is remembered, nothing is written after it, and out_commit()
 *            tells it; so callers print to out->f without looking.
 * Owner      every successful out_open() ends in exactly one out_commit() or out_abort(), which
 *            also frees; a further out_abort() does nothing. out->f points into the struct: do
 *            not copy or move it in between.
 * Errors     -errno and a struct fl_error: "standard output: Broken pipe". SIGPIPE must be
 *            ignored for that; main does so.
 */
#ifndef FL_CLI_OUT_H
#define FL_CLI_OUT_H

#include <cjson/cJSON.h>
#include <stdio.h>

#include "lib/error.h"
#include "lib/json.h"
#include "lib/types.h"

struct out {
	FILE *f;     /* print here */
	bool colour; /* out_colour() of standard output; false for a file */
	int fd;	     /* where @f ends up; STDOUT_FILENO is left open */
	int error;   /* -errno of the first write that failed */
	char *path;  /* the target; NULL for standard output */
	char *tmp;   /* what takes its place; NULL when written directly */
};

/*
 * Open @path for writing; NULL or "-" is standard output (what stdio holds for it goes first).
 * An existing file keeps its mode. Returns 0, -EISDIR, -EACCES, -ENOENT, -ENOMEM...
 */
int out_open(struct out *o, const char *path, struct fl_error *err);

/* Finish: flush, sync, rename. On failure the temporary file is gone, the old file untouched. */
int out_commit(struct out *o, struct fl_error *err);

/* Give up: drop what was not written yet, remove the temporary file. */
void out_abort(struct out *o);

/*
 * Flush stdio's stdout; main's last act. Returns 0, or -errno (also when an earlier write was
 * lost) with an error called "standard output".
 */
int out_finish_stdout(struct fl_error *err);

/* May @f be coloured: a terminal other than "dumb", and NO_COLOR not set (or empty)? */
bool out_colour(FILE *f);

/* Print "foliolab: FILE:LINE: text" to stderr, without the parts that are empty. */
void out_error(const struct fl_error *err);

/*
 * A bar as bcc's print_log2_hist() draws it: "|****    |", @width characters for @max, '+' last
 * for more than that. Stars are rounded down.
 */
void print_bar(FILE *f, u64 n, u64 max, unsigned int width);

/* Print @obj indented, with a newline. Returns 0 or -ENOMEM; write errors wait for out_commit(). */
int out_json(struct out *o, const cJSON *obj);

#endif
