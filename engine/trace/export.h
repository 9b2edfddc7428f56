/*
 * trace/export.h - a tape as text.
 *
 * Owner      nothing is kept.
 * Errors     none; write errors are the stream's.
 */
#ifndef FL_TRACE_EXPORT_H
#define FL_TRACE_EXPORT_H

#include <stdio.h>

#include "trace/recording.h"

/*
 * The kernel's ftrace text, header included: a line an event for which @shown[id] holds.
 * Mirrors kernel/trace/trace_output.c trace_print_context().
 */
void export_ftrace(FILE *f, const struct tape *tape, const struct recording_info *info,
		   const bool *shown);

/* A line a event, with a line of column names first. */
void export_csv(FILE *f, const struct tape *tape, u64 first_nr, const bool *shown);

/* The fields of an event as its ftrace line has them, after the name. */
size_t export_line(const struct recording_info *info, const struct trace_event *ev, char *buf,
		   size_t size);

#endif
