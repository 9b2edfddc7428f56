/*
 * cli/struct_live.h - struct --live: what is in a struct of a run, now or at an event.
 *
 * Errors     -errno with struct fl_error.
 */
#ifndef FL_CLI_STRUCT_LIVE_H
#define FL_CLI_STRUCT_LIVE_H

#include "cli/common.h"
#include "cli/machine_options.h"
#include "cli/play.h"
#include "cli/recording_args.h"

struct live_args {
	const char *expression;		 /* NULL: --live was not given */
	u64 at;				 /* event; ~0: the end */
	struct recording_args recording; /* that is played once more, or ... */
	struct workload_arg workload;	 /* ... that is played */
	struct machine_options machine;
};

void live_args_init(struct live_args *a);
/* Play it and print the values on @f. */
int struct_live(const struct live_args *a, enum cli_format format, FILE *f, struct fl_error *err);

#endif
