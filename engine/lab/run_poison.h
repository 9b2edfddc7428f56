/*
 * lab/run_poison.h - operations of a run that make memory go bad.
 *
 * Invariant  a page is remembered by the offset it was hit at, so that it can be taken back after
 *            it left the file.
 * Owner      the list belongs to the run; run_poison_fini() ends it.
 * Errors     what the system call would return; -ENOMEM.
 */
#ifndef FL_LAB_RUN_POISON_H
#define FL_LAB_RUN_POISON_H

#include "lab/run.h"

/*
 * MADV_HWPOISON (@soft: MADV_SOFT_OFFLINE) on the page at OFF of a mapping made for it. -EINVAL:
 * not at a page's start; -EFAULT: past the end, or bad already; else what the kernel says.
 */
int run_poison(struct run *run, const struct wl_op *op, bool soft);
/* @op touched the page at @off, or made it fail: keep the SIGBUS that the process got for it. */
void run_note_signals(struct run *run, const struct wl_op *op, s64 off);
/* unpoison-pfn of the page last hit at @off, or cached there; -ENXIO if there is none. */
int run_unpoison(struct run *run, s64 off);
void run_poison_fini(struct run *run);

#endif
