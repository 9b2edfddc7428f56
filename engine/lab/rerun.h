/*
 * lab/rerun.h - a recording's run once more, up to one of its events.
 *
 * The same machine and workload make the same events, so the state at event N is found again by
 * playing up to it. That the header says everything about the run is not assumed: each event is
 * compared with the recorded one.
 *
 * Errors     negative errno with struct fl_error; -ENODATA for recordings of real kernels, which
 *            have no run to repeat; -ESTALE where the events differ.
 */
#ifndef FL_LAB_RERUN_H
#define FL_LAB_RERUN_H

#include "lab/run.h"
#include "trace/recording.h"

/* Looks at @run in the middle of whatever raised the event; must not change it. */
typedef int (*rerun_look)(void *ctx, const struct run *run, struct fl_error *err);

/*
 * Play what @info describes and call @look at event @nr, from 0 (~0: at the end). @tape holds the
 * recorded events from @first on.
 */
int rerun(const struct recording_info *info, const struct tape *tape, u64 first, u64 nr,
	  rerun_look look, void *ctx, struct fl_error *err);
/* The same; @also, a sink of the caller's or NULL, gets every event too. */
int rerun_with(const struct recording_info *info, const struct tape *tape, u64 first, u64 nr,
	       struct trace_sink *also, rerun_look look, void *ctx, struct fl_error *err);

#endif
