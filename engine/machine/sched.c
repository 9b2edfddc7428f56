#include "machine/sched.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/fiber.h"

/* kernel/watchdog.c: a CPU that is busy with one call for longer is stuck. */
#define WATCHDOG_PS (22ULL * 1000000000000)
/* The same in scheduling points, for a host that has to wait for it. */
#define WATCHDOG_POINTS (1ULL << 24)

/* A schedule disturbs one scheduling point in so many, for up to 2^17 ns. */
#define DISTURB_ONE_IN 8
#define DISTURB_SHIFTS 18

enum task_state { TASK_READY, TASK_WAITING, TASK_DONE };

struct task {
	struct sched *sched;
	char name[24];
	bool daemon;
	void (*fn)(void *arg);
	void *arg;
	unsigned int cpu;

	/* While it does not run. */
	enum task_state state;
	u64 clock_ps;
	u64 seq; /* of equal clocks the lower one goes first */
	enum machine_context context;
	const void *key;   /* what it sleeps for */
	struct lock *lock; /* the queue it stands in */
	const struct lock_call *call;
	struct task *next; /* behind it in that queue */

	u64 op_ps;     /* when its operation began */
	u64 op_points; /* scheduling points since then */
	u64 began_ps;
	struct cpu_times times; /* run_ps is left to sched_cpu_times() */

	struct fiber fiber;
};

struct sched {
	struct machine *m;
	struct task *tasks[SCHED_MAX_CPUS];
	unsigned int nr_tasks;
	unsigned int nr_working;  /* not done, daemons aside */
	unsigned int nr_sleeping; /* for a key */
	struct task *current;
	struct task *ready[SCHED_MAX_CPUS]; /* a heap: earliest clock first */
	unsigned int nr_ready;
	u64 seq, switches;
	bool in_irq; /* a completion runs on the current task's stack */
	bool stopping;
	bool disturbed;
	struct prng prng;
	struct lock_site sites[SCHED_LOCK_SITES]; /* hashed by function and lock */
	int error;
	struct fl_error *err;
	struct fiber main; /* of sched_run() */
};

/* ---- switching ---- */

/* The machine belongs to @next from here on. */
static void set_current(struct sched *s, struct task *next)
{
	struct machine *m = s->m;

	s->current = next;
	m->clock_ps = next->clock_ps;
	m->context = next->context;
	m->cpu = next->cpu;
	m->trace.cpu = next->cpu;
}

static void save_current(struct sched *s)
{
	s->current->clock_ps = s->m->clock_ps;
	s->current->context = s->m->context;
}

/* From the running task, whose state was saved, to @next. */
static void switch_to(struct sched *s, struct task *next)
{
	struct task *prev = s->current;

	if (prev == next) {
		set_current(s, next);
		return;
	}
	s->switches++;
	s->m->switches++;
	set_current(s, next);
	fiber_switch(&prev->fiber, &next->fiber, prev->state == TASK_DONE);
}

static void switch_to_main(struct sched *s)
{
	fiber_switch(&s->current->fiber, &s->main, true);
}

/* ---- who runs next ---- */

static bool earlier(const struct task *a, const struct task *b)
{
	return a->clock_ps != b->clock_ps ? a->clock_ps < b->clock_ps : a->seq < b->seq;
}

static void swap_tasks(struct task **a, struct task **b)
{
	struct task *t = *a;

	*a = *b;
	*b = t;
}

static void push_ready(struct sched *s, struct task *t)
{
	unsigned int i = s->nr_ready++;

	t->state = TASK_READY;
	t->seq = s->seq++;
	s->ready[i] = t;
	for (; i && earlier(s->ready[i], s->ready[(i - 1) / 2]); i = (i - 1) / 2)
		swap_tasks(&s->ready[i], &s->ready[(i - 1) / 2]);
}

static struct task *pop_ready(struct sched *s)
{
	struct task *top = s->ready[0];
	unsigned int i = 0, child;

	s->ready[0] = s->ready[--s->nr_ready];
	while ((child = 2 * i + 1) < s->nr_ready) {
		if (child + 1 < s->nr_ready && earlier(s->ready[child + 1], s->ready[child]))
			child++;
		if (!earlier(s->ready[child], s->ready[i]))
			break;
		swap_tasks(&s->ready[i], &s->ready[child]);
		i = child;
	}
	return top;
}

static u64 first_ready_ps(const struct sched *s)
{
	return s->nr_ready ? s->ready[0]->clock_ps : ~0ULL;
}

