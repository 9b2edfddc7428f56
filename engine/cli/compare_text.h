/*
 * cli/compare_text.h - reports side by side, one column a kernel.
 *
 * Invariant  a row whose columns differ is marked by '*' at its start; colour only adds to that.
 */
#ifndef FL_CLI_COMPARE_TEXT_H
#define FL_CLI_COMPARE_TEXT_H

#include "cli/report.h"

/* @nr >= 1 reports of one workload on machines that differ in their kernel only. */
void compare_text(struct out *o, const struct report *reports, unsigned int nr);

#endif
