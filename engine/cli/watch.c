#include "cli/watch.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/view_settings.h"
#include "lab/run_live.h"
#include "view/gui/gui.h"
#include "view/tui/tui.h"

/* The most events of a run that are kept to be looked at: 640 MB at most, 1 GB with the scene. */
#define WATCH_EVENTS 10000000u

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

/* The terminal view, with what it remembers unless told not to. */
static int show_tui(const struct tui_machine *machines, unsigned int nr,
		    struct tui_options *options, bool no_settings, struct fl_error *err)
{
	struct tui_settings settings;
	int signo, ret;

	if (!no_settings) {
		view_settings_load(&settings, machines[0].info);
		options->settings = &settings;
	}
	ret = tui_run(machines, nr, options, &signo, err);
	if (!no_settings && (!ret || ret == -EINTR))
		view_settings_save(&settings, machines[0].info);
	return end_of_view(ret, signo);
}

static int show(enum cli_view view, const struct tui_machine *machines, unsigned int nr,
		struct tui_options *options, bool no_settings, struct fl_error *err)
{
	if (view == VIEW_GUI)
		return gui_run(machines, nr, options, err);
	return show_tui(machines, nr, options, no_settings, err);
}

/* ---- runs ---- */

struct watched {
	struct tui_feed feed;
	struct live_run *run;
};

static struct live_run *run_of(struct tui_feed *feed)
{
	return container_of(feed, struct watched, feed)->run;
}

static bool feed_pull(struct tui_feed *feed, u64 want, int ms)
{
	return live_run_pull(run_of(feed), want, ms);
}

static u64 feed_calls(struct tui_feed *feed)
{
	return live_run_ops(run_of(feed));
}

static const char *feed_note(struct tui_feed *feed)
{
	return live_run_note(run_of(feed));
}

static int start_kernels(const struct run_args *a, const struct workload *w,
			 struct watched *watched, unsigned int nr, struct fl_error *err)
{
	struct run_config config = a->machine.config;
	int ret = 0;

	for (unsigned int i = 0; i < nr && !ret; i++) {
		if (a->machine.nr_kernels)
			config.machine.kernel = a->machine.kernels[i];
		watched[i].feed = (struct tui_feed){feed_pull, feed_calls, feed_note};
		ret = live_run_start(&config, w, WATCH_EVENTS, &watched[i].run, err);
	}
	return ret;
}

static int show_watched(const struct run_args *a, struct watched *watched, unsigned int nr,
			struct fl_error *err)
{
	struct tui_options options = {.op_text = op_text};
	struct tui_machine machines[TUI_MACHINES];

	for (unsigned int i = 0; i < nr; i++)
		machines[i] = (struct tui_machine){live_run_tape(watched[i].run),
						   live_run_info(watched[i].run), &watched[i].feed};
	return show(a->view, machines, nr, &options, a->no_settings, err);
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
	ret = start_kernels(a, &w, watched, nr, err);
	if (!ret)
		ret = show_watched(a, watched, nr, err);
	for (unsigned int i = 0; i < nr; i++) {
		int error = live_run_end(watched[i].run, ret ? NULL : err);

		ret = ret ? ret : error;
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

void watch_options(struct tui_options *options, const struct recording_args *a)
{
	*options = (struct tui_options){
		.op_text = op_text,
		.first_event = a->from,
		.prepare = prepare,
		.ctx = (void *)a,
	};
}

int watch_recording(const struct recording_args *a, enum cli_view view, struct fl_error *err)
{
	struct tui_options options;
	struct tui_machine machine;
	struct recorded r;
	int ret = recorded_open(&r, a, NULL, err);

	if (ret)
		return ret;
	watch_options(&options, a);
	machine = (struct tui_machine){.tape = &r.tape, .info = &r.info};
	ret = show(view, &machine, 1, &options, a->no_settings, err);
	recorded_close(&r);
	return ret;
}