static void wake(struct sched *s, struct task *t)
{
	t->clock_ps = max(t->clock_ps, s->m->clock_ps);
	s->nr_sleeping -= t->key != NULL;
	t->key = NULL;
	push_ready(s, t);
}

/* The interrupt of the next completion, at its time, on whatever CPU is at hand. */
static void run_io(struct sched *s)
{
	struct machine *m = s->m;
	u64 clock = m->clock_ps;

	s->in_irq = true;
	m->clock_ps = m->next_io_ps;
	m->io_poll(m);
	m->clock_ps = clock;
	s->in_irq = false;
}

static const char *waits_for(const struct task *t)
{
	if (t->lock)
		return lock_name(t->call->id);
	return t->key ? "folio" : "nothing";
}

/* Nobody can go on: say who waits for what, and give up. */
static void deadlock(struct sched *s)
{
	char text[400] = "";
	size_t len = 0;

	for (unsigned int i = 0; i < s->nr_tasks && len < sizeof(text) - 60; i++) {
		const struct task *t = s->tasks[i];

		if (t->state == TASK_WAITING && !t->daemon)
			len += snprintf(text + len, sizeof(text) - len, "%s%s waits for %s",
					len ? ", " : "", t->name, waits_for(t));
	}
	s->error = fl_error_set(s->err, -EDEADLK, NULL, 0, "deadlock: %s", text);
	switch_to_main(s);
}

/* The running task cannot go on; its clock is saved. Returns when it was woken. */
static void block(struct sched *s)
{
	struct machine *m = s->m;

	for (;;) {
		if (m->next_io_ps != ~0ULL && m->next_io_ps <= first_ready_ps(s)) {
			run_io(s);
			continue;
		}
		if (!s->nr_ready) {
			deadlock(s);
			return;
		}
		switch_to(s, pop_ready(s));
		return;
	}
}

/* ---- scheduling points ---- */

static void disturb(struct sched *s)
{
	u64 ps;

	if (!s->disturbed || prng_below(&s->prng, DISTURB_ONE_IN))
		return;
	ps = prng_below(&s->prng, 1000ULL << prng_below(&s->prng, DISTURB_SHIFTS));
	s->m->clock_ps += ps;
	s->current->times.stolen_ps += ps;
}

static void watchdog(struct sched *s)
{
	struct task *t = s->current;

	if (likely(++t->op_points < WATCHDOG_POINTS && s->m->clock_ps - t->op_ps < WATCHDOG_PS))
		return;
	s->error = fl_error_set(s->err, -ETIME, NULL, 0,
				"soft lockup: CPU %u stuck in one call of %s", t->cpu, t->name);
	switch_to_main(s);
}

/* Go on only when everything before the running task's clock has happened. */
static void wait_for_turn(struct sched *s)
{
	struct machine *m = s->m;

	for (;;) {
		u64 first = first_ready_ps(s);

		if (m->next_io_ps <= min(first, m->clock_ps)) {
			run_io(s);
			continue;
		}
		if (first >= m->clock_ps)
			return;
		save_current(s);
		push_ready(s, s->current);
		switch_to(s, pop_ready(s));
		return;
	}
}

void __sched_point(struct machine *m)
{
	struct sched *s = m->sched;

	if (s->in_irq)
		return;
	watchdog(s);
	disturb(s);
	wait_for_turn(s);
}

void sched_op_begin(struct machine *m)
{
	struct task *t;

	if (!m->sched)
		return;
	t = m->sched->current;
	t->op_ps = m->clock_ps;
	t->op_points = 0;
}

/* ---- sleeping ---- */

static void trace_task(struct sched *s, u32 state)
{
	trace_event(&s->m->trace, EV_fl_task, 0, 0, s->current->cpu, state, 0);
}

void sched_wait(struct machine *m, const void *key)
{
	struct sched *s = m->sched;
	struct task *t = s->current;
	u64 start = m->clock_ps;

	trace_task(s, TASK_SLEEPS);
	t->key = key;
	s->nr_sleeping++;
	t->state = TASK_WAITING;
	save_current(s);
	block(s);
	t->times.sleep_ps += m->clock_ps - start;
	trace_task(s, TASK_RUNS);
}

void sched_sleep_until(struct machine *m, u64 ps)
{
	struct sched *s = m->sched;

	if (ps > m->clock_ps) {
		s->current->times.sleep_ps += ps - m->clock_ps;
		m->clock_ps = ps;
	}
	__sched_point(m);
}

