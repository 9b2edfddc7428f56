/*
 * trace/code.h - where in the program each event was raised.
 *
 * A recording made with --trace-code ends, behind its end mark, in one more block:
 *
 *     u32 magic "COD1"  u32 bytes of the build id  u32 chains  u32 positions
 *     u64 events  u64 bytes that follow, packed  u64 CRC-64 of the header's first 32 bytes and them
 *     packed with lzma: build id, u32 end of each chain, u32 positions, u32 chain of each event
 *
 * A chain is the calls that led to an event, innermost first; each position is a return address
 * as an offset in the program's file. The same few chains come again and again, so they are kept
 * once. Whoever reads or compares events stops at the end mark and never sees this.
 *
 * Invariant  offsets are below the program's size, a chain has at most TRACE_CODE_DEPTH of them.
 * Owner      the recorder belongs to the caller; trace_code_fini() releases what was loaded.
 * Errors     negative errno with struct fl_error. Events are recorded without a chain once memory
 *            for more is missing.
 */
#ifndef FL_TRACE_CODE_H
#define FL_TRACE_CODE_H

#include <stdio.h>

#include "lib/error.h"
#include "trace/trace.h"

#define TRACE_CODE_DEPTH    32u
#define TRACE_CODE_BUILD_ID 20u /* bytes, at most */

struct trace_code {
	u8 build_id[TRACE_CODE_BUILD_ID];
	u32 build_id_len;
	u32 *ends; /* chain i is positions[ends[i - 1] .. ends[i]) */
	u32 nr_chains;
	u32 *positions;
	u32 nr_positions;
	u32 *chain_of; /* by event */
	u64 events;
};

struct code_recorder;

/* Begin; -ENOMEM. Where the program has no build id none is recorded. */
int code_recorder_new(struct code_recorder **ret);
/* The sink to register: it must be called from inside the code that raises the event. */
struct trace_sink *code_recorder_sink(struct code_recorder *r);
/* Append the block to @f, behind a recording that is finished. */
int code_recorder_write(struct code_recorder *r, FILE *f, struct fl_error *err);
/* What was recorded so far, without a file; -ENOMEM. @ret ends in trace_code_fini(). */
int code_recorder_take(const struct code_recorder *r, struct trace_code *ret);
void code_recorder_free(struct code_recorder *r);

/*
 * Read the block of the recording @path. -ENODATA: it has none; -EINVAL: it is no recording, or
 * damaged.
 */
int trace_code_load(struct trace_code *c, const char *path, struct fl_error *err);
void trace_code_fini(struct trace_code *c);

/* The chain of event @nr (< events): its positions, @len of them. */
const u32 *trace_code_chain(const struct trace_code *c, u64 nr, u32 *len);

#endif
