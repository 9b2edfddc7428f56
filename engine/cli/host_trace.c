/*
 * foliolab host trace: the kernel's tracepoints while a command runs.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/host_commands.h"
#include "cli/import_text.h"
#include "host/traced_file.h"

#define MAX_EVENTS 64

enum { OPT_EVENT, OPT_FILE, OPT_OUTPUT, OPT_FORMAT };

static const struct cli_option options[] = {
	{"event", "e", "EVENT",
	 "system/name as in /sys/kernel/tracing/events; may be given several times (default: "
	 "filemap, readahead, ext4, writeback and block, what the kernel has of them)",
	 OPT_EVENT},
	{"file", NULL, "PATH",
	 "only what concerns this file, whoever does it (default: what COMMAND "
	 "does, whatever the file)",
	 OPT_FILE},
	{"output", "o", "OUT",
	 "write a recording there, for replay and export; without, the text "
	 "goes to standard error",
	 OPT_OUTPUT},
	{"format", NULL, "FORMAT", "recording (default with -o) or text", OPT_FORMAT},
	{0},
};

/* A kernel has most of them; the readahead events are there since v6.18. */
static const char *const default_events[] = {
	"filemap/mm_filemap_add_to_page_cache",
	"filemap/mm_filemap_delete_from_page_cache",
	"filemap/mm_filemap_fault",
	"filemap/mm_filemap_get_pages",
	"filemap/mm_filemap_map_pages",
	"readahead/page_cache_sync_ra",
	"readahead/page_cache_async_ra",
	"readahead/page_cache_ra_order",
	"readahead/page_cache_ra_unbounded",
	"ext4/ext4_da_write_begin",
	"ext4/ext4_write_begin",
	"writeback/writeback_dirty_folio",
	"block/block_bio_queue",
	"block/block_rq_issue",
	"block/block_rq_complete",
};

struct trace_args {
	const char *events[MAX_EVENTS];
	unsigned int nr_events;
	const char *file, *output;
	char **command;
	bool text, help;
};

static int parse_text_format(const char *value, bool *text, struct fl_error *err)
{
	*text = !strcmp(value, "text");
	if (*text || !strcmp(value, "recording"))
		return 0;
	return fl_error_set(err, -EINVAL, "--format", 0, "'%.40s', expected recording or text",
			    value);
}

static int parse(struct cli_args *args, struct trace_args *a, struct fl_error *err)
{
	const char *value, *format = NULL;
	int id, ret;

	while ((ret = cli_next(args, &id, &value, err)) > 0) {
		switch (id) {
		case CLI_HELP:
			a->help = true;
			return 0;
		case CLI_POSITIONAL:
			a->command = &args->argv[args->pos - 1];
			a->text = !a->output;
			return format ? parse_text_format(format, &a->text, err) : 0;
		case OPT_EVENT:
			if (a->nr_events == MAX_EVENTS)
				return fl_error_set(err, -EINVAL, "--event", 0,
						    "too many, expected at most %d", MAX_EVENTS);
			a->events[a->nr_events++] = value;
			break;
		case OPT_FILE:
			a->file = value;
			break;
		case OPT_OUTPUT:
			a->output = value;
			break;
		case OPT_FORMAT:
			format = value;
			break;
		}
	}
	if (!ret)
		return fl_error_set(err, -EINVAL, "host trace", 0,
				    "no command, expected -- COMMAND [ARGUMENT...]");
	return ret;
}

/* ---- what is recorded ---- */

static int enable_asked(struct host_tracefs *t, const struct trace_args *a,
			const struct host_trace_filter *filter, struct fl_error *err)
{
	for (unsigned int i = 0; i < a->nr_events; i++) {
		int ret = host_tracefs_enable(t, a->events[i], filter);

		if (ret)
			return fl_error_set(
				err, ret, a->events[i], 0, "%s, expected an event of this kernel%s",
				strerror(-ret), filter ? " that names a file or a device" : "");
	}
	return 0;
}

static int enable_events(struct host_tracefs *t, const struct trace_args *a,
			 const struct host_traced *file, pid_t pid, struct fl_error *err)
{
	struct host_trace_filter filter;

	if (file)
		filter = host_traced_filter(file);
	else if (host_tracefs_follow(t, pid))
		return fl_error_set(err, -EINVAL, "tracefs", 0,
				    "events cannot follow a process, expected --file PATH");
	if (a->nr_events)
		return enable_asked(t, a, file ? &filter : NULL, err);
	for (unsigned int i = 0; i < ARRAY_SIZE(default_events); i++)
		host_tracefs_enable(t, default_events[i], file ? &filter : NULL);
	return 0;
}

/* ---- the command ---- */

static void write_line(void *ctx, const char *line)
{
	fprintf(ctx, "%s\n", line);
}

/* The child waits until tracing is on. */
static pid_t start_command(char **command, const int *go)
{
	pid_t pid = fork();
	char c;

	if (pid)
		return pid;
	close(go[1]);
	if (read(go[0], &c, 1) != 1)
		_exit(127);
	execvp(command[0], command);
	fprintf(stderr, "foliolab: %s: %s, expected a command\n", command[0], strerror(errno));
	_exit(127);
}

