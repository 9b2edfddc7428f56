#include "cli/explore.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/report.h"

#define BROKEN_SHOWN 10

/* ---- playing ---- */

static void play_schedule(const struct run_config *given, const struct workload *w, u64 schedule,
			  struct explored *ret)
{
	struct run_config config = *given;
	struct tasks_report *tasks = calloc(1, sizeof(*tasks));
	struct fl_error err = {0};
	struct run *run = NULL;

	config.schedule = schedule;
	config.machine.cpus = max(config.machine.cpus, workload_tasks(w));
	ret->code = tasks ? run_open(&config, &run, &err) : -ENOMEM;
	if (!ret->code)
		ret->code = run_tasks(run, w, tasks, &err);
	if (tasks)
		*ret = (struct explored){.virtual_ns = tasks->virtual_ns,
					 .bytes = tasks->bytes,
					 .errors = run ? run->errors : 0,
					 .code = ret->code};
	if (ret->code)
		snprintf(ret->why, sizeof(ret->why), "%.199s", err.text);
	run_close(run);
	free(tasks);
}

/* Every @jobs-th schedule from @first on. */
static void play_share(const struct exploration *e, const struct workload *w, u64 first,
		       unsigned int jobs)
{
	for (u64 i = first; i < e->nr; i += jobs)
		play_schedule(e->config, w, i + 1, &e->schedules[i]);
}

static int play_in_children(struct exploration *e, const struct workload *w, unsigned int jobs,
			    struct fl_error *err)
{
	pid_t *pids = calloc(jobs, sizeof(*pids));
	int ret = pids ? 0 : fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");

	for (unsigned int j = 0; j < jobs && !ret; j++) {
		pids[j] = fork();
		if (!pids[j]) {
			play_share(e, w, j, jobs);
			_exit(0);
		}
		if (pids[j] < 0)
			ret = fl_error_set(err, -errno, NULL, 0, "fork: %s", strerror(errno));
	}
	for (unsigned int j = 0; j < jobs && pids && pids[j] > 0; j++) {
		int status;

		if ((waitpid(pids[j], &status, 0) < 0 || status) && !ret)
			ret = fl_error_set(err, -ECHILD, NULL, 0,
					   "a process that played schedules died");
	}
	free(pids);
	return ret;
}

int explore(const struct run_config *config, const struct workload *w, u64 nr, unsigned int jobs,
	    struct exploration *ret, struct fl_error *err)
{
	void *shared = mmap(NULL, nr * sizeof(*ret->schedules), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const struct explored *first;
	int error = 0;

	*ret = (struct exploration){.config = config, .nr = nr};
	if (shared == MAP_FAILED)
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	ret->schedules = shared;
	play_schedule(config, w, 1, &ret->schedules[0]);
	first = &ret->schedules[0];
	if (first->code == -EINVAL || first->code == -ENOMEM)
		error = fl_error_set(err, first->code, NULL, 0, "%s", first->why);
	else if (jobs <= 1 || nr == 1)
		play_share(ret, w, 0, 1);
	else
		error = play_in_children(ret, w, min_t(u64, jobs, nr), err);
	if (error)
		explore_fini(ret);
	return error;
}

void explore_fini(struct exploration *e)
{
	if (e->schedules)
		munmap(e->schedules, e->nr * sizeof(*e->schedules));
	e->schedules = NULL;
}

/* ---- telling ---- */

u64 explore_broken(const struct exploration *e)
{
	u64 n = 0;

	for (u64 i = 0; i < e->nr; i++)
		n += e->schedules[i].code != 0;
	return n;
}

static int compare_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

/* Median time of the schedules that did not break; 0 if all did. */
static u64 median_ns(const struct exploration *e)
{
	u64 *times = calloc(e->nr, sizeof(*times)), n = 0, ret;

	for (u64 i = 0; i < e->nr && times; i++)
		if (!e->schedules[i].code)
			times[n++] = e->schedules[i].virtual_ns;
	if (times)
		qsort(times, n, sizeof(*times), compare_u64);
	ret = n ? times[n / 2] : 0;
	free(times);
	return ret;
}

/* The slowest or fastest schedule that did not break, from 0; e->nr if all did. */
static u64 extreme(const struct exploration *e, bool slowest)
{
	u64 best = e->nr;

	for (u64 i = 0; i < e->nr; i++) {
		const struct explored *x = &e->schedules[i];

		if (x->code)
			continue;
		if (best == e->nr || (slowest ? x->virtual_ns > e->schedules[best].virtual_ns
					      : x->virtual_ns < e->schedules[best].virtual_ns))
			best = i;
	}
	return best;
}

static void print_extreme(FILE *f, const struct exploration *e, const char *name, bool slowest)
{
	u64 i = extreme(e, slowest);
	char time[32];

	if (i < e->nr)
		fprintf(f, "%-9s %s, --schedule %" PRIu64 "\n", name,
			report_time(e->schedules[i].virtual_ns, time, sizeof(time)), i + 1);
}

void explore_text(struct out *o, const void *data)
{
	const struct exploration *e = data;
	u64 broken = explore_broken(e), shown = 0;
	char time[32];

	fprintf(o->f, "Linux %s: %" PRIu64 " schedules, %" PRIu64 " broken\n",
		e->config->machine.kernel, e->nr, broken);
	print_extreme(o->f, e, "slowest:", true);
	print_extreme(o->f, e, "fastest:", false);
	if (broken < e->nr)
		fprintf(o->f, "median:   %s\n", report_time(median_ns(e), time, sizeof(time)));
	for (u64 i = 0; i < e->nr && shown < BROKEN_SHOWN; i++)
		if (e->schedules[i].code) {
			fprintf(o->f, "%sbroken:%s   --schedule %" PRIu64 ": %s\n",
				o->colour ? "\033[31m" : "", o->colour ? "\033[0m" : "", i + 1,
				e->schedules[i].why);
			shown++;
		}
	if (broken > shown)
		fprintf(o->f, "          and %" PRIu64 " more\n", broken - shown);
}

static void add_extreme(cJSON *obj, const struct exploration *e, const char *key, bool slowest)
{
	u64 i = extreme(e, slowest);
	cJSON *child;

	if (i == e->nr)
		return;
	child = cJSON_AddObjectToObject(obj, key);
	json_add_u64(child, "schedule", i + 1);
	json_add_u64(child, "virtual_ns", e->schedules[i].virtual_ns);
}

cJSON *explore_json(const void *data)
{
	const struct exploration *e = data;
	cJSON *obj = cJSON_CreateObject(), *array;

	cJSON_AddStringToObject(obj, "kernel", e->config->machine.kernel);
	json_add_u64(obj, "cpus", e->config->machine.cpus);
	cJSON_AddStringToObject(obj, "sharing", run_sharing_name(e->config->sharing));
	json_add_u64(obj, "schedules", e->nr);
	array = cJSON_AddArrayToObject(obj, "broken");
	for (u64 i = 0; i < e->nr; i++) {
		cJSON *item;

		if (!e->schedules[i].code)
			continue;
		item = cJSON_CreateObject();
		json_add_u64(item, "schedule", i + 1);
		cJSON_AddStringToObject(item, "errno", strerrorname_np(-e->schedules[i].code));
		cJSON_AddStringToObject(item, "why", e->schedules[i].why);
		cJSON_AddItemToArray(array, item);
	}
	add_extreme(obj, e, "slowest", true);
	add_extreme(obj, e, "fastest", false);
	json_add_u64(obj, "median_ns", median_ns(e));
	return obj;
}
