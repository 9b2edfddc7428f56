/*
 * lab/run_tasks.h - several tasks on one machine, one a CPU.
 *
 * A workload without `task` lines is played by every CPU at once. In one with them, what stands
 * before the first is played alone, as preparation; then every task plays what follows its lines,
 * all of them beside each other.
 *
 * Invariant  when run_tasks() has returned 0, no task is left and every invariant of the machine
 *            was checked (mm/debug.c), as was every byte that a read returned (run->verify).
 * Owner      the caller owns the report.
 * Errors     negative errno with struct fl_error: of the workload (-EINVAL), of an operation,
 *            -EDEADLK and -ETIME of the scheduler, -EBADMSG for wrong bytes or a broken invariant.
 *            After an error the machine must be thrown away: run_close() does so without checks.
 */
#ifndef FL_LAB_RUN_TASKS_H
#define FL_LAB_RUN_TASKS_H

#include "lab/run.h"
#include "machine/sched.h"

struct task_report {
	u64 ops, bytes;
	u64 ns; /* from its first operation to its last */
	struct cpu_times times;
};

/* What several tasks leave behind; all zeros for a run of one. */
struct tasks_report {
	unsigned int nr; /* tasks; 0: one, played without a scheduler */
	u64 schedule;
	u64 virtual_ns; /* of the part they play together */
	u64 bytes;	/* that they read in it */
	u64 switches;
	struct task_report task[MACHINE_MAX_CPUS];
	struct cpu_times kswapd;
	struct lock_site sites[SCHED_LOCK_SITES]; /* longest wait first */
	unsigned int nr_sites;
};

/*
 * CPUs that @w wants: one more than the largest K of `task K`, 0 if it has none.
 */
unsigned int workload_tasks(const struct workload *w);

/*
 * Play @w on as many CPUs as the machine has; config.sharing and config.schedule of @run say how.
 * Fills @ret.
 */
int run_tasks(struct run *run, const struct workload *w, struct tasks_report *ret,
	      struct fl_error *err);

/* All sites of one lock together; function is NULL. */
struct lock_site tasks_lock_total(const struct tasks_report *r, enum lock_id id);
/* Time of all tasks and kswapd that went into spinning, in picoseconds. */
u64 tasks_spin_ps(const struct tasks_report *r);

/* "own", "same" or "threads"; -EINVAL for another word. */
int run_sharing_by_name(const char *name, enum run_sharing *ret);
const char *run_sharing_name(enum run_sharing sharing);

#endif
