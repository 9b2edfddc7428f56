/*
 * cli/common.h - what every command does the same way.
 *
 * Invariant  a command returns one of enum cli_exit and has told the reason of CLI_BAD on stderr.
 * Errors     functions that read a word return 0 or -EINVAL with a struct fl_error.
 */
#ifndef FL_CLI_COMMON_H
#define FL_CLI_COMMON_H

#include "cli/options.h"
#include "cli/out.h"

/* Exit status of every command. */
enum cli_exit {
	CLI_DONE = 0,
	CLI_NO = 1,  /* the answer is no: a mismatch, a failed check */
	CLI_BAD = 2, /* bad usage or input */
};

enum cli_format { FORMAT_TEXT, FORMAT_JSON };

/* Print @err on stderr; CLI_BAD (CLI_NO where a miniature kernel died), so that callers can write
 * "return cli_fail(&err)". */
int cli_fail(const struct fl_error *err);

/* Print the help of the command on standard output; CLI_DONE. */
int cli_help(const struct cli_args *args);

/* A positional word where none belongs: -EINVAL. */
int cli_unexpected(const struct cli_args *args, const char *word, struct fl_error *err);

/* The value of --format: text or json. */
int cli_parse_format(const char *value, enum cli_format *ret, struct fl_error *err);

/* A plain number from 1 to @most as the value of @option. */
int cli_parse_number(const char *option, const char *value, u64 most, u64 *ret,
		     struct fl_error *err);

/* What a run or recording is shown in. */
enum cli_view { VIEW_NONE, VIEW_TUI, VIEW_GUI };

/* The value of --view: none, tui or gui. */
int cli_parse_view(const char *value, enum cli_view *ret, struct fl_error *err);

/* What a command shows: text on @f, or one JSON object to be freed by the caller (NULL: memory). */
struct cli_result {
	void (*text)(struct out *o, const void *data);
	cJSON *(*json)(const void *data);
};

/*
 * Show @data in @format on @path (NULL: standard output), completely or not at all.
 * 0, or -errno with @err filled.
 */
int cli_show(const struct cli_result *result, const void *data, enum cli_format format,
	     const char *path, struct fl_error *err);

#endif
