#include "lab/rerun.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "block/blk.h"
#include "lab/run_tasks.h"

/* Repetitions of a read that are played at once. */
#define READS_AT_ONCE 64

struct watcher {
	struct trace_sink sink;
	struct trace_sink *also; /* or NULL */
	const struct tape *tape;
	const struct run *run;
	u64 first, nr; /* of the tape; wanted */
	u64 next;      /* number of the next event */
	rerun_look look;
	void *ctx;
	struct fl_error *err;
	bool done; /* looked, or given up */
	int ret;
};

/* The recorded workload has an operation a line, wherever they stood. */
static bool same_event(const struct trace_event *a, const struct trace_event *b)
{
	bool same_line = a->a == b->a || a->id == EV_fl_op;

	return same_line && a->ns == b->ns && a->id == b->id && a->order == b->order &&
	       a->cpu == b->cpu && a->ino == b->ino && a->index == b->index && a->b == b->b &&
	       a->c == b->c && a->d == b->d && a->e == b->e && a->f == b->f;
}

static bool as_recorded(const struct watcher *w, const struct trace_event *ev)
{
	struct trace_event recorded;

	if (w->next < w->first || w->next - w->first >= w->tape->events)
		return true;
	tape_get(w->tape, w->next - w->first, &recorded);
	return same_event(&recorded, ev);
}

static void watch_event(struct trace_sink *sink, const struct trace_event *ev)
{
	struct watcher *w = container_of(sink, struct watcher, sink);

	if (w->done)
		return;
	if (!as_recorded(w, ev)) {
		w->ret = fl_error_set(w->err, -ESTALE, NULL, 0,
				      "played once more the run differs from event %" PRIu64
				      " on: it was made with options the recording does not name, "
				      "or by another version",
				      w->next);
		w->done = true;
	} else if (w->next == w->nr) {
		w->ret = w->look(w->ctx, w->run, w->err);
		w->done = true;
	}
	w->next++;
}

static int make_config(const struct recording_info *info, struct run_config *c,
		       struct fl_error *err)
{
	if (info->source[0] || !info->kernel[0])
		return fl_error_set(err, -ENODATA, NULL, 0,
				    "the recording is of a real kernel (%s): its structs cannot be "
				    "seen, expected a recording of 'foliolab run'",
				    info->source[0] ? info->source : "no profile");
	run_config_init(c);
	c->machine.kernel = info->kernel;
	c->machine.memory = info->memory;
	c->machine.page_size = info->page_size;
	c->machine.seed = info->seed;
	c->machine.cpus = max(info->cpus, 1u);
	c->fs = info->fs;
	c->disk = strncmp(info->fs, "tmpfs", 5) ? info->disk : NULL; /* it has none */
	c->file = info->file[0] ? info->file : NULL;
	c->size = info->size;
	c->ra_bytes = info->ra_pages * info->page_size;
	c->io_bytes = info->io_pages * info->page_size;
	c->block_size = info->block_size;
	return 0;
}

static int play_op(struct run *run, const struct wl_op *op, struct watcher *w, struct fl_error *err)
{
	u64 total = workload_op_count(op), done = 0;
	int ret = 0;

	if (op->type != WL_READ)
		return run_op(run, op, err);
	while (done < total && !ret && !w->done) {
		u64 n = min_t(u64, total - done, READS_AT_ONCE);

		ret = run_op_piece(run, op, done, n, err);
		done += n;
	}
	return ret;
}

static int play_all(struct run *run, const struct workload *ops, struct watcher *w,
		    struct fl_error *err)
{
	struct tasks_report tasks = {0};
	int ret = 0;

	trace_add_sink(&run->machine->trace, &w->sink);
	if (w->also)
		trace_add_sink(&run->machine->trace, w->also);
	if (run->machine->nr_cpus > 1 || workload_tasks(ops))
		ret = run_tasks(run, ops, &tasks, err);
	else
		for (size_t i = 0; i < ops->nr && !ret && !w->done; i++)
			ret = play_op(run, &ops->ops[i], w, err);
	if (!ret && !w->done)
		blk_drain(run->machine);
	if (w->also)
		trace_remove_sink(&run->machine->trace, w->also);
	trace_remove_sink(&run->machine->trace, &w->sink);
	if (w->ret || ret)
		return w->ret ? w->ret : ret;
	if (w->done)
		return 0;
	if (w->nr == ~0ull)
		return w->look(w->ctx, run, err);
	return fl_error_set(err, -EINVAL, NULL, 0, "event %" PRIu64 ", expected one below %" PRIu64,
			    w->nr, w->next);
}

int rerun(const struct recording_info *info, const struct tape *tape, u64 first, u64 nr,
	  rerun_look look, void *ctx, struct fl_error *err)
{
	return rerun_with(info, tape, first, nr, NULL, look, ctx, err);
}

int rerun_with(const struct recording_info *info, const struct tape *tape, u64 first, u64 nr,
	       struct trace_sink *also, rerun_look look, void *ctx, struct fl_error *err)
{
	struct watcher w = {.sink.event = watch_event,
			    .also = also,
			    .tape = tape,
			    .first = first,
			    .nr = nr,
			    .look = look,
			    .ctx = ctx,
			    .err = err};
	struct run_config config;
	struct workload ops;
	struct run *run;
	int ret = make_config(info, &config, err);

	if (!ret && !*info->workload)
		ret = fl_error_set(err, -EINVAL, NULL, 0,
				   "a recording of a Lua workload, which holds no operations to "
				   "play once more, expected one of FILE.wl or -e OPS");
	if (!ret)
		ret = workload_parse(&ops, "recording", info->workload, strlen(info->workload),
				     err);
	if (ret)
		return ret;
	ret = run_open(&config, &run, err);
	if (!ret) {
		w.run = run;
		ret = play_all(run, &ops, &w, err);
		run_close(run);
	}
	workload_fini(&ops);
	return ret;
}
