#include "lab/run_tasks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "mm/internal.h"
#include "mm/mm.h"

/* One task: a run of its own on the machine of another. */
struct run_task {
	struct run *run;
	const struct workload *w;
	unsigned int nr;
	bool all;   /* it plays all of @w, not what belongs to task @nr */
	bool *stop; /* somebody failed: the others need not go on */
	int error;
	struct fl_error err;
	u64 start_ps, end_ps;
};

static const char *const sharing_names[] = {
	[TASKS_OWN] = "own",
	[TASKS_SAME] = "same",
	[TASKS_THREADS] = "threads",
};

int run_sharing_by_name(const char *name, enum run_sharing *ret)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(sharing_names); i++)
		if (!strcmp(name, sharing_names[i])) {
			*ret = i;
			return 0;
		}
	return -EINVAL;
}

const char *run_sharing_name(enum run_sharing sharing)
{
	return sharing_names[sharing];
}

unsigned int workload_tasks(const struct workload *w)
{
	u64 nr = 0;

	for (size_t i = 0; i < w->nr; i++)
		if (w->ops[i].type == WL_TASK)
			nr = max(nr, min(w->ops[i].n, (u64)UINT32_MAX - 1) + 1);
	return nr;
}

/* ---- what tasks can play ---- */

static const char *not_in_tasks(const struct run *run, const struct wl_op *op)
{
	bool threads = run->config.sharing == TASKS_THREADS;

	switch (op->type) {
	case WL_POISON:
	case WL_SOFT_OFFLINE:
	case WL_UNPOISON:
		return "memory failures are for one task";
	case WL_MMAP:
	case WL_MUNMAP:
		return threads ? "threads share the mapping: it is made before the first task"
			       : NULL;
	case WL_REOPEN:
		return threads ? "threads share the descriptors" : NULL;
	default:
		return NULL;
	}
}

static int check_workload(const struct run *run, const struct workload *w, struct fl_error *err)
{
	unsigned int tasks = workload_tasks(w), cpus = run->machine->nr_cpus;
	bool in_task = !tasks;

	if (tasks > cpus)
		return fl_error_set(err, -EINVAL, w->name, 0,
				    "task %u on a machine of %u processors, expected 0 to %u",
				    tasks - 1, cpus, cpus - 1);
	if (shmem_mapping(run->inode->i_mapping))
		return fl_error_set(
			err, -EINVAL, "--cpus", 0,
			"several tasks on tmpfs cannot be played, expected a file system "
			"with a disk");
	for (size_t i = 0; i < w->nr; i++) {
		const struct wl_op *op = &w->ops[i];
		const char *why = in_task ? not_in_tasks(run, op) : NULL;

		in_task |= op->type == WL_TASK;
		if (why)
			return fl_error_set(err, -EINVAL, w->name, op->line,
					    "%s in a task (%s), expected another operation",
					    workload_op_name(op->type), why);
	}
	return 0;
}

/* ---- tasks come and go ---- */

/* Threads have the process of @run, others one of their own with descriptor 0 open. */
static int open_files(struct run *child, struct run *run)
{
	if (child->config.sharing != TASKS_THREADS) {
		child->files[0] = filp_open(child->inode);
		child->mm = mm_alloc(child->machine);
		return child->files[0] && child->mm ? 0 : -ENOMEM;
	}
	for (unsigned int i = 0; i < RUN_DESCRIPTORS; i++) {
		if (!run->files[i])
			run->files[i] = filp_open(run->inode);
		if (!run->files[i])
			return -ENOMEM;
		child->files[i] = get_file(run->files[i]);
	}
	child->current = run->current;
	child->mm = run->mm;
	child->vma = run->vma;
	return 0;
}

static void fork_end(struct run *child, struct run *run)
{
	if (!child)
		return;
	if (child->mm == run->mm)
		child->mm = NULL;
	run_end_process(child, run->broken);
	if (child->buf)
		munmap(child->buf, child->buf_size);
	free(child);
}

/* Where on its disk a generated file begins; it lies there in one piece. */
static u64 disk_base(const struct inode *inode)
{
	u64 len;
	const struct fs_extent *e = inode_map_block(inode, 0, &len);

	return e ? e->pblk << inode->i_blkbits : 0;
}

