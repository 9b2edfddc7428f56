/*
 * lib/printable.h - texts of strangers, made fit to print.
 *
 * Printable is UTF-8 without control characters, without what turns the reading direction and
 * without what XML forbids.
 *
 * Owner      texts are the caller's and changed in place; they never get longer.
 * Errors     none.
 */
#ifndef FL_LIB_PRINTABLE_H
#define FL_LIB_PRINTABLE_H

#include "lib/types.h"

/* Replace in @s what is not printable by '?', line ends and tabs by blanks. */
void make_printable(char *s);
/* Would that change nothing? */
bool is_printable(const char *s);

#endif
