/*
 * trace/format.h - an event as the kernel's ftrace would print it.
 *
 * Mirrors    the TP_printk() of include/trace/events/; the formats stand in trace/events.def.
 * Errors     output is cut at the buffer's end and always terminated.
 */
#ifndef FL_TRACE_FORMAT_H
#define FL_TRACE_FORMAT_H

#include "trace/trace.h"

/* What printing needs to know beyond the event. */
struct trace_format {
	unsigned int page_shift;   /* of the machine that made the event */
	unsigned int major, minor; /* of the file's device */
	u64 ino;		   /* filled by trace/parse.h: all of it, events keep 32 bits */
};

/* The text after the event's name. Returns the length written, without the NUL. */
size_t trace_format_event(const struct trace_format *fmt, const struct trace_event *ev, char *buf,
			  size_t size);

#endif
