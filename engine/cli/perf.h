/*
 * cli/perf.h - a virtual perf: where the virtual time of a run went, by the kernel's functions.
 *
 * Every primitive of the miniature charges units to a cost (assets/costs); a cost belongs to a
 * function. A profile is exact, not sampled: shares are of the time on the processor, waiting for
 * I/O is told apart.
 *
 * Invariant  the self times of all functions add up to the time on the processor.
 * Owner      a struct perf is a snapshot without pointers into the run.
 * Errors     perf_json() returns NULL without memory.
 */
#ifndef FL_CLI_PERF_H
#define FL_CLI_PERF_H

#include "cli/out.h"
#include "lab/run_tasks.h"

struct perf {
	struct knobs knobs;			  /* of the kernel, for its functions' names */
	u64 ps[COST_NR];			  /* weights */
	u64 units[WL_NR_OPS][COST_NR];		  /* charged to the task, by kind of operation */
	u64 kswapd[COST_NR];			  /* charged to background reclaim */
	u64 clock_ps;				  /* virtual time of the run, waiting included */
	u64 ops;				  /* operations played */
	char kernel[128];			  /* the profile */
	struct lock_site spins[SCHED_LOCK_SITES]; /* of several tasks: who waited spinning */
	unsigned int nr_spins;
};

/* One function of a profile. */
struct perf_row {
	unsigned int cost; /* the first of its costs; names it whatever the kernel calls it */
	u64 ps;		   /* self time */
};

/* Account what @m charged since @before (COST_NR units of the task) to operation @op. */
void perf_account(struct perf *p, enum wl_op_type op, const struct machine *m, const u64 *before);
/*
 * The same for a workload of several tasks: all of it goes to the kind of their first operation;
 * @tasks says where they spun for locks.
 */
void perf_account_tasks(struct perf *p, const struct workload *w, const struct machine *m,
			const u64 *before, const struct tasks_report *tasks);
/* Weights, names, reclaim and the clock: at the end of a run. */
void perf_finish(struct perf *p, const struct machine *m, u64 ops);

/* Functions by self time, largest first; returns how many. @rows has room for COST_NR. */
unsigned int perf_rows(const struct perf *p, struct perf_row *rows);
/* Time on the processor. */
u64 perf_total_ps(const struct perf *p);
/* Units charged to a cost by the task, all operations together. */
u64 perf_units(const struct perf *p, unsigned int cost);

/* As perf report prints it, with counts for one operation. */
void perf_report(struct out *o, const struct perf *p);
/* As perf diff prints it, real growth beside; the first of @nr profiles is the baseline. */
void perf_diff(struct out *o, const struct perf *perfs, unsigned int nr);
/* One line a stack: "op;frame;...;function ns", for flame graphs. */
void perf_folded(struct out *o, const struct perf *p);

/* [{function, ns, share, counts: [{cost, per, units, ps}]}], freed by the caller. */
cJSON *perf_json(const struct perf *p);

#define PERF_JSON_HELP                                                                             \
	"  perf               with --perf: [{function, ns, share (percent), counts: [{cost,\n"     \
	"                     per, units, ps}]}], by time\n"

#endif
