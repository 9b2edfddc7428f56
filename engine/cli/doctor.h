/*
 * cli/doctor.h - what this build, terminal and host can do.
 *
 * Invariant  every line is "name: value"; nothing is changed, nothing waits.
 * Errors     none: what the host refuses is the value.
 */
#ifndef FL_CLI_DOCTOR_H
#define FL_CLI_DOCTOR_H

#include <stdio.h>

void doctor_print(FILE *f);

#endif
