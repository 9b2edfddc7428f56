#include "cli/run_script.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "lab/lab_remote.h"
#include "lab/script.h"

#define SCRIPT_SECONDS 3600 /* a script that somebody runs is meant to end */
#define SCRIPT_MIB     16384
#define SCRIPT_EVENTS  (8u << 20) /* recorded of a machine */

struct script_show {
	FILE *out;
	const char *figures; /* folder, or NULL */
	struct fl_error err; /* of the first figure that could not be saved */
};

static void script_print(void *ctx, const char *text, size_t len)
{
	struct script_show *s = ctx;

	fwrite(text, 1, len, s->out);
}

static void script_figure(void *ctx, const char *name, const char *svg)
{
	struct script_show *s = ctx;

	if (s->figures && !s->err.code)
		lab_save_figure(s->figures, name, svg, &s->err);
}

/* ---- recordings ---- */

static int write_events(FILE *f, const struct lab_remote_machine *m, bool pack,
			struct fl_error *err)
{
	struct recorder *recorder;
	struct trace_sink *sink;
	struct trace_event ev;
	int ret = recording_start(f, &m->info, pack, &recorder, err);

	if (ret)
		return ret;
	sink = recording_sink(recorder);
	for (u64 i = 0; i < m->tape.events; i++) {
		tape_get(&m->tape, i, &ev);
		sink->event(sink, &ev);
	}
	return recording_finish(recorder, err);
}

static int record_machine(const char *path, const struct lab_remote_machine *m, bool pack,
			  struct fl_error *err)
{
	struct out o;
	int ret = out_open(&o, path, err);

	if (ret)
		return ret;
	ret = write_events(o.f, m, pack, err);
	if (!ret)
		ret = out_commit(&o, err);
	else
		out_abort(&o);
	if (!ret && m->capped)
		fprintf(stderr, "%s: the first %" PRIu64 " events, there were more\n", path,
			m->tape.events);
	return ret;
}

/* The @nr-th recording, from 1. */
static int record_nr(const struct run_args *a, unsigned int nr, const struct lab_remote_machine *m,
		     struct fl_error *err)
{
	char number[16], *path;
	int ret;

	if (nr == 1)
		return record_machine(a->trace, m, a->pack, err);
	snprintf(number, sizeof(number), "%u", nr);
	path = trace_name(a->trace, number);
	if (!path)
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	ret = record_machine(path, m, a->pack, err);
	free(path);
	return ret;
}

static int record_all(const struct run_args *a, const struct lab_remote *remote,
		      struct fl_error *err)
{
	unsigned int machines = lab_remote_machines(remote), nr = 0;
	int ret = 0;

	for (unsigned int i = 0; i < machines && !ret; i++) {
		const struct lab_remote_machine *m = lab_remote_machine(remote, i);

		if (!m->twin)
			ret = record_nr(a, ++nr, m, err);
	}
	if (!ret && !nr)
		return fl_error_set(err, -EINVAL, a->workload.path, 0,
				    "it boots no machine, expected one to record");
	if (!ret && machines == LAB_REMOTE_MACHINES)
		fprintf(stderr, "%s: only the first %d machines, twins counted, are recorded\n",
			a->workload.path, LAB_REMOTE_MACHINES);
	return ret;
}

/* ---- running ---- */

static int play_script(const struct run_args *a, struct script_show *show, struct fl_error *err)
{
	static const struct lab_ask ask = {.type = LAB_ASK_SCRIPT};
	struct lab_remote_config config = {
		.script = a->workload.path,
		.defaults = &a->machine.config,
		.cpu_seconds = SCRIPT_SECONDS,
		.wall_seconds = SCRIPT_SECONDS,
		.rss_mib = SCRIPT_MIB,
		.events = a->trace ? SCRIPT_EVENTS : 0,
		.print = script_print,
		.figure = script_figure,
		.ctx = show,
	};
	struct lab_remote *remote;
	struct lab_reply reply;
	int ret = lab_remote_open(&config, &remote, err);

	if (ret)
		return ret;
	ret = lab_remote_do(remote, &ask, &reply, err);
	if (!ret && a->trace)
		ret = record_all(a, remote, err);
	lab_remote_close(remote);
	if (!ret && show->err.code) {
		*err = show->err;
		ret = err->code;
	}
	return ret;
}

static int check_options(const struct run_args *a, struct fl_error *err)
{
	const char *path = a->workload.path;

	if (a->view || a->serve)
		return fl_error_set(err, -EINVAL, path, 0,
				    "a Lua workload is watched afterwards, expected no --view and "
				    "no --serve (--trace OUT, then 'foliolab replay OUT')");
	if (a->trace_code)
		return fl_error_set(err, -EINVAL, path, 0,
				    "events of a Lua workload come without code, expected no "
				    "--trace-code");
	if (a->explore)
		return fl_error_set(err, -EINVAL, path, 0,
				    "a Lua workload chooses its schedules, expected no --explore "
				    "(m:tasks(OPS, { schedule = N }))");
	if (a->measure || a->perf || a->folded || a->format != FORMAT_TEXT)
		return fl_error_set(
			err, -EINVAL, path, 0,
			"a Lua workload prints for itself, expected no --measure, --perf, "
			"--folded or --format");
	return 0;
}

int run_script(const struct run_args *a, struct fl_error *err)
{
	struct script_show show = {.figures = a->figures};
	struct out o;
	int ret = check_options(a, err);

	if (!ret)
		ret = out_open(&o, a->output, err);
	if (ret)
		return ret;
	show.out = o.f;
	ret = play_script(a, &show, err);
	if (!ret)
		return out_commit(&o, err);
	fflush(o.f);
	out_abort(&o);
	return ret;
}
