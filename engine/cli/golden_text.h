/*
 * cli/golden_text.h - a difference between a real kernel and the miniature, as a person reads it.
 */
#ifndef FL_CLI_GOLDEN_TEXT_H
#define FL_CLI_GOLDEN_TEXT_H

#include <stdio.h>

#include "lab/golden.h"

/* The operation that differs, expected and got side by side, the window's state. */
void golden_difference_print(FILE *f, const char *file, const struct golden_run *run,
			     const struct golden_result *result);

#endif