void __sched_wake(struct machine *m, const void *key)
{
	struct sched *s = m->sched;

	for (unsigned int i = 0; i < s->nr_tasks && s->nr_sleeping; i++)
		if (s->tasks[i]->key == key && s->tasks[i]->state == TASK_WAITING)
			wake(s, s->tasks[i]);
}

bool sched_should_stop(const struct machine *m)
{
	return !m->sched || m->sched->stopping;
}

/* ---- locks ---- */

static unsigned int site_of(struct sched *s, const struct lock_call *call)
{
	unsigned int i = ((uintptr_t)call->function >> 2 ^ call->id * 37) % SCHED_LOCK_SITES;

	while (s->sites[i].function &&
	       (s->sites[i].function != call->function || s->sites[i].id != call->id))
		i = (i + 1) % SCHED_LOCK_SITES;
	s->sites[i].function = call->function;
	s->sites[i].id = call->id;
	return i;
}

static void trace_lock(struct machine *m, enum trace_event_id id, const struct lock_call *call,
		       u64 since_ps, bool waited)
{
	if (trace_count(&m->trace, id, 0)) {
		struct trace_event ev = {.id = id,
					 .a = call->id,
					 .b = call->shared,
					 .c = (m->clock_ps - since_ps) / 1000,
					 .d = waited};

		trace_dispatch(&m->trace, &ev);
	}
}

/* Stand in the queue of @lock until whoever releases it hands it over. */
static void queue_for(struct sched *s, struct lock *lock, const struct lock_call *call,
		      struct lock_site *site)
{
	struct machine *m = s->m;
	struct task *t = s->current;
	u64 start = m->clock_ps, waited;

	trace_event(&m->trace, EV_fl_lock_wait, 0, 0, 0, call->id,
		    lock->owner ? lock->owner->cpu : SCHED_MAX_CPUS);
	t->lock = lock;
	t->call = call;
	t->next = NULL;
	t->state = TASK_WAITING;
	if (lock->last)
		lock->last->next = t;
	else
		lock->first = t;
	lock->last = t;
	save_current(s);
	block(s);
	waited = m->clock_ps - start;
	site->contended++;
	site->wait_ps += waited;
	site->max_wait_ps = max(site->max_wait_ps, waited);
	if (lock_spins(call->id)) {
		t->times.spin_ps += waited;
		m->cost_units[m->context][COST_SPIN_WAIT] += waited / 1000;
	} else {
		t->times.sleep_ps += waited;
		charge(m, COST_SCHEDULE, 1);
	}
}

static bool may_take(const struct lock *lock, bool shared)
{
	return !lock->owner && (shared || !lock->readers);
}

static void give(struct lock *lock, struct task *t, bool shared)
{
	if (shared)
		lock->readers++;
	else
		lock->owner = t;
}

/* Hand the lock to the first in the queue, and to the readers right behind a reader. */
static void hand_over(struct sched *s, struct lock *lock)
{
	struct task *t;

	while ((t = lock->first) && may_take(lock, t->call->shared)) {
		lock->first = t->next;
		if (!lock->first)
			lock->last = NULL;
		give(lock, t, t->call->shared);
		t->lock = NULL;
		wake(s, t);
	}
}

void sched_lock(struct machine *m, struct lock *lock, const struct lock_call *call)
{
	struct sched *s = m->sched;
	unsigned int site;
	bool waited;
	u64 start;

	if (s->in_irq)
		return;
	site = site_of(s, call);
	s->sites[site].taken++;
	lock->excluded |= !call->shared;
	if (!lock->excluded) { /* nobody can be in the way: no need to look who is first */
		lock->readers++;
		return;
	}
	__sched_point(m);
	start = m->clock_ps;
	waited = lock->first || !may_take(lock, call->shared);
	if (!waited)
		give(lock, s->current, call->shared);
	else
		queue_for(s, lock, call, &s->sites[site]);
	lock->moved = lock->cpu && lock->cpu != m->cpu + 1;
	lock->cpu = m->cpu + 1;
	if (!call->shared) {
		lock->since_ps = m->clock_ps;
		lock->site = site;
	}
	charge(m, COST_LOCK_LINE, lock->moved);
	trace_lock(m, EV_fl_lock_taken, call, start, waited);
}

