/*
 * trace/parse.h - a line of ftrace text as an event.
 *
 * The inverse of trace/format.h: "  dd-42 [001] ..... 12.345678: mm_filemap_fault: dev=8:1 ..."
 *
 * Errors     hostile input: every number is bounded, what does not match the event's format in
 *            trace/events.def is no event.
 */
#ifndef FL_TRACE_PARSE_H
#define FL_TRACE_PARSE_H

#include "trace/format.h"

/* Where the line came from, besides the event. */
struct trace_line {
	char comm[32]; /* the task */
	int pid;
	char name[64];	  /* of the event, also one that is not known; "" before there is one */
	const char *args; /* the text behind the event's name, inside the line */
};

/*
 * Parse one line. @fmt gives the page size and gets the device and the inode number (0, 0 and 0
 * where the event names none). Formats of older kernels are understood, too. Returns 1, 0 for a
 * line that is no event (header, blank), -ENOENT for an event that trace/events.def does not have,
 * -EINVAL for one whose arguments do not have its format.
 */
int trace_parse_line(struct trace_format *fmt, const char *line, struct trace_event *ev,
		     struct trace_line *info);

/* The arguments alone, for event @ev->id. 0 or -EINVAL. */
int trace_parse_args(struct trace_format *fmt, const char *args, struct trace_event *ev);

#endif