static int follow(struct host_tracefs *t, pid_t pid, FILE *f)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	int status, ret = 0;

	while (!ret && waitpid(pid, &status, WNOHANG) == 0) {
		ret = host_tracefs_read(t, write_line, f);
		nanosleep(&pause, NULL);
	}
	return ret ? ret : host_tracefs_read(t, write_line, f);
}

static int run_traced(struct host_tracefs *t, const struct trace_args *a,
		      const struct host_traced *file, FILE *f, struct fl_error *err)
{
	int go[2], ret;
	pid_t pid;

	if (pipe(go))
		return fl_error_set(err, -errno, NULL, 0, "%s", strerror(errno));
	pid = start_command(a->command, go);
	close(go[0]);
	ret = pid < 0 ? fl_error_set(err, -errno, NULL, 0, "%s", strerror(errno))
		      : enable_events(t, a, file, pid, err);
	if (!ret && write(go[1], "g", 1) != 1)
		ret = fl_error_set(err, -EPIPE, NULL, 0, "the command did not start");
	close(go[1]);
	if (!ret)
		ret = follow(t, pid, f);
	if (ret && pid > 0)
		waitpid(pid, NULL, 0);
	if (t->lost)
		fprintf(f, "CPU:0 [LOST %" PRIu64 " EVENTS]\n", t->lost);
	return ret;
}

/* Ctrl-C ends the command; we stay to clean up. */
static void ignore_interrupts(void)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
}

static int record_text(struct host_tracefs *t, const struct trace_args *a,
		       const struct host_traced *file, FILE *f, struct fl_error *err)
{
	struct recording_info info;

	host_traced_info(file, &info);
	fprintf(f, "# kernel %s\n", info.kernel);
	ignore_interrupts();
	return run_traced(t, a, file, f, err);
}

/* ---- as a recording ---- */

/* Where its blocks are is known best when all is written. */
static int convert(FILE *text, const char *path, FILE *out, struct fl_error *err)
{
	struct import_options options = {0};
	struct import_result result;
	struct recording_info info;
	struct host_traced file;
	int ret = path ? host_traced_init(&file, path, err) : 0;

	if (ret)
		return ret;
	host_traced_info(path ? &file : NULL, &info);
	if (path)
		options = host_traced_options(&file);
	ret = fseek(text, 0, SEEK_SET) ? -errno : 0;
	if (!ret)
		ret = trace_import(text, "host trace", &options, out, &info, &result, err);
	if (!ret)
		import_result_print(stderr, &info, &result);
	if (path)
		host_traced_fini(&file);
	return ret;
}

static int record(struct host_tracefs *t, const struct trace_args *a,
		  const struct host_traced *file, FILE *out, struct fl_error *err)
{
	FILE *text = tmpfile();
	int ret;

	if (!text)
		return fl_error_set(err, -errno, NULL, 0, "%s", strerror(errno));
	ret = record_text(t, a, file, text, err);
	if (!ret)
		ret = convert(text, a->file, out, err);
	fclose(text);
	return ret;
}

static int trace_to(struct host_tracefs *t, const struct trace_args *a,
		    const struct host_traced *file, struct fl_error *err)
{
	struct out out;
	int ret;

	if (!a->output)
		return a->text ? record_text(t, a, file, stderr, err)
			       : fl_error_set(err, -EINVAL, "-o", 0,
					      "missing, expected the file of the recording");
	ret = out_open(&out, a->output, err);
	if (ret)
		return ret;
	ret = a->text ? record_text(t, a, file, out.f, err) : record(t, a, file, out.f, err);
	if (!ret)
		return out_commit(&out, err);
	out_abort(&out);
	return ret;
}

static int trace(const struct trace_args *a, struct fl_error *err)
{
	struct host_tracefs t;
	struct host_traced file;
	int ret = a->file ? host_traced_init(&file, a->file, err) : 0;

	if (ret)
		return ret;
	ret = host_tracefs_open(&t, err);
	if (!ret) {
		ret = trace_to(&t, a, a->file ? &file : NULL, err);
		host_tracefs_close(&t);
	}
	if (a->file)
		host_traced_fini(&file);
	return ret;
}

static int host_trace_main(struct cli_args *args)
{
	struct fl_error err = {0};
	struct trace_args a = {0};

	if (parse(args, &a, &err))
		return cli_fail(&err);
	if (a.help)
		return cli_help(args);
	return trace(&a, &err) ? cli_fail(&err) : CLI_DONE;
}

const struct cli_command cmd_host_trace = {
	.name = "trace",
	.group = "host",
	.synopsis = "[-e EVENT]... [--file PATH] [-o OUT] -- COMMAND [ARGUMENT...]",
	.summary = "Record the running kernel's page-cache tracepoints while COMMAND runs. Needs "
		   "root.",
	.options = options,
	.details =
		"A tracefs instance of its own is used and removed afterwards, also one left behind\n"
		"by a killed run. Without --file a recording is of the file with the most events;\n"
		"take --format text and foliolab import for another. Block events are kept if they\n"
		"meet the file's extents. What was left out is told on standard error.\n"
		"\n"
		"Examples:\n"
		"  foliolab host trace --file data -o data.flt -- dd if=data of=/dev/null bs=4k\n"
		"  foliolab replay data.flt\n"
		"  foliolab host trace --file data -- cat data > /dev/null\n",
	.run = host_trace_main,
};
