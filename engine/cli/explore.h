/*
 * cli/explore.h - a workload of several tasks under many schedules: which is slowest, which breaks.
 *
 * Schedules 1..N are played on fresh machines, by several processes if wanted. Each is checked as
 * run_tasks() checks; the same command gives the same bytes, whatever the number of processes.
 *
 * Owner      explore() fills what the caller owns; explore_fini() releases it.
 * Errors     negative errno with a struct fl_error; a schedule that breaks is no error.
 */
#ifndef FL_CLI_EXPLORE_H
#define FL_CLI_EXPLORE_H

#include "cli/out.h"
#include "lab/run_tasks.h"

/* What became of one schedule. */
struct explored {
	u64 virtual_ns;
	u64 bytes, errors;
	int code;      /* 0, or the negative errno of run_tasks() */
	char why[200]; /* what broke; "" where nothing did */
};

struct exploration {
	const struct run_config *config;
	struct explored *schedules; /* nr of them; schedule i + 1 */
	u64 nr;
};

#define EXPLORE_MAX	 1000000
#define EXPLORE_JOBS_MAX 256

/*
 * Play schedules 1..@nr of @w in up to @jobs processes. -EINVAL: the workload cannot be played by
 * tasks at all; -ENOMEM; -ECHILD: a process died.
 */
int explore(const struct run_config *config, const struct workload *w, u64 nr, unsigned int jobs,
	    struct exploration *ret, struct fl_error *err);
void explore_fini(struct exploration *e);

/* Schedules that broke something. */
u64 explore_broken(const struct exploration *e);

void explore_text(struct out *o, const void *data);
cJSON *explore_json(const void *data);

#define EXPLORE_JSON_HELP                                                                          \
	"With --explore: {kernel, cpus, sharing, schedules, broken: [{schedule, errno, why}],\n"   \
	"slowest: {schedule, virtual_ns}, fastest: {...}, median_ns}; exit status 1 if any is\n"   \
	"broken. Play one again with --schedule.\n"

#endif
