/*
 * cli/lab_autograder.h - lab package --for: what an instructor uploads to have a lab graded.
 *
 * Errors     -errno with a struct fl_error.
 */
#ifndef FL_CLI_LAB_AUTOGRADER_H
#define FL_CLI_LAB_AUTOGRADER_H

#include "lib/error.h"

/*
 * Write the zip for @platform ("gradescope" or "prairielearn") to @output: the lab in folder @dir
 * without a solution, the Debian package @program of FolioLab, and what starts it there.
 * -EINVAL for another platform.
 */
int lab_autograder(const char *dir, const char *platform, const char *program, const char *output,
		   struct fl_error *err);

#endif
