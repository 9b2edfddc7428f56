/*
 * Whatever reads and faults meet on one file (truncation, holes punched, reclaim, splits,
 * readahead), in whatever order: every invariant holds afterwards, nobody waits for ever, and no
 * read returns a byte that the file never held. 50 schedules, 1,000 in soak. FL_SEED=N plays one.
 */
#include "unit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/run_tasks.h"
#include "lib/prng.h"

#define SCHEDULES      50
#define SCHEDULES_SOAK 1000
#define OPS_OF_A_TASK  14

struct plan {
	struct run_config config;
	char ops[8000];
};

static const char *pick(struct prng *p, const char *const *names, size_t nr)
{
	return names[prng_below(p, nr)];
}

/* A place in the file: whole pages, mostly. */
static u64 place(struct prng *p, const struct plan *plan)
{
	u64 at = prng_below(p, plan->config.size + plan->config.size / 8);

	return prng_below(p, 4) ? at & ~4095ULL : at;
}

static u64 length(struct prng *p)
{
	static const u64 usual[] = {4096, 65536, 131072, 1 << 20, 5000};

	return prng_below(p, 3) ? usual[prng_below(p, ARRAY_SIZE(usual))]
				: 1 + prng_below(p, 400000);
}

/* One operation of a task that has the file mapped. */
static void add_op(struct plan *plan, struct prng *p)
{
	size_t at = strlen(plan->ops);
	char *end = plan->ops + at;
	size_t n = sizeof(plan->ops) - at;
	u64 off = place(p, plan), len = length(p);

	switch (prng_below(p, 16)) {
	case 0:
	case 1:
		snprintf(end, n, "seek %" PRIu64 "; read 4k %" PRIu64 "\n", off,
			 1 + prng_below(p, 60));
		break;
	case 2:
	case 3:
		snprintf(end, n, "pread %" PRIu64 " %" PRIu64 "\n", off, len);
		break;
	case 4:
	case 5:
	case 6:
		snprintf(end, n, "touch %" PRIu64 " 4k %" PRIu64 "\n", off % plan->config.size,
			 1 + prng_below(p, 80));
		break;
	case 7:
		snprintf(end, n, "ftruncate %" PRIu64 "\n", off);
		break;
	case 8:
	case 9:
		snprintf(end, n, "punch %" PRIu64 " %" PRIu64 "\n", off, len);
		break;
	case 10:
		snprintf(end, n, "fadvise dontneed %" PRIu64 " %" PRIu64 "\n", off, len);
		break;
	case 11:
		snprintf(end, n, "fadvise willneed %" PRIu64 " %" PRIu64 "\n", off, len);
		break;
	case 12:
		snprintf(end, n, "readahead %" PRIu64 " %" PRIu64 "\n", off, len);
		break;
	case 13:
		snprintf(end, n, "madvise %s\n", prng_below(p, 2) ? "pageout" : "cold");
		break;
	case 14:
		snprintf(end, n, "splice %" PRIu64 " %" PRIu64 "\n", off, len);
		break;
	default:
		snprintf(end, n, "madvise %s\n",
			 prng_below(p, 2)   ? "hugepage"
			 : prng_below(p, 2) ? "random"
					    : "normal");
	}
}

static void make_plan(struct plan *plan, u64 seed)
{
	static const char *const kernels[] = {"v6.1",  "v6.7",	"ab4443fe3ca6", "v6.12",
					      "v6.16", "v6.17", "v6.18",	"v7.3"};
	static const char *const fs[] = {"xfs", "ext4", "ext4-1k"};
	static const char *const disks[] = {"ram", "nvme", "nvme", "hole"};
	static const u64 memories[] = {1 << 20, 3 << 20, 64 << 20};
	struct run_config *c = &plan->config;
	struct prng p;

	prng_seed(&p, seed);
	run_config_init(c);
	c->machine.kernel = pick(&p, kernels, ARRAY_SIZE(kernels));
	c->machine.memory = memories[prng_below(&p, ARRAY_SIZE(memories))];
	c->machine.data = true;
	c->machine.cpus = prng_between(&p, 2, 5);
	c->fs = pick(&p, fs, ARRAY_SIZE(fs));
	c->disk = pick(&p, disks, ARRAY_SIZE(disks));
	c->written = strcmp(c->disk, "hole");
	c->size = 1 + prng_below(&p, 4 << 20);
	c->ra_bytes = 16384ULL << prng_below(&p, 7);
	c->sharing = prng_below(&p, 3) ? TASKS_SAME : TASKS_THREADS;
	c->schedule = seed;
	snprintf(plan->ops, sizeof(plan->ops), "pread 0 %" PRIu64 "\n%s", length(&p),
		 c->sharing == TASKS_THREADS ? "mmap\n" : "");
	for (unsigned int t = 0; t < c->machine.cpus; t++) {
		size_t at = strlen(plan->ops);

		snprintf(plan->ops + at, sizeof(plan->ops) - at, "task %u\n%s", t,
			 c->sharing == TASKS_THREADS ? "" : "mmap\n");
		for (unsigned int i = 0; i < OPS_OF_A_TASK; i++)
			add_op(plan, &p);
	}
}

static void expect_good(const struct plan *plan, u64 seed)
{
	static struct tasks_report report;
	struct fl_error err = {0};
	struct workload w;
	struct run *run;
	int ret;

	assert_int_equal(workload_parse(&w, "plan", plan->ops, strlen(plan->ops), &err), 0);
	ret = run_open(&plan->config, &run, &err);
	if (!ret) {
		ret = run_tasks(run, &w, &report, &err);
		run_close(run);
	}
	workload_fini(&w);
	if (!ret)
		return;
	print_message("# FL_SEED=%" PRIu64 ": %s fs=%s disk=%s size=%" PRId64 " memory=%" PRIu64
		      " ra=%" PRIu64 " %s\n%s",
		      seed, plan->config.machine.kernel, plan->config.fs, plan->config.disk,
		      plan->config.size, plan->config.machine.memory, plan->config.ra_bytes,
		      run_sharing_name(plan->config.sharing), plan->ops);
	fail_msg("seed %" PRIu64 ": %s", seed, err.text);
}

static void test_schedules(void **state)
{
	const char *one = getenv("FL_SEED");
	u64 nr = one ? 1 : getenv("FL_SOAK") ? SCHEDULES_SOAK : SCHEDULES;
	u64 first = one ? strtoull(one, NULL, 0) : 1;
	static struct plan plan;

	(void)state;
	for (u64 seed = first; seed < first + nr; seed++) {
		make_plan(&plan, seed);
		expect_good(&plan, seed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_schedules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
