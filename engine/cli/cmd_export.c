#include "cli/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common.h"
#include "cli/lab.h"
#include "cli/lab_page.h"
#include "cli/picture.h"
#include "cli/recording_args.h"
#include "lib/strutil.h"
#include "lab/lab.h"
#include "machine/knobs.h"
#include "trace/export.h"
#include "view/perfetto.h"
#include "view/web/page.h"

enum export_format {
	EXPORT_FTRACE,
	EXPORT_CSV,
	EXPORT_SVG,
	EXPORT_PNG,
	EXPORT_PERFETTO,
	EXPORT_HTML,
	EXPORT_NR,
};

enum {
	OPT_FORMAT,
	OPT_FROM,
	OPT_TO,
	OPT_OUTPUT,
	OPT_ALL,
	OPT_AT,
	OPT_THEME,
	OPT_SIZE,
	OPT_RANGE,
	OPT_LAB,
	OPT_STUDENT,
};

static const struct cli_option options[] = {
	{"format", NULL, "F", "ftrace (default), csv, svg, png, perfetto or html", OPT_FORMAT},
	{"from", NULL, "N", "the first event", OPT_FROM},
	{"to", NULL, "N", "the last event", OPT_TO},
	{"all", NULL, NULL,
	 "with ftrace: also the events that only a miniature has (csv has them always)", OPT_ALL},
	{"at", NULL, "N", "pictures: the moment after this event (default: the last)", OPT_AT},
	{"range", NULL, "A-B", "pictures: sums and panels over time show these events", OPT_RANGE},
	{"size", NULL, "WxH", "pictures: pixels (default 1280x800)", OPT_SIZE},
	{"theme", NULL, "T", "pictures: dark (default), light, contrast, mono or print", OPT_THEME},
	{"lab", NULL, "LAB",
	 "html: with the texts and questions of this lab; its answers stay hidden until asked for",
	 OPT_LAB},
	{"student", NULL, "ID", "with --lab: whose numbers (default: guest)", OPT_STUDENT},
	{"output", "o", "OUT", "write there instead of standard output", OPT_OUTPUT},
	{0},
};

struct export_args {
	struct recording_args recording;
	enum export_format format;
	const char *output, *lab, *student;
	struct picture_args picture;
	bool all, help;
};

static int parse_export_format(const char *value, enum export_format *ret, struct fl_error *err)
{
	static const char *const names[EXPORT_NR] = {"ftrace", "csv",	   "svg",
						     "png",    "perfetto", "html"};
	const struct name_list list = {"format", names, EXPORT_NR};
	char text[sizeof(err->text)];

	for (unsigned int i = 0; i < EXPORT_NR; i++)
		if (!strcmp(value, names[i])) {
			*ret = i;
			return 0;
		}
	return fl_error_set(err, -EINVAL, "--format", 0, "%s",
			    describe_unknown(text, sizeof(text), value, &list));
}

static int take(struct export_args *a, int id, const char *value, struct fl_error *err)
{
	switch (id) {
	case CLI_HELP:
		a->help = true;
		return 0;
	case CLI_POSITIONAL:
		return recording_args_path(&a->recording, value, err);
	case OPT_FORMAT:
		return parse_export_format(value, &a->format, err);
	case OPT_FROM:
		return recording_args_number("--from", value, &a->recording.from, err);
	case OPT_TO:
		return recording_args_number("--to", value, &a->recording.to, err);
	case OPT_ALL:
		a->all = true;
		return 0;
	case OPT_AT:
		return recording_args_number("--at", value, &a->picture.at, err);
	case OPT_THEME:
		return picture_args_theme(value, &a->picture, err);
	case OPT_SIZE:
		return picture_args_size(value, &a->picture, err);
	case OPT_LAB:
		a->lab = value;
		return 0;
	case OPT_STUDENT:
		a->student = value;
		return 0;
	case OPT_RANGE:
		return picture_args_range(value, &a->picture, err);
	default:
		a->output = value;
		return 0;
	}
}

/* Does the recorded kernel have this tracepoint? */
static bool has_tracepoint(const struct knobs *knobs, const struct trace_event_info *event)
{
	int knob;

	if (!strcmp(event->since, "ALWAYS"))
		return true;
	knob = knob_by_name(event->since, strlen(event->since));
	return knob >= 0 && knobs_test(knobs, knob);
}

