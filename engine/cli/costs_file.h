/*
 * cli/costs_file.h - where this host's cost table lives.
 */
#ifndef FL_CLI_COSTS_FILE_H
#define FL_CLI_COSTS_FILE_H

#include "machine/costs.h"

/* user_path(USER_CONFIG, "costs"), for USER_PATH bytes at @path. -ENOENT without a home. */
int costs_path(char *path, struct fl_error *err);
/* The defaults with what the file at @path says on top. */
int costs_load(u64 *cost_ps, const char *path, struct fl_error *err);

#endif
