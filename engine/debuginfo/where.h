/*
 * debuginfo/where.h - the calls that led to an event, as functions and lines of this program.
 *
 * A recording's chains (trace/code.h) are offsets in the program that made it; only the same build
 * can say what they mean.
 *
 * Owner      where_close(); frames live until then.
 * Errors     -errno with struct fl_error; -ENODATA for a recording without code positions,
 *            -ESTALE for one of another build.
 */
#ifndef FL_DEBUGINFO_WHERE_H
#define FL_DEBUGINFO_WHERE_H

#include "debuginfo/code.h"
#include "trace/code.h"

#define WHERE_FRAMES_MAX 128

struct where {
	struct dwarf_file own;
	struct code_map map;
	struct trace_code code;
};

int where_open(struct where *w, const char *recording, struct fl_error *err);
void where_close(struct where *w);

/*
 * The frames that led to event @nr, innermost first: how many, at most WHERE_FRAMES_MAX, or
 * -errno. What only fills it in (trace_event() and other trace_ functions) is left
 * out.
 */
int where_frames(struct where *w, u64 nr, struct code_frame *frames, struct fl_error *err);
/* The same of @code, out of @map. */
int where_chain(struct code_map *map, const struct trace_code *code, u64 nr,
		struct code_frame *frames, struct fl_error *err);

#endif
