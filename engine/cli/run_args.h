/*
 * cli/run_args.h - the command line of run and compare: a workload, a machine, what to show.
 *
 * Owner      strings point into argv.
 * Errors     -EINVAL, -ERANGE or -E2BIG with a struct fl_error.
 */
#ifndef FL_CLI_RUN_ARGS_H
#define FL_CLI_RUN_ARGS_H

#include "cli/common.h"
#include "cli/machine_options.h"
#include "cli/play.h"

struct run_args {
	struct machine_options machine;
	struct workload_arg workload;
	bool measure;
	bool perf, folded; /* show where the virtual time went */
	enum cli_format format;
	const char *figures; /* folder, of a Lua workload */
	const char *output;  /* NULL: standard output */
	const char *trace;   /* record there, or NULL */
	bool pack;	     /* compress that */
	bool trace_code;     /* record the code positions too */
	enum cli_view view;
	const char *serve; /* socket for other views, or NULL */
	bool no_settings;  /* of the terminal view */
	u64 explore;	   /* schedules to try; 0: play one */
	u64 jobs;	   /* processes for that */
	bool help;	   /* --help was there; nothing after it was read */
};

extern const struct cli_option run_arg_options[];

/* For the help: the operations and advices of a workload, as far as they can be played. */
void run_args_print_words(FILE *f);

/* Read all of the command line into @a. */
int run_args_parse(struct run_args *a, struct cli_args *args, struct fl_error *err);

#endif
