/*
 * machine/fiber.h - coroutines: stacks of their own, switched by hand.
 *
 * Mirrors    kernel/sched/core.c context_switch() in purpose.
 * Invariant  exactly one fiber of a group runs; the others stand in fiber_switch().
 * Owner      fiber_init() maps a stack, fiber_fini() unmaps it; the fiber that called first (the
 *            host program's own stack) is a zeroed struct fiber without one.
 * Errors     -ENOMEM.
 * Differs    on x86-64 a switch saves six registers and makes no system call; elsewhere it is
 *            swapcontext(3). AddressSanitizer and ThreadSanitizer are told of every switch.
 */
#ifndef FL_MACHINE_FIBER_H
#define FL_MACHINE_FIBER_H

#include <stddef.h>

#include "lib/types.h"

#ifndef __x86_64__
#include <ucontext.h>
#endif

struct fiber {
	char *stack;	    /* lowest byte, NULL for the host program's */
	const void *bottom; /* the same for AddressSanitizer, which knows the host program's */
	size_t size;
	void *sanitizer;    /* what a sanitizer knows of it */
	struct fiber *from; /* who switched to it last */
	void (*fn)(void *arg);
	void *arg;
#ifdef __x86_64__
	void *sp; /* while it does not run */
#else
	ucontext_t ucontext;
#endif
};

/* A fiber that runs fn(@arg) when it is first switched to; @fn must never return. */
int fiber_init(struct fiber *f, void (*fn)(void *arg), void *arg);
void fiber_fini(struct fiber *f);
/* Go on with @to; returns when somebody switches back. @ended: nobody ever will. */
void fiber_switch(struct fiber *from, struct fiber *to, bool ended);

#endif
