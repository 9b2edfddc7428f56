/*
 * cli/watch.h - run, compare and replay in the terminal view or the window.
 *
 * Errors     negative errno with struct fl_error; -EINTR where a signal ended the view (it is
 *            raised again once the terminal is as it was).
 */
#ifndef FL_CLI_WATCH_H
#define FL_CLI_WATCH_H

#include "cli/recording_args.h"
#include "cli/run_args.h"
#include "view/tui/tui.h"

/*
 * Play the workload on every kernel of @a and show them side by side, in step: while it plays, or
 * on several processors after it was played to its end.
 */
int watch_run(const struct run_args *a, struct fl_error *err);

/* Show a recording; @from tells where it begins. */
int watch_recording(const struct recording_args *a, enum cli_view view, struct fl_error *err);

/* Look on at the session that serves at @socket. */
int watch_attached(const char *socket, enum cli_view view, bool no_settings, struct fl_error *err);
/* An operation as the workload language writes it. */
void watch_op_text(const struct trace_event *ev, char *buf, size_t size);
/* After a view: a signal that ended it (@ret -EINTR) takes its course; else @ret. */
int watch_end(int ret, int signo);

/* What a view needs to know of a recording; @a outlives the view. */
void watch_options(struct tui_options *options, const struct recording_args *a);

#endif
