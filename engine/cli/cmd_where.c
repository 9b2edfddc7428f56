/* foliolab where: the calls that led to an event of a recording. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/recording_args.h"
#include "debuginfo/where.h"
#include "trace/export.h"

enum { OPT_FORMAT };

static const struct cli_option where_options[] = {
	{"format", NULL, "F", "text or json (default text)", OPT_FORMAT},
	{0},
};

struct where_args {
	const char *event; /* as it was written */
	struct recording_args recording;
	enum cli_format format;
};

struct where_show {
	u64 nr;
	const char *name;
	char text[300]; /* its fields */
	struct code_frame frames[WHERE_FRAMES_MAX];
	unsigned int nr_frames;
};

/* ---- what is printed ---- */

static void show_text(struct out *o, const void *data)
{
	const struct where_show *s = data;

	fprintf(o->f, "event %" PRIu64 ": %s %s\n", s->nr, s->name, s->text);
	for (unsigned int i = 0; i < s->nr_frames; i++) {
		const struct code_frame *f = &s->frames[i];

		fprintf(o->f, "#%-2u %-34s %s:%u%s\n", i, *f->function ? f->function : "?", f->file,
			f->line, f->inlined ? " (inlined)" : "");
	}
}

static cJSON *show_json(const void *data)
{
	const struct where_show *s = data;
	cJSON *obj = cJSON_CreateObject(), *list;

	json_add_u64(obj, "event", s->nr);
	cJSON_AddStringToObject(obj, "name", s->name);
	cJSON_AddStringToObject(obj, "text", s->text);
	list = cJSON_AddArrayToObject(obj, "frames");
	for (unsigned int i = 0; i < s->nr_frames; i++) {
		const struct code_frame *f = &s->frames[i];
		cJSON *one = cJSON_CreateObject();

		cJSON_AddStringToObject(one, "function", f->function);
		cJSON_AddStringToObject(one, "file", f->file);
		json_add_u64(one, "line", f->line);
		cJSON_AddBoolToObject(one, "inlined", f->inlined);
		cJSON_AddItemToArray(list, one);
	}
	return obj;
}

/* ---- the event ---- */

/* Read only the one event. */
static int load_event(const struct where_args *a, struct where_show *s, struct fl_error *err)
{
	struct recording_args one = a->recording;
	struct trace_event ev;
	struct recorded r;
	int ret;

	one.from = one.to = s->nr;
	ret = recorded_open(&r, &one, NULL, err);
	if (ret)
		return ret;
	if (r.tape.events) {
		tape_get(&r.tape, 0, &ev);
		s->name = trace_event_info(ev.id)->name;
		export_line(&r.info, &ev, s->text, sizeof(s->text));
	} else {
		ret = fl_error_set(err, -EINVAL, a->recording.path, 0,
				   "no event %" PRIu64 ", expected one below %" PRIu64, s->nr,
				   r.result.events);
	}
	recorded_close(&r);
	return ret;
}

static int run(const struct where_args *a, struct fl_error *err)
{
	static const struct cli_result result = {show_text, show_json};
	struct where_show s = {0};
	struct where w;
	int ret = recording_args_number("EVENT", a->event, &s.nr, err);

	if (!ret)
		ret = load_event(a, &s, err);
	if (!ret)
		ret = where_open(&w, a->recording.path, err);
	if (ret)
		return ret;
	ret = where_frames(&w, s.nr, s.frames, err);
	if (ret >= 0) {
		s.nr_frames = ret;
		ret = cli_show(&result, &s, a->format, NULL, err);
	}
	where_close(&w);
	return ret;
}

/* ---- the command ---- */

static int take(struct where_args *a, int id, const char *value, struct fl_error *err)
{
	if (id == OPT_FORMAT)
		return cli_parse_format(value, &a->format, err);
	if (!a->event) {
		a->event = value;
		return 0;
	}
	return recording_args_path(&a->recording, value, err);
}

static int cmd_where_main(struct cli_args *args)
{
	struct where_args a = {.format = FORMAT_TEXT};
	struct fl_error err = {0};
	const char *value;
	int id, ret;

	recording_args_init(&a.recording);
	while ((ret = cli_next(args, &id, &value, &err)) > 0) {
		if (id == CLI_HELP)
			return cli_help(args);
		if (take(&a, id, value, &err))
			return cli_fail(&err);
	}
	if (!ret && !a.recording.path)
		ret = fl_error_set(
			&err, -EINVAL, NULL, 0,
			"too few arguments, expected the number of an event and a recording");
	if (!ret)
		ret = run(&a, &err);
	return ret ? cli_fail(&err) : CLI_DONE;
}

const struct cli_command cmd_where = {
	.name = "where",
	.synopsis = "EVENT TRACE [--format text|json]",
	.summary = "Show the calls that led to an event of a recording, with file and line.",
	.options = where_options,
	.details =
		"EVENT is its number, from 0. The recording must have been made by this build.\n"
		"Calls that the compiler turned into jumps (the last thing a function does) are\n"
		"missing.\n"
		"\n"
		"Example:\n"
		"  foliolab run -e 'read 4k 100' --trace t.flt --trace-code\n"
		"  foliolab where 42 t.flt\n"
		"\n"
		"JSON keys:\n"
		"  event, name, text   number, tracepoint, its fields\n"
		"  frames              [{function, file, line, inlined}], innermost first\n",
	.run = cmd_where_main,
};
