/*
 * machine/costs.h - cost tables as text: one "NAME PICOSECONDS" a line, # starts a comment.
 *
 * The defaults and the meaning of every name stand in assets/costs/default.def; a file may name
 * any of them, the rest stays as it is.
 *
 * Errors     -EINVAL with file and line for an unknown name or a number out of range (1 s a unit).
 */
#ifndef FL_MACHINE_COSTS_H
#define FL_MACHINE_COSTS_H

#include <stdio.h>

#include "machine/machine.h"

/* The defaults. */
void costs_default(u64 *cost_ps);
/* Parse @len bytes of @text, called @name in messages, into @cost_ps[COST_NR]. */
int costs_parse(u64 *cost_ps, const char *name, const char *text, size_t len, struct fl_error *err);
void costs_write(FILE *f, const u64 *cost_ps);

#endif
