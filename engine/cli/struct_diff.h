/*
 * cli/struct_diff.h - a struct beside the kernel's, as text and as JSON.
 *
 * Errors     -errno with struct fl_error; write errors are the stream's.
 */
#ifndef FL_CLI_STRUCT_DIFF_H
#define FL_CLI_STRUCT_DIFF_H

#include <stdio.h>

#include "debuginfo/diff.h"

/* Print @d, the difference of struct @name. Returns 0. */
int struct_diff_print(FILE *f, const char *name, const struct struct_diff *d);
/* The same as a JSON object. 0 or -ENOMEM. */
int struct_diff_json(FILE *f, const char *name, const struct struct_diff *d, struct fl_error *err);

#endif