static void choose_events(const struct export_args *a, const struct recording_info *info,
			  bool *shown)
{
	struct knobs knobs;
	bool known = !knobs_parse(&knobs, info->kernel, NULL);

	for (unsigned int i = 0; i < EV_NR; i++)
		shown[i] = a->all || a->format == EXPORT_CSV || !known ||
			   has_tracepoint(&knobs, trace_event_info(i));
}

static int export_html(const struct export_args *a, const struct recorded *r, FILE *f,
		       struct fl_error *err)
{
	const char *slash = strrchr(a->recording.path, '/');
	struct web_page page = {
		.title = slash ? slash + 1 : a->recording.path,
		.first_event = r->first,
		.at = a->picture.at == ~0ull ? 0 : a->picture.at - min(a->picture.at, r->first),
	};

	char *lab = NULL;
	int ret = 0;

	if (a->lab)
		ret = lab_page_json(a->lab, a->student ? a->student : LAB_DEFAULT_STUDENT, &lab,
				    err);
	page.lab = lab;
	if (!ret)
		ret = web_page_write(&r->tape, &r->info, &page, f, err);
	free(lab);
	return ret;
}

static int export_tape(const struct export_args *a, FILE *f, struct fl_error *err)
{
	bool shown[EV_NR];
	struct recorded r;
	int ret = recorded_open(&r, &a->recording, NULL, err);

	if (ret)
		return ret;
	choose_events(a, &r.info, shown);
	if (a->format == EXPORT_CSV)
		export_csv(f, &r.tape, r.first, shown);
	else if (a->format == EXPORT_FTRACE)
		export_ftrace(f, &r.tape, &r.info, shown);
	else if (a->format == EXPORT_HTML)
		ret = export_html(a, &r, f, err);
	else if (perfetto_write(&r.tape, &r.info, f))
		ret = fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	recorded_close(&r);
	return ret;
}

static int export(struct export_args *a, struct fl_error *err)
{
	struct out o;
	int ret;

	if ((a->lab || a->student) && a->format != EXPORT_HTML)
		return fl_error_set(err, -EINVAL, a->lab ? "--lab" : "--student", 0,
				    "only pages have labs, expected --format html");
	if (a->student && !a->lab)
		return fl_error_set(err, -EINVAL, "--student", 0,
				    "the page has nobody's numbers, expected --lab too");
	if (a->student && !lab_is_student(a->student))
		return fl_error_set(err, -EINVAL, "--student", 0,
				    "no name, expected 1 to 127 printable characters");
	ret = out_open(&o, a->output, err);
	if (ret)
		return ret;
	a->picture.png = a->format == EXPORT_PNG;
	if (a->format == EXPORT_SVG || a->format == EXPORT_PNG)
		ret = picture_write(&a->recording, &a->picture, o.f, err);
	else
		ret = export_tape(a, o.f, err);
	if (!ret)
		return out_commit(&o, err);
	out_abort(&o);
	return ret;
}

static int cmd_export_main(struct cli_args *args)
{
	struct export_args a = {0};
	struct fl_error err = {0};
	const char *value;
	int id, ret;

	recording_args_init(&a.recording);
	picture_args_init(&a.picture);
	while ((ret = cli_next(args, &id, &value, &err)) > 0) {
		ret = take(&a, id, value, &err);
		if (ret)
			return cli_fail(&err);
		if (a.help)
			return cli_help(args);
	}
	if (ret || export(&a, &err))
		return cli_fail(&err);
	return CLI_DONE;
}

const struct cli_command cmd_export = {
	.name = "export",
	.synopsis = "TRACE [options]",
	.summary = "Write a recording in a format that other programs read.",
	.options = options,
	.details = "ftrace is what /sys/kernel/tracing/trace of the recorded kernel would show:\n"
		   "the tracepoints that kernel has, with its names and print formats.\n"
		   "\n"
		   "Example:\n"
		   "  foliolab run -e 'read 4k 100' --trace t.flt\n"
		   "  foliolab export t.flt --format ftrace\n"
		   "  foliolab export t.flt --format html --lab 02 -o page.html\n",
	.run = cmd_export_main,
};
