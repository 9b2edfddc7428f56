/*
 * lab/run_live.h - a run that somebody watches while it happens.
 *
 * A thread plays the workload and tells its events to a tape; it stops, in the middle of an
 * operation where need be, when as many events are told as somebody wants to see.
 *
 * Invariant  the watcher's tape (live_run_tape()) shares the player's memory and ends where the
 *            watcher last looked (live_run_pull()); only the watcher changes it.
 * Owner      live_run_start() gives the run to the caller, live_run_end() ends it; workload and
 *            config outlive it.
 * Errors     negative errno with struct fl_error; what goes wrong while playing is told by
 *            live_run_end(), and in words by live_run_note() before.
 */
#ifndef FL_LAB_RUN_LIVE_H
#define FL_LAB_RUN_LIVE_H

#include "lab/run.h"
#include "trace/recording.h"
#include "trace/tape.h"

struct live_run;

/* Boot the machine and stand before the first operation. The run ends after @max_events events. */
int live_run_start(const struct run_config *config, const struct workload *w, u64 max_events,
		   struct live_run **ret, struct fl_error *err);

const struct tape *live_run_tape(const struct live_run *lr);
const struct recording_info *live_run_info(const struct live_run *lr);

/*
 * Let it play until @want events are told, wait up to @ms milliseconds for that, and take notice
 * of those there are. False once all events it will ever tell have been taken notice of.
 */
bool live_run_pull(struct live_run *lr, u64 want, int ms);

/* Operations of the workload, repeats counted. */
u64 live_run_ops(const struct live_run *lr);

/* Why it ended early, once it has; else NULL. */
const char *live_run_note(const struct live_run *lr);

/* Stop it. The error it ended with, if it came to one. NULL is fine. */
int live_run_end(struct live_run *lr, struct fl_error *err);

#endif
