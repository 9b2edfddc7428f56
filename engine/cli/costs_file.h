/*
 * cli/costs_file.h - where this host's cost table lives.
 */
#ifndef FL_CLI_COSTS_FILE_H
#define FL_CLI_COSTS_FILE_H

#include "machine/costs.h"

/* $XDG_CONFIG_HOME/foliolab/costs, or ~/.config/foliolab/costs. -ENOENT without a home. */
int costs_path(char *path, size_t size, struct fl_error *err);
/* The defaults with what the file at @path says on top. */
int costs_load(u64 *cost_ps, const char *path, struct fl_error *err);
/* Make the folders above @path. 0 or -errno. */
int costs_make_folder(const char *path);

#endif
