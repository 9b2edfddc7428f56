/*
 * cli/report.h - a report as text.
 *
 * Errors     none; a failed write is remembered by the struct out.
 */
#ifndef FL_CLI_REPORT_H
#define FL_CLI_REPORT_H

#include "cli/out.h"
#include "lab/report.h"

void report_text(struct out *o, const struct report *r);

/* What several tasks did, CPU by CPU and lock by lock; nothing for one. cli/report_tasks.c */
void report_tasks_text(struct out *o, const struct report *r);

/* ---- for commands that lay reports side by side ---- */

/* "1.234 ms": three digits and a unit, from @ns. Returns @buf; 16 bytes hold it. */
char *report_time(u64 ns, char *buf, size_t n);
/* "xfs, 16m hole, readahead 128 KiB, ...": the machine but for its kernel. */
void report_machine(FILE *f, const struct report *r);

#endif
