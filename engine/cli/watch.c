#include "cli/watch.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/inspect.h"
#include "cli/view_settings.h"
#include "lab/run_live.h"
#include "lab/run_record.h"
#include "lab/run_tasks.h"
#include "view/gui/gui.h"
#include "view/tui/tui.h"

/* The most events of a run that are kept to be looked at: 640 MB at most, 1 GB with the scene. */
#define WATCH_EVENTS 10000000u

void watch_op_text(const struct trace_event *ev, char *buf, size_t size)
{
	const struct wl_op op = {
		.type = ev->b, .line = ev->a, .off = ev->c, .len = ev->d, .n = ev->e};

	if (ev->b >= WL_NR_OPS || workload_format_op(&op, buf, size) < 0)
		snprintf(buf, size, "%s", ev->b < WL_NR_OPS ? workload_op_name(ev->b) : "?");
}

int watch_end(int ret, int signo)
{
	if (ret == -EINTR && signo) {
		signal(signo, SIG_DFL);
		raise(signo);
	}
	return ret;
}

/*
 * Show it, with what is remembered unless told not to. A signal that ended it is in *@signo: let
 * go of all that outlives the program, then call watch_end().
 */
static int show(enum cli_view view, const struct tui_machine *machines, unsigned int nr,
		struct tui_options *options, bool no_settings, int *signo, struct fl_error *err)
{
	struct tui_settings settings;
	int ret;

	if (!no_settings) {
		view_settings_load(&settings, machines[0].info);
		options->settings = &settings;
	}
	ret = view == VIEW_GUI ? gui_run(machines, nr, options, signo, err)
			       : tui_run(machines, nr, options, signo, err);
	if (!no_settings && (!ret || ret == -EINTR))
		view_settings_save(&settings, machines[0].info);
	return ret;
}

/* ---- runs ---- */

struct watched {
	struct tui_feed feed;
	struct link_source source;
	struct live_run *run;
	struct inspector inspector;
};

static struct live_run *run_of(struct tui_feed *feed)
{
	return container_of(feed, struct watched, feed)->run;
}

