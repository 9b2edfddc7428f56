#include "cli/watch.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "lab/run_record.h"
#include "view/tui/tui.h"

/* The most events of a run that are kept to be looked at. */
#define WATCH_EVENTS (16u << 20)

#define PICTURE_WIDTH  132
#define PICTURE_HEIGHT 44

/* An operation as the workload language writes it. */
static void op_text(const struct trace_event *ev, char *buf, size_t size)
{
	const struct wl_op op = {
		.type = ev->b, .line = ev->a, .off = ev->c, .len = ev->d, .n = ev->e};

	if (ev->b >= WL_NR_OPS || workload_format_op(&op, buf, size) < 0)
		snprintf(buf, size, "%s", ev->b < WL_NR_OPS ? workload_op_name(ev->b) : "?");
}

static int end_of_view(int ret, int signo)
{
	if (ret == -EINTR && signo) {
		signal(signo, SIG_DFL);
		raise(signo);
	}
	return ret;
}

/* ---- runs ---- */

struct watched {
	struct tape tape;
	struct recording_info info;
};

static int play_tape(const struct run_config *config, const struct workload *w, struct watched *ret,
		     struct fl_error *err)
{
	struct run *run;
	int error = run_open(config, &run, err);

	if (error)
		return error;
	error = run_recording_info(run, w, &ret->info);
	if (!error)
		error = tape_init(&ret->tape, WATCH_EVENTS);
	if (error) {
		fl_error_set(err, error, NULL, 0, "out of memory");
	} else {
		trace_add_sink(&run->machine->trace, &ret->tape.sink);
		error = run_workload(run, w, err);
		trace_remove_sink(&run->machine->trace, &ret->tape.sink);
	}
	run_close(run);
	return error;
}

static int play_kernels(const struct run_args *a, const struct workload *w, struct watched *watched,
			unsigned int nr, struct fl_error *err)
{
	struct run_config config = a->machine.config;
	int ret = 0;

	for (unsigned int i = 0; i < nr && !ret; i++) {
		if (a->machine.nr_kernels)
			config.machine.kernel = a->machine.kernels[i];
		ret = play_tape(&config, w, &watched[i], err);
		if (!ret && watched[i].tape.refused)
			fprintf(stderr, "foliolab: more than %u events, the view has the first\n",
				WATCH_EVENTS);
	}
	return ret;
}

static int show_watched(const struct watched *watched, unsigned int nr, struct fl_error *err)
{
	const struct tui_options options = {.op_text = op_text};
	struct tui_machine machines[TUI_MACHINES];
	int signo, ret;

	for (unsigned int i = 0; i < nr; i++)
		machines[i] = (struct tui_machine){&watched[i].tape, &watched[i].info};
	ret = tui_run(machines, nr, &options, &signo, err);
	return end_of_view(ret, signo);
}

/* What the view and a report on paper cannot have at once. */
static int check_view(const struct run_args *a, struct fl_error *err)
{
	if (a->trace || a->output || a->measure || a->format != FORMAT_TEXT)
		return fl_error_set(err, -EINVAL, "--view", 0,
				    "the view writes no report, expected no --trace, --output, "
				    "--measure and --format beside it");
	if (a->machine.nr_kernels > TUI_MACHINES)
		return fl_error_set(err, -EINVAL, "--kernel", 0,
				    "%u kernels beside each other, expected up to %u with --view "
				    "tui",
				    a->machine.nr_kernels, TUI_MACHINES);
	return 0;
}

int watch_run(const struct run_args *a, struct fl_error *err)
{
	unsigned int nr = max(a->machine.nr_kernels, 1u);
	struct watched watched[TUI_MACHINES] = {0};
	struct workload w;
	int ret = check_view(a, err);

	if (!ret)
		ret = workload_arg_load(&a->workload, &w, err);
	if (ret)
		return ret;
	ret = play_kernels(a, &w, watched, nr, err);
	if (!ret)
		ret = show_watched(watched, nr, err);
	for (unsigned int i = 0; i < nr; i++) {
		tape_fini(&watched[i].tape);
		recording_info_fini(&watched[i].info);
	}
	workload_fini(&w);
	return ret;
}

/* ---- recordings ---- */

/* Feeds a scene with what lies before the range. */
struct feeder {
	struct trace_sink sink;
	struct scene *scene;
	const struct recording_args *args;
};

static void feed(struct trace_sink *sink, const struct trace_event *ev)
{
	struct feeder *f = container_of(sink, struct feeder, sink);

	scene_feed(f->scene, ev);
}

/* The events before the range are read once more: they are on no tape. */
static int prepare(struct scene *s, unsigned int machine, void *ctx)
{
	struct feeder f = {.sink = {.event = feed}, .scene = s, .args = ctx};
	const struct recording_range range = {
		.from = f.args->from, .to = f.args->from, .before = &f.sink};
	struct recording_result result;
	struct recording_info info;
	struct tape tape;
	int ret;

	(void)machine;
	if (!f.args->from)
		return 0;
	ret = recording_load(f.args->path, &range, &info, &tape, &result, NULL);
	if (ret)
		return ret;
	tape_fini(&tape);
	recording_info_fini(&info);
	return s->error;
}

static void options_of(struct tui_options *options, const struct recording_args *a)
{
	*options = (struct tui_options){
		.op_text = op_text,
		.first_event = a->from,
		.prepare = prepare,
		.ctx = (void *)a,
	};
}

int watch_recording(const struct recording_args *a, struct fl_error *err)
{
	struct tui_options options;
	struct tui_machine machine;
	struct recorded r;
	int signo, ret = recorded_open(&r, a, NULL, err);

	if (ret)
		return ret;
	options_of(&options, a);
	machine = (struct tui_machine){&r.tape, &r.info};
	ret = tui_run(&machine, 1, &options, &signo, err);
	recorded_close(&r);
	return end_of_view(ret, signo);
}

int picture_recording(const struct recording_args *a, u64 at, const char *theme, FILE *f,
		      struct fl_error *err)
{
	struct tui_options options;
	struct tui_machine machine;
	struct canvas canvas;
	struct recorded r;
	int ret = recorded_open(&r, a, NULL, err);

	if (ret)
		return ret;
	options_of(&options, a);
	machine = (struct tui_machine){&r.tape, &r.info};
	ret = tui_picture(&machine, 1, &options, at > a->from ? at - a->from : 0, PICTURE_WIDTH,
			  PICTURE_HEIGHT, &canvas, err);
	if (!ret) {
		canvas_svg(&canvas, f, theme);
		canvas_fini(&canvas);
	}
	recorded_close(&r);
	return ret;
}
