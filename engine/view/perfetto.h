/*
 * view/perfetto.h - a recording for the Perfetto viewer (ui.perfetto.dev): Chrome's JSON events.
 *
 * Process 1 has a track for each CPU: calls as slices, tracepoints as instants, and counters
 * (pages cached, dirty, free). Process 2 has a track for each file: its readahead windows from the
 * choice to their last byte. Process 3 is the disk: requests, from issue to completion where
 * the recording has both (a real kernel's).
 *
 * Owner      nothing is kept.
 * Errors     -ENOMEM; write errors are the stream's.
 */
#ifndef FL_VIEW_PERFETTO_H
#define FL_VIEW_PERFETTO_H

#include <stdio.h>

#include "view/scene.h"

int perfetto_write(const struct tape *tape, const struct recording_info *info, FILE *f);

#endif