void sched_unlock(struct machine *m, struct lock *lock, enum lock_id id)
{
	const struct lock_call call = {.id = id};
	struct sched *s = m->sched;

	if (s->in_irq)
		return;
	wait_for_turn(s); /* whoever wants it earlier than now gets into the queue */
	s->sites[lock->site].hold_ps += m->clock_ps - lock->since_ps;
	trace_lock(m, EV_fl_lock_released, &call, lock->since_ps, false);
	lock->owner = NULL;
	hand_over(s, lock);
}

void sched_unlock_shared(struct machine *m, struct lock *lock, enum lock_id id)
{
	const struct lock_call call = {.id = id, .shared = true};
	struct sched *s = m->sched;

	if (s->in_irq)
		return;
	if (!lock->excluded) {
		lock->readers--;
		return;
	}
	wait_for_turn(s);
	trace_lock(m, EV_fl_lock_released, &call, m->clock_ps, false);
	lock->readers--;
	hand_over(s, lock);
}

/* ---- tasks ---- */

/* The last task that works is done: daemons are asked to end. */
static void stop_daemons(struct sched *s)
{
	s->stopping = true;
	for (unsigned int i = 0; i < s->nr_tasks; i++)
		if (s->tasks[i]->daemon && s->tasks[i]->state == TASK_WAITING && s->tasks[i]->key)
			wake(s, s->tasks[i]);
}

static bool all_done(const struct sched *s)
{
	for (unsigned int i = 0; i < s->nr_tasks; i++)
		if (s->tasks[i]->state != TASK_DONE)
			return false;
	return true;
}

static void task_main(void *arg)
{
	struct task *t = arg;
	struct sched *s = t->sched;

	trace_task(s, TASK_RUNS);
	t->fn(t->arg);
	trace_task(s, TASK_ENDED);
	save_current(s);
	t->state = TASK_DONE;
	if (!t->daemon && !--s->nr_working)
		stop_daemons(s);
	if (all_done(s))
		switch_to_main(s);
	block(s);
}

struct sched *sched_new(struct machine *m, u64 schedule)
{
	struct sched *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->m = m;
	s->disturbed = schedule != 0;
	prng_seed(&s->prng, schedule);
	return s;
}

void sched_free(struct sched *s)
{
	if (!s)
		return;
	for (unsigned int i = 0; i < s->nr_tasks; i++) {
		fiber_fini(&s->tasks[i]->fiber);
		free(s->tasks[i]);
	}
	free(s);
}

int sched_spawn(struct sched *s, const char *name, bool daemon, void (*fn)(void *arg), void *arg)
{
	struct task *t;

	if (s->nr_tasks == SCHED_MAX_CPUS)
		return -E2BIG;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	if (fiber_init(&t->fiber, task_main, t)) {
		free(t);
		return -ENOMEM;
	}
	snprintf(t->name, sizeof(t->name), "%s", name);
	t->sched = s;
	t->daemon = daemon;
	t->fn = fn;
	t->arg = arg;
	t->cpu = s->nr_tasks;
	t->clock_ps = t->began_ps = t->op_ps = s->m->clock_ps;
	s->tasks[s->nr_tasks++] = t;
	s->nr_working += !daemon;
	push_ready(s, t);
	return 0;
}

/* The machine is a lone task's again, at the time the last one was done. */
static void back_to_one(struct sched *s)
{
	struct machine *m = s->m;
	u64 clock = 0;

	for (unsigned int i = 0; i < s->nr_tasks; i++)
		if (!s->tasks[i]->daemon)
			clock = max(clock, s->tasks[i]->clock_ps);
	m->sched = NULL;
	m->cpu = 0;
	m->trace.cpu = 0;
	m->context = CONTEXT_TASK;
	m->clock_ps = clock;
}

int sched_run(struct sched *s, struct fl_error *err)
{
	if (!s->nr_working)
		return 0;
	s->err = err;
	s->m->sched = s;
	set_current(s, pop_ready(s));
	fiber_switch(&s->main, &s->current->fiber, false);
	back_to_one(s);
	return s->error;
}

/* ---- accounts ---- */

const struct lock_site *sched_lock_sites(const struct sched *s, unsigned int *nr)
{
	*nr = SCHED_LOCK_SITES;
	return s->sites;
}

struct cpu_times sched_cpu_times(const struct sched *s, unsigned int cpu)
{
	const struct task *t = s->tasks[cpu];
	struct cpu_times times = t->times;

	times.run_ps = t->clock_ps - t->began_ps - times.spin_ps - times.sleep_ps - times.stolen_ps;
	return times;
}

u64 sched_switches(const struct sched *s)
{
	return s->switches;
}