static bool feed_pull(struct tui_feed *feed, u64 want, int ms)
{
	struct watched *w = container_of(feed, struct watched, feed);
	bool more = live_run_pull(w->run, want, ms);

	w->source.whole = !more;
	return more;
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

/* Without a view of its own: play all of it, and let others look until a signal comes. */
static int serve_only(struct link *link, struct watched *watched, unsigned int nr, const char *path)
{
	struct link_place place = {0};
	sigset_t end;
	int signo;

	sigemptyset(&end);
	sigaddset(&end, SIGINT);
	sigaddset(&end, SIGTERM);
	sigaddset(&end, SIGHUP);
	sigprocmask(SIG_BLOCK, &end, NULL);
	fprintf(stderr, "serving; look on with: foliolab attach %s (Ctrl-C ends)\n", path);
	for (;;) {
		const struct timespec turn = {.tv_nsec = 30000000};

		for (unsigned int i = 0; i < nr; i++)
			watched[i].source.whole = !live_run_pull(watched[i].run, ~0ull, 0);
		link->turn(link, &place);
		signo = sigtimedwait(&end, NULL, &turn);
		if (signo > 0)
			return 0;
	}
}

static int show_watched(const struct run_args *a, struct watched *watched, unsigned int nr,
			struct fl_error *err)
{
	struct tui_options options = {.op_text = watch_op_text};
	struct tui_machine machines[TUI_MACHINES];
	struct link_source *sources[TUI_MACHINES];
	int signo = 0, ret = 0;

	for (unsigned int i = 0; i < nr; i++) {
		machines[i] = (struct tui_machine){live_run_tape(watched[i].run),
						   live_run_info(watched[i].run), &watched[i].feed,
						   &watched[i].inspector.in};
		inspector_init(&watched[i].inspector, machines[i].tape, machines[i].info, 0, NULL);
		watched[i].source = (struct link_source){machines[i].tape, machines[i].info, false};
		sources[i] = &watched[i].source;
	}
	if (a->serve)
		ret = link_serve(a->serve, sources, nr, &options.link, err);
	if (ret)
		return ret;
	if (a->view)
		ret = show(a->view, machines, nr, &options, a->no_settings, &signo, err);
	else
		ret = serve_only(options.link, watched, nr, a->serve);
	link_close(options.link);
	for (unsigned int i = 0; i < nr; i++)
		inspector_fini(&watched[i].inspector);
	return watch_end(ret, signo);
}

/* What the view and a report on paper cannot have at once. */
static int check_view(const struct run_args *a, struct fl_error *err)
{
	if (a->trace || a->output || a->measure || a->format != FORMAT_TEXT)
		return fl_error_set(err, -EINVAL, "--view", 0,
				    "the view writes no report, expected no --trace, --output, "
				    "--measure and --format beside it");
	if (a->machine.nr_kernels > TUI_SIDE_BY_SIDE)
		return fl_error_set(err, -EINVAL, "--kernel", 0,
				    "%u kernels beside each other, expected up to %u with --view "
				    "tui",
				    a->machine.nr_kernels, TUI_SIDE_BY_SIDE);
	return 0;
}

static int watch_live(const struct run_args *a, const struct workload *w, unsigned int nr,
		      struct fl_error *err)
{
	struct watched watched[TUI_SIDE_BY_SIDE] = {0};
	int ret = start_kernels(a, w, watched, nr, err);

	if (!ret)
		ret = show_watched(a, watched, nr, err);
	for (unsigned int i = 0; i < nr; i++) {
		int error = live_run_end(watched[i].run, ret ? NULL : err);

		ret = ret ? ret : error;
	}
	return ret;
}

/* ---- several tasks: a schedule is played to its end before it is looked at ---- */

struct played {
	struct tui_feed feed; /* where not all events found room: says so */
	struct recording_info info;
	struct tape tape;
	struct inspector inspector;
};

static bool played_pull(struct tui_feed *feed, u64 want, int ms)
{
	(void)feed, (void)want, (void)ms;
	return false;
}

static u64 played_calls(struct tui_feed *feed)
{
	(void)feed;
	return 0;
}

static const char *played_note(struct tui_feed *feed)
{
	(void)feed;
	return "the run went on; there is no room for more events";
}

static int play_tasks(const struct run_config *config, const struct workload *w, struct played *p,
		      struct fl_error *err)
{
	struct tasks_report *tasks = malloc(sizeof(*tasks));
	struct run *run = NULL;
	int ret = tasks ? run_open(config, &run, err)
			: fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");

	if (!ret && (run_recording_info(run, w, &p->info) || tape_init(&p->tape, WATCH_EVENTS)))
		ret = fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	if (!ret) {
		trace_add_sink(&run->machine->trace, &p->tape.sink);
		ret = run_tasks(run, w, tasks, err);
		trace_remove_sink(&run->machine->trace, &p->tape.sink);
		fputs(run->machine->bug, stderr);
	}
	run_close(run);
	free(tasks);
	return ret;
}

static int show_played(const struct run_args *a, struct played *played, unsigned int nr, int *signo,
		       struct fl_error *err)
{
	struct tui_options options = {.op_text = watch_op_text};
	struct tui_machine machines[TUI_MACHINES];
	int ret;

	for (unsigned int i = 0; i < nr; i++) {
		struct played *p = &played[i];

		p->feed = (struct tui_feed){played_pull, played_calls, played_note};
		inspector_init(&p->inspector, &p->tape, &p->info, 0, NULL);
		machines[i] = (struct tui_machine){
			&p->tape, &p->info, p->tape.refused ? &p->feed : NULL, &p->inspector.in};
	}
	ret = show(a->view, machines, nr, &options, a->no_settings, signo, err);
	for (unsigned int i = 0; i < nr; i++)
		inspector_fini(&played[i].inspector);
	return ret;
}

static int watch_tasks(const struct run_args *a, const struct workload *w, unsigned int nr,
		       struct fl_error *err)
{
	struct run_config config = a->machine.config;
	struct played played[TUI_SIDE_BY_SIDE] = {0};
	int signo = 0, ret = 0;

	if (a->serve)
		return fl_error_set(
			err, -EINVAL, "--serve", 0,
			"several processors are watched afterwards, expected --view alone");
	config.machine.cpus =
		min(max(config.machine.cpus, workload_tasks(w)), MACHINE_MAX_CPUS + 0U);
	for (unsigned int i = 0; i < nr && !ret; i++) {
		if (a->machine.nr_kernels)
			config.machine.kernel = a->machine.kernels[i];
		ret = play_tasks(&config, w, &played[i], err);
	}
	if (!ret)
		ret = show_played(a, played, nr, &signo, err);
	for (unsigned int i = 0; i < nr; i++) {
		tape_fini(&played[i].tape);
		recording_info_fini(&played[i].info);
	}
	return watch_end(ret, signo);
}

int watch_run(const struct run_args *a, struct fl_error *err)
{
	unsigned int nr = max(a->machine.nr_kernels, 1u);
	struct workload w;
	int ret = check_view(a, err);

	if (!ret)
		ret = workload_arg_load(&a->workload, &w, err);
	if (ret)
		return ret;
	if (a->machine.config.machine.cpus > 1 || workload_tasks(&w))
		ret = watch_tasks(a, &w, nr, err);
	else
		ret = watch_live(a, &w, nr, err);
	workload_fini(&w);
	return ret;
}

/* ---- sessions of others ---- */

struct looked_on {
	struct tui_feed feed;
	struct link *link;
	unsigned int machine;
};

static bool linked_pull(struct tui_feed *feed, u64 want, int ms)
{
	struct looked_on *l = container_of(feed, struct looked_on, feed);

	return link_pull(l->link, l->machine,
			 link_tape(l->link, l->machine)->events < want ? ms : 0);
}

static u64 linked_calls(struct tui_feed *feed)
{
	(void)feed;
	return 0;
}

static const char *linked_note(struct tui_feed *feed)
{
	return link_is_cut(container_of(feed, struct looked_on, feed)->link)
		       ? "the session has ended; what came of it is here"
		       : NULL;
}

int watch_attached(const char *socket, enum cli_view view, bool no_settings, struct fl_error *err)
{
	struct tui_options options = {.op_text = watch_op_text, .title = "attached"};
	struct tui_machine machines[TUI_MACHINES];
	struct looked_on looked_on[TUI_MACHINES];
	int signo, ret = link_attach(socket, &options.link, err);

	if (ret)
		return ret;
	for (unsigned int i = 0; i < link_machines(options.link); i++) {
		looked_on[i] = (struct looked_on){
			{linked_pull, linked_calls, linked_note}, options.link, i};
		machines[i] =
			(struct tui_machine){link_tape(options.link, i), link_info(options.link, i),
					     &looked_on[i].feed, NULL};
	}
	ret = show(view, machines, link_machines(options.link), &options, no_settings, &signo, err);
	link_close(options.link);
	return watch_end(ret, signo);
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
		.op_text = watch_op_text,
		.first_event = a->from,
		.prepare = prepare,
		.ctx = (void *)a,
	};
}

int watch_recording(const struct recording_args *a, enum cli_view view, struct fl_error *err)
{
	struct tui_options options;
	struct tui_machine machine;
	struct inspector inspector;
	struct recorded r;
	int signo, ret = recorded_open(&r, a, NULL, err);

	if (ret)
		return ret;
	watch_options(&options, a);
	inspector_init(&inspector, &r.tape, &r.info, a->from, a->path);
	machine = (struct tui_machine){.tape = &r.tape, .info = &r.info, .inspect = &inspector.in};
	ret = show(view, &machine, 1, &options, a->no_settings, &signo, err);
	inspector_fini(&inspector);
	recorded_close(&r);
	return watch_end(ret, signo);
}
