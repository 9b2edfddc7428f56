/*
 * cli/recording_args.h - opening a recording named on the command line.
 *
 * Owner      recorded_close() releases what recorded_open() read.
 * Errors     negative errno with struct fl_error.
 */
#ifndef FL_CLI_RECORDING_ARGS_H
#define FL_CLI_RECORDING_ARGS_H

#include "trace/recording.h"

struct recording_args {
	const char *path;
	u64 from, to;	  /* events, both included */
	bool no_settings; /* of the view */
};

struct recorded {
	struct recording_info info;
	struct tape tape;
	struct recording_result result;
	u64 first; /* number of the tape's first event in the file */
};

/* All of the file until told otherwise. */
void recording_args_init(struct recording_args *a);
/* The values of TRACE, --from and --to. */
int recording_args_path(struct recording_args *a, const char *value, struct fl_error *err);
int recording_args_number(const char *option, const char *value, u64 *ret, struct fl_error *err);

/*
 * Read it; @before (or NULL) gets what lies before the range. What is wrong with a file that could
 * be opened all the same is told on standard error.
 */
int recorded_open(struct recorded *r, const struct recording_args *a, struct trace_sink *before,
		  struct fl_error *err);
void recorded_close(struct recorded *r);

#endif
