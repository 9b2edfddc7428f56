/*
 * machine/sched.h - virtual CPUs: tasks in virtual time.
 *
 * Every CPU runs one task, a coroutine with a clock of its own. A task runs on until it meets a
 * scheduling point: a lock, a wait for I/O or for a folio, or sched_point(). There the task whose
 * clock is earliest goes on, so that locks are taken in the order of virtual time. The same tasks
 * and the same schedule give the same run, event by event.
 *
 * A schedule is a number. Schedule 0 is undisturbed; every other one draws from its seed where
 * interrupts take a CPU away from its task and for how long. That, and nothing else, makes tasks
 * meet elsewhere.
 *
 * Mirrors    kernel/sched/ in purpose, kernel/locking/qspinlock.c, rwsem.c,
 * kernel/sched/wait_bit.c. Invariant  the task that runs has the earliest clock of all that could
 * run at the last scheduling point; no I/O that is due earlier is outstanding there. Owner
 * sched_new() gives a scheduler to the caller, sched_free() ends it with its tasks. Errors -EDEADLK
 * from sched_run() with the tasks and what they wait for. Differs    a task never leaves its CPU
 * and shares it with nobody; no priorities, no migration.
 */
#ifndef FL_MACHINE_SCHED_H
#define FL_MACHINE_SCHED_H

#include "machine/lock.h"

struct sched;
struct task;

/* CPUs of one machine, the one of kswapd included: an event holds its CPU in a byte. */
#define SCHED_MAX_CPUS 255
/* Where locks are taken: function and lock. */
#define SCHED_LOCK_SITES 96

/* fl_task: what a CPU's task does. */
enum task_does { TASK_RUNS, TASK_SLEEPS, TASK_ENDED };

/* A lock as one function takes it. */
struct lock_site {
	const char *function;
	enum lock_id id;
	u64 taken;     /* times */
	u64 contended; /* of these, somebody else had it */
	u64 wait_ps;   /* from wanting to having it, all together */
	u64 hold_ps;   /* exclusive holders only */
	u64 max_wait_ps;
};

/* What became of one CPU's time since its task began. */
struct cpu_times {
	u64 run_ps;    /* doing something */
	u64 spin_ps;   /* waiting for a spinlock */
	u64 sleep_ps;  /* waiting for a sleeping lock, a folio or I/O */
	u64 stolen_ps; /* interrupts of the schedule */
};

/*
 * A scheduler for @m, which has cpus of its own from then until sched_free(). NULL without memory.
 * @schedule: 0 for no interrupts, else the seed of them.
 */
struct sched *sched_new(struct machine *m, u64 schedule);
/* NULL is fine. Tasks that have not ended are dropped where they stand. */
void sched_free(struct sched *s);

/*
 * A task on the next CPU (from 0 on) that runs fn(@arg) from the machine's time on.
 * A @daemon (kernel thread) does not keep sched_run() from ending: it is asked to stop then.
 * 0, -ENOMEM or -E2BIG.
 */
int sched_spawn(struct sched *s, const char *name, bool daemon, void (*fn)(void *arg), void *arg);

/*
 * Play until every task is done; the machine's clock is the latest task's then. -EDEADLK where
 * tasks wait for each other for ever, -ETIME where one is stuck in the same call (22 s, as the
 * kernel's watchdog has it): the machine must not be used after that.
 */
int sched_run(struct sched *s, struct fl_error *err);

/* Accounts. The table of sites has holes: those without a function. */
const struct lock_site *sched_lock_sites(const struct sched *s, unsigned int *nr);
struct cpu_times sched_cpu_times(const struct sched *s, unsigned int cpu);
u64 sched_switches(const struct sched *s);

/* ---- inside tasks; without a scheduler these do nothing ---- */

void __sched_point(struct machine *m);
/* Let everything happen that is due before the task's clock. */
static inline void sched_point(struct machine *m)
{
	if (unlikely(m->sched != NULL))
		__sched_point(m);
}

/* The task begins an operation: the watchdog starts anew. */
void sched_op_begin(struct machine *m);

/* Sleep until somebody wakes @key; only with a scheduler. */
void sched_wait(struct machine *m, const void *key);
/* The same, but not past @ps. */
void sched_sleep_until(struct machine *m, u64 ps);
void __sched_wake(struct machine *m, const void *key);
/* Wake everybody who waits for @key. */
static inline void sched_wake(struct machine *m, const void *key)
{
	if (unlikely(m->sched != NULL))
		__sched_wake(m, key);
}

/* Is a daemon to end? */
bool sched_should_stop(const struct machine *m);

#endif
