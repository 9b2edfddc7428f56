/*
 * host/import_scan.h - the lines of an ftrace text, and which files they are about.
 *
 * Owner      import_scan_fini() releases what a scan holds; the stream is the caller's.
 * Errors     as host/import.h.
 */
#ifndef FL_HOST_IMPORT_SCAN_H
#define FL_HOST_IMPORT_SCAN_H

#include "host/import.h"
#include "trace/parse.h"

/* One line, read and parsed. */
struct import_line {
	char text[IMPORT_LINE_MAX];
	u64 nr;	  /* from 1 */
	int kind; /* what trace_parse_line() returned */
	struct trace_event ev;
	struct trace_line where;
	struct trace_format fmt;
};

/* What an event says of a file. */
enum import_file { FILE_NAMED, FILE_DEVICE, FILE_INODE, FILE_NONE };

/* @line is an event (kind 1): how it names its file. */
enum import_file import_names_file(const struct import_line *line);
u32 import_dev(const struct import_line *line);

/*
 * The next line of @f. 1, 0 at the end, -EINVAL (a byte or a length no text has, a damaged event
 * unless @options allow it), errno. @line->nr and fmt.page_shift must be kept between calls.
 */
int import_next_line(FILE *f, const char *name, const struct import_options *options,
		     struct import_line *line, struct fl_error *err);

struct import_scan {
	struct import_seen
		*seen; /* a hash table: @cap places, a power of two; free without events */
	unsigned int nr, cap;
	unsigned int cpus;
	char kernel[128]; /* as the text says, or "" */
};

/* Read all of @f; counts that do not depend on the choice go to @result. */
int import_scan(FILE *f, const char *name, const struct import_options *options, u64 page_size,
		struct import_scan *scan, struct import_result *result, struct fl_error *err);
void import_scan_fini(struct import_scan *scan);

#endif
