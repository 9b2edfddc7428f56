/*
 * cli/play.h - a workload named on the command line, played on one machine.
 *
 * Owner      workload_arg_load() gives the workload to the caller.
 * Errors     negative errno with a struct fl_error; a call that fails inside the miniature is
 *            counted in the report and is no error.
 */
#ifndef FL_CLI_PLAY_H
#define FL_CLI_PLAY_H

#include "cli/perf.h"
#include "cli/report.h"
#include "lab/workload.h"

/* FILE.wl | -e OPS: one of the two. */
struct workload_arg {
	const char *path;
	const char *ops;
};

/* Take FILE.wl, or OPS of -e; -EINVAL where there is a workload already. */
int workload_arg_set_path(struct workload_arg *arg, const char *path, struct fl_error *err);
int workload_arg_set_ops(struct workload_arg *arg, const char *ops, struct fl_error *err);

bool workload_arg_is_lua(const struct workload_arg *arg);

/* Parse what the command line named. -EINVAL where it named nothing or a Lua file. */
int workload_arg_load(const struct workload_arg *arg, struct workload *ret, struct fl_error *err);

/* What a run may leave behind besides its report; zeros: nothing. */
struct play_extras {
	const char *trace; /* record there */
	bool pack;	   /* compress the recording */
	bool code;	   /* and the calls that led to each event */
	struct perf *perf; /* gets where the virtual time went */
};

/*
 * Where one of several recordings goes: "t.flt" and "v6.7" are "t-v6.7.flt". The name is the
 * caller's; NULL: no memory.
 */
char *trace_name(const char *path, const char *part);

/*
 * Boot the machine of @given (with at least as many processors as @w has tasks), play @w on it,
 * read everything off it into @ret; @extras may be NULL. On a terminal (stderr) a line of progress
 * appears after a second and goes at the end.
 */
int play(const struct run_config *given, const struct workload *w, const struct play_extras *extras,
	 struct report *ret, struct fl_error *err);

#endif
