#include "lab/run_live.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lab/run_record.h"

/* Repetitions of a read between two looks at whether somebody wants it to stop. */
#define READS_AT_ONCE 256u

struct live_run {
	struct run *run;
	const struct workload *w;
	u64 ops; /* in @w */
	struct recording_info info;
	pthread_t thread;
	bool started;

	/* The player's. */
	struct trace_sink sink;
	struct tape tape;
	int error;
	struct fl_error err;

	/* Between the two: atomic, or under the lock. */
	pthread_mutex_t lock;
	pthread_cond_t may_go, has_told;
	u64 told;    /* events, and slots << 32 */
	u64 allowed; /* events */
	bool stop, over;

	/* The watcher's. */
	struct tape seen;
	char note[200];
};

/* ---- the player ---- */

static void tell(struct live_run *lr)
{
	__atomic_store_n(&lr->told, lr->tape.slots << 32 | lr->tape.events, __ATOMIC_RELEASE);
}

/* Wait until more events are wanted. */
static void wait_for_watcher(struct live_run *lr)
{
	pthread_mutex_lock(&lr->lock);
	pthread_cond_signal(&lr->has_told);
	while (lr->tape.events >= lr->allowed && !lr->stop)
		pthread_cond_wait(&lr->may_go, &lr->lock);
	pthread_mutex_unlock(&lr->lock);
}

static bool stopped(const struct live_run *lr)
{
	return __atomic_load_n(&lr->stop, __ATOMIC_RELAXED);
}

static void on_event(struct trace_sink *sink, const struct trace_event *ev)
{
	struct live_run *lr = container_of(sink, struct live_run, sink);

	if (lr->tape.events >= __atomic_load_n(&lr->allowed, __ATOMIC_RELAXED) && !stopped(lr))
		wait_for_watcher(lr);
	if (stopped(lr))
		return;
	tape_add(&lr->tape, ev);
	tell(lr);
	if (lr->tape.refused)
		__atomic_store_n(&lr->stop, true, __ATOMIC_RELAXED);
}

static int play_op(struct live_run *lr, const struct wl_op *op)
{
	u64 total = workload_op_count(op), done = 0;
	int ret = 0;

	while (done < total && !ret && !stopped(lr)) {
		u64 n = op->type == WL_READ ? min(total - done, (u64)READS_AT_ONCE) : total;

		ret = op->type == WL_READ ? run_op_piece(lr->run, op, done, n, &lr->err)
					  : run_op(lr->run, op, &lr->err);
		done += n;
	}
	return ret;
}

static void *player(void *arg)
{
	struct live_run *lr = arg;

	for (size_t i = 0; i < lr->w->nr && !lr->error && !stopped(lr); i++)
		lr->error = play_op(lr, &lr->w->ops[i]);
	if (!lr->error && !stopped(lr))
		blk_drain(lr->run->machine);
	pthread_mutex_lock(&lr->lock);
	lr->over = true;
	pthread_cond_signal(&lr->has_told);
	pthread_mutex_unlock(&lr->lock);
	return NULL;
}

/* ---- starting ---- */

static void free_live(struct live_run *lr)
{
	run_close(lr->run);
	tape_fini(&lr->tape);
	recording_info_fini(&lr->info);
	pthread_cond_destroy(&lr->may_go);
	pthread_cond_destroy(&lr->has_told);
	pthread_mutex_destroy(&lr->lock);
	free(lr);
}

/* Signals are the watcher's business. */
static int start_thread(struct live_run *lr)
{
	sigset_t all, old;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(&lr->thread, NULL, player, lr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	lr->started = !ret;
	return -ret;
}

static void init_waiting(struct live_run *lr)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&lr->has_told, &attr);
	pthread_cond_init(&lr->may_go, NULL);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&lr->lock, NULL);
}

int live_run_start(const struct run_config *config, const struct workload *w, u64 max_events,
		   struct live_run **ret, struct fl_error *err)
{
	struct live_run *lr = calloc(1, sizeof(*lr));
	int error;

	if (!lr)
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	init_waiting(lr);
	lr->w = w;
	lr->sink.event = on_event;
	for (size_t i = 0; i < w->nr; i++)
		lr->ops += workload_op_count(&w->ops[i]);
	error = run_open(config, &lr->run, err);
	if (error) {
		free_live(lr);
		return error;
	}
	error = run_recording_info(lr->run, w, &lr->info);
	if (!error)
		error = tape_init(&lr->tape, max_events);
	if (!error) {
		lr->seen = lr->tape;
		trace_add_sink(&lr->run->machine->trace, &lr->sink);
		error = start_thread(lr);
	}
	if (error) {
		free_live(lr);
		return fl_error_set(err, error, NULL, 0, "no memory or thread for the run");
	}
	*ret = lr;
	return 0;
}

/* ---- the watcher ---- */

const struct tape *live_run_tape(const struct live_run *lr)
{
	return &lr->seen;
}

const struct recording_info *live_run_info(const struct live_run *lr)
{
	return &lr->info;
}

static struct timespec in_ms(int ms)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += (long)(ms % 1000) * 1000000;
	t.tv_sec += ms / 1000 + t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static u64 told_events(const struct live_run *lr)
{
	return (u32)__atomic_load_n(&lr->told, __ATOMIC_ACQUIRE);
}

bool live_run_pull(struct live_run *lr, u64 want, int ms)
{
	struct timespec until = in_ms(ms);
	u64 told;
	bool over;

	pthread_mutex_lock(&lr->lock);
	if (want > lr->allowed) {
		__atomic_store_n(&lr->allowed, want, __ATOMIC_RELAXED);
		pthread_cond_signal(&lr->may_go);
	}
	while (ms > 0 && !lr->over && told_events(lr) < want)
		if (pthread_cond_timedwait(&lr->has_told, &lr->lock, &until))
			break;
	over = lr->over;
	pthread_mutex_unlock(&lr->lock);
	told = __atomic_load_n(&lr->told, __ATOMIC_ACQUIRE);
	lr->seen.events = (u32)told;
	lr->seen.slots = told >> 32;
	return !over;
}

u64 live_run_ops(const struct live_run *lr)
{
	return lr->ops;
}

const char *live_run_note(const struct live_run *lr)
{
	struct live_run *mine = (struct live_run *)lr;
	bool over;

	pthread_mutex_lock(&mine->lock);
	over = lr->over;
	pthread_mutex_unlock(&mine->lock);
	if (!over)
		return NULL;
	if (lr->tape.refused)
		snprintf(mine->note, sizeof(mine->note),
			 "more than %llu events, the view has the "
			 "first",
			 (unsigned long long)lr->tape.max_events);
	else if (lr->error)
		snprintf(mine->note, sizeof(mine->note), "the run ended: %.180s", lr->err.text);
	return *lr->note ? lr->note : NULL;
}

int live_run_end(struct live_run *lr, struct fl_error *err)
{
	int ret;

	if (!lr)
		return 0;
	pthread_mutex_lock(&lr->lock);
	__atomic_store_n(&lr->stop, true, __ATOMIC_RELAXED);
	pthread_cond_signal(&lr->may_go);
	pthread_mutex_unlock(&lr->lock);
	if (lr->started)
		pthread_join(lr->thread, NULL);
	trace_remove_sink(&lr->run->machine->trace, &lr->sink);
	ret = lr->error;
	if (ret && err) {
		*err = lr->err;
		if (!err->file[0])
			snprintf(err->file, sizeof(err->file), "%s", lr->w->name);
	}
	if (ret)
		fputs(lr->run->machine->bug, stderr);
	free_live(lr);
	return ret;
}
