/*
 * cli/run_script.h - `foliolab run FILE.lua`: a Lua workload, which prints for itself.
 *
 * Owner      strings of @a are the command line's.
 * Errors     -EINVAL for options that a Lua workload does not take; those of lab/lab_remote.h and
 *            of the files written.
 */
#ifndef FL_CLI_RUN_SCRIPT_H
#define FL_CLI_RUN_SCRIPT_H

#include "cli/run_args.h"

/*
 * Run it, with the machine's options as defaults of fl.machine{}. With --trace each machine that
 * it boots (no twins) is recorded: the first in that file, the others in FILE-2, FILE-3, ...
 */
int run_script(const struct run_args *a, struct fl_error *err);

#endif
