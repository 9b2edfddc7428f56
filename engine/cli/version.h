/*
 * cli/version.h - what this program is built of.
 *
 * Owner      strings are constant.
 */
#ifndef FL_CLI_VERSION_H
#define FL_CLI_VERSION_H

#include <stdio.h>

/* "0.1.0" */
const char *version_string(void);
/* "gcc 12.2.0" */
const char *version_compiler(void);
/* The nr-th library that is linked: its name and version; NULL past the last. */
const char *version_library(unsigned int nr, const char **version);

/* What --version prints. */
void version_print(FILE *f);

#endif