/* Which file task @nr reads: that of @run, or one like it. */
static int choose_inode(struct run *run, unsigned int nr, struct inode **ret)
{
	const struct run_config *config = &run->config;
	bool hole = !config->disk || !strcmp(config->disk, "hole");

	*ret = run->inode;
	if (!nr || config->sharing != TASKS_OWN)
		return 0;
	return new_inode(run->sb, run->inode->i_size, config->written || !hole, ret);
}

static int fork_run(struct run *run, unsigned int nr, struct run **ret)
{
	const struct run_config *config = &run->config;
	struct run *child = calloc(1, sizeof(*child));
	int error;

	*ret = NULL;
	if (!child)
		return -ENOMEM;
	child->config = *config;
	child->machine = run->machine;
	child->sb = run->sb;
	histogram_init(&child->latency);
	error = choose_inode(run, nr, &child->inode);
	if (!error)
		error = open_files(child, run);
	if (error) {
		fork_end(child, run);
		return error;
	}
	child->verify = run->verify;
	child->disk_base = disk_base(child->inode);
	*ret = child;
	return 0;
}

/* What the task did becomes part of what the run did. */
static void join_run(struct run *run, const struct run *child)
{
	run->ops += child->ops;
	run->reads += child->reads;
	run->touches += child->touches;
	run->bytes += child->bytes;
	run->writes += child->writes;
	run->bytes_written += child->bytes_written;
	run->wrong_reads += child->wrong_reads;
	run->errors += child->errors;
	if (child->errors)
		run->last_error = child->last_error;
	histogram_merge(&run->latency, &child->latency);
}

/* ---- playing ---- */

static void play_task(void *arg)
{
	struct run_task *t = arg;
	u64 mine = t->all ? t->nr : ~0ULL;

	t->start_ps = t->run->machine->clock_ps;
	for (size_t i = 0; i < t->w->nr && !t->error && !*t->stop; i++) {
		const struct wl_op *op = &t->w->ops[i];

		if (op->type == WL_TASK)
			mine = op->n;
		else if (mine == t->nr)
			t->error = run_op(t->run, op, &t->err);
	}
	t->end_ps = t->run->machine->clock_ps;
	if (t->error)
		*t->stop = true;
}

/* Can be told what a read may return? Of a made-up file that nobody writes to. */
static bool can_verify(const struct run *run, const struct workload *w)
{
	bool writes = false;

	for (size_t i = 0; i < w->nr; i++)
		writes |= w->ops[i].type == WL_PWRITE || w->ops[i].type == WL_WTOUCH ||
			  w->ops[i].type == WL_FALLOCATE;
	return run->machine->data && !run_has_backing(&run->config) && !run->config.extents &&
	       !run->config.extent_blocks && !writes;
}

static int play_preparation(struct run *run, const struct workload *w, struct fl_error *err)
{
	int ret = 0;

	if (!workload_tasks(w))
		return 0;
	for (size_t i = 0; i < w->nr && w->ops[i].type != WL_TASK && !ret; i++)
		ret = run_op(run, &w->ops[i], err);
	blk_drain(run->machine);
	return ret;
}

static int compare_sites(const void *a, const void *b)
{
	const struct lock_site *x = a, *y = b;

	if (x->wait_ps != y->wait_ps)
		return x->wait_ps < y->wait_ps ? 1 : -1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return strcmp(x->function, y->function);
}

static void collect(struct tasks_report *ret, const struct sched *s, const struct run_task *tasks,
		    unsigned int nr)
{
	const struct lock_site *sites;
	unsigned int nr_sites;

	ret->nr = nr;
	ret->switches = sched_switches(s);
	for (unsigned int i = 0; i < nr; i++) {
		ret->task[i] = (struct task_report){
			.ops = tasks[i].run->ops,
			.bytes = tasks[i].run->bytes,
			.ns = (tasks[i].end_ps - tasks[i].start_ps) / 1000,
			.times = sched_cpu_times(s, i),
		};
		ret->virtual_ns = max(ret->virtual_ns, ret->task[i].ns);
		ret->bytes += ret->task[i].bytes;
	}
	ret->kswapd = sched_cpu_times(s, nr);
	sites = sched_lock_sites(s, &nr_sites);
	for (unsigned int i = 0; i < nr_sites; i++)
		if (sites[i].function)
			ret->sites[ret->nr_sites++] = sites[i];
	qsort(ret->sites, ret->nr_sites, sizeof(*ret->sites), compare_sites);
}

