/*
 * cli/power_cut_show.h - run --power-cut: what survived, as text and as JSON.
 */
#ifndef FL_CLI_POWER_CUT_SHOW_H
#define FL_CLI_POWER_CUT_SHOW_H

#include "cli/run_args.h"

/* Play @w with the machine of @a until its power goes out, and show what is left. */
int power_cut_run(const struct run_args *a, const struct workload *w, struct fl_error *err);

#define POWER_CUT_JSON_HELP                                                                            \
	"JSON keys with --power-cut:\n"                                                                \
	"  kernel fs                   what was played\n"                                              \
	"  power_cut                   the write it goes out with; out: whether it did\n"              \
	"  writes                      of the disk, completed\n"                                       \
	"  line operation              the one it went out in\n"                                       \
	"  transactions blocks revoked replayed from the journal\n"                                    \
	"  size_before size_after      of the file; extents: afterwards\n"                             \
	"  rows                        [{line, operation, bytes, survived, fsynced}], a pwrite each\n" \
	"  zeros others                bytes of the file that are of none of these; lost: behind\n"    \
	"                              its end\n"

#endif