static int first_error(const struct run_task *tasks, unsigned int nr, struct fl_error *err)
{
	for (unsigned int i = 0; i < nr; i++)
		if (tasks[i].error) {
			if (err)
				*err = tasks[i].err;
			return tasks[i].error;
		}
	return 0;
}

/* Everybody is done and nothing is under way: everything must add up. */
static int check_after(struct run *run, struct fl_error *err)
{
	int ret;

	lru_add_drain_all(run->machine);
	ret = vm_check_machine(run->machine, err);
	if (ret)
		return -EBADMSG;
	if (!run->wrong_reads)
		return 0;
	return fl_error_set(err, -EBADMSG, NULL, 0,
			    "%" PRIu64 " reads returned bytes that the file never held",
			    run->wrong_reads);
}

static int play_together(struct run *run, struct run_task *tasks, unsigned int nr,
			 struct tasks_report *ret, struct fl_error *err)
{
	struct machine *m = run->machine;
	struct sched *s = sched_new(m, run->config.schedule);
	char name[24];
	int error = s ? 0 : -ENOMEM;

	for (unsigned int i = 0; i < nr && !error; i++) {
		snprintf(name, sizeof(name), "task %u", i);
		error = sched_spawn(s, name, false, play_task, &tasks[i]);
	}
	if (!error)
		error = kswapd_spawn(m, s);
	if (error)
		fl_error_set(err, error, NULL, 0, "out of memory");
	else
		error = sched_run(s, err);
	run->broken = error != 0;
	if (!error)
		error = first_error(tasks, nr, err);
	if (!error)
		collect(ret, s, tasks, nr);
	sched_free(s);
	return error;
}

static int fork_all(struct run *run, const struct workload *w, struct run_task *tasks,
		    unsigned int nr, bool *stop)
{
	bool all = !workload_tasks(w);

	for (unsigned int i = 0; i < nr; i++) {
		int ret = fork_run(run, i, &tasks[i].run);

		if (ret)
			return ret;
		tasks[i].w = w;
		tasks[i].nr = i;
		tasks[i].all = all;
		tasks[i].stop = stop;
	}
	return 0;
}

int run_tasks(struct run *run, const struct workload *w, struct tasks_report *ret,
	      struct fl_error *err)
{
	unsigned int nr = run->machine->nr_cpus;
	struct run_task *tasks = calloc(nr, sizeof(*tasks));
	bool stop = false;
	int error = tasks ? check_workload(run, w, err) : -ENOMEM;

	memset(ret, 0, sizeof(*ret));
	ret->schedule = run->config.schedule;
	run->verify = can_verify(run, w);
	run->disk_base = disk_base(run->inode);
	if (!error)
		error = play_preparation(run, w, err);
	if (!error)
		error = fork_all(run, w, tasks, nr, &stop);
	if (error && err && !err->code)
		fl_error_set(err, error, NULL, 0, "%s", strerror(-error));
	if (!error)
		error = play_together(run, tasks, nr, ret, err);
	run->broken |= error != 0;
	for (unsigned int i = 0; i < nr && tasks && !run->broken; i++)
		join_run(run, tasks[i].run);
	for (unsigned int i = 0; i < nr && tasks; i++)
		fork_end(tasks[i].run, run);
	free(tasks);
	if (error)
		return error;
	blk_drain(run->machine);
	error = check_after(run, err);
	run->broken = error != 0;
	return error;
}

struct lock_site tasks_lock_total(const struct tasks_report *r, enum lock_id id)
{
	struct lock_site sum = {.id = id};

	for (unsigned int i = 0; i < r->nr_sites; i++) {
		const struct lock_site *site = &r->sites[i];

		if (site->id != id)
			continue;
		sum.taken += site->taken;
		sum.contended += site->contended;
		sum.wait_ps += site->wait_ps;
		sum.hold_ps += site->hold_ps;
		sum.max_wait_ps = max(sum.max_wait_ps, site->max_wait_ps);
	}
	return sum;
}

u64 tasks_spin_ps(const struct tasks_report *r)
{
	u64 sum = r->kswapd.spin_ps;

	for (unsigned int i = 0; i < r->nr; i++)
		sum += r->task[i].times.spin_ps;
	return sum;
}
