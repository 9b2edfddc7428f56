/*
 * foliolab host trace: the kernel's tracepoints while a command runs.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/host_commands.h"
#include "host/tracefs.h"

#define MAX_EVENTS 64

enum { OPT_EVENT, OPT_FILE, OPT_OUTPUT };

static const struct cli_option options[] = {
	{ "event", "e", "EVENT",
	  "system/name as in /sys/kernel/tracing/events; may be given several times (default: "
	  "filemap and readahead)", OPT_EVENT },
	{ "file", NULL, "PATH", "only what concerns this file", OPT_FILE },
	{ "output", "o", "FILE", "write the trace there instead of standard error", OPT_OUTPUT },
	{ 0 },
};

static const char *const default_events[] = {
	"filemap/mm_filemap_add_to_page_cache", "filemap/mm_filemap_delete_from_page_cache",
	"filemap/mm_filemap_fault", "filemap/mm_filemap_get_pages",
	"filemap/mm_filemap_map_pages", "readahead/page_cache_sync_ra",
	"readahead/page_cache_async_ra", "readahead/page_cache_ra_order",
	"readahead/page_cache_ra_unbounded",
};

struct trace_args {
	const char *events[MAX_EVENTS];
	unsigned int nr_events;
	const char *file, *output;
	char **command;
	bool help;
};

static int parse(struct cli_args *args, struct trace_args *a, struct fl_error *err)
{
	const char *value;
	int id, ret;

	while ((ret = cli_next(args, &id, &value, err)) > 0) {
		switch (id) {
		case CLI_HELP:
			a->help = true;
			return 0;
		case CLI_POSITIONAL:
			a->command = &args->argv[args->pos - 1];
			return 0;
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
		}
	}
	if (!ret)
		return fl_error_set(err, -EINVAL, "host trace", 0,
				    "no command, expected -- COMMAND [ARGUMENT...]");
	return ret;
}

static int file_filter(const char *path, u64 *ino, u64 *dev, struct fl_error *err)
{
	struct stat st;

	*ino = *dev = 0;
	if (!path)
		return 0;
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return fl_error_set(err, -EINVAL, path, 0, "%s, expected a regular file",
				    errno ? strerror(errno) : "not one");
	*ino = st.st_ino;
	*dev = (u64)major(st.st_dev) << 20 | minor(st.st_dev);
	return 0;
}

static int enable_events(struct host_tracefs *t, const struct trace_args *a, struct fl_error *err)
{
	u64 ino, dev;
	int ret = file_filter(a->file, &ino, &dev, err);

	for (unsigned int i = 0; i < a->nr_events && !ret; i++) {
		ret = host_tracefs_enable(t, a->events[i], ino, dev);
		if (ret)
			fl_error_set(err, ret, a->events[i], 0,
				     "%s, expected an event of this kernel%s", strerror(-ret),
				     ino ? " with i_ino and s_dev" : "");
	}
	/* Of the usual ones older kernels have only some. */
	for (unsigned int i = 0; i < ARRAY_SIZE(default_events) && !a->nr_events && !ret; i++)
		host_tracefs_enable(t, default_events[i], ino, dev);
	return ret;
}

static void write_line(void *ctx, const char *line)
{
	fprintf(ctx, "%s\n", line);
}

/* The child waits until tracing is on. */
static pid_t start_command(char **command, int go)
{
	pid_t pid = fork();
	char c;

	if (pid)
		return pid;
	if (read(go, &c, 1) != 1)
		_exit(127);
	execvp(command[0], command);
	fprintf(stderr, "foliolab: %s: %s, expected a command\n", command[0], strerror(errno));
	_exit(127);
}

static int follow(struct host_tracefs *t, pid_t pid, FILE *f)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	int status, ret = 0;

	while (!ret && waitpid(pid, &status, WNOHANG) == 0) {
		ret = host_tracefs_read(t, write_line, f);
		nanosleep(&pause, NULL);
	}
	return ret ? ret : host_tracefs_read(t, write_line, f);
}

static int run_traced(struct host_tracefs *t, const struct trace_args *a, FILE *f,
		      struct fl_error *err)
{
	int go[2], ret;
	pid_t pid;

	if (pipe(go))
		return fl_error_set(err, -errno, NULL, 0, "%s", strerror(errno));
	pid = start_command(a->command, go[0]);
	close(go[0]);
	ret = pid < 0 ? fl_error_set(err, -errno, NULL, 0, "%s", strerror(errno))
		      : enable_events(t, a, err);
	if (!ret && write(go[1], "g", 1) != 1)
		ret = fl_error_set(err, -EPIPE, NULL, 0, "the command did not start");
	close(go[1]);
	if (!ret)
		ret = follow(t, pid, f);
	if (ret && pid > 0)
		waitpid(pid, NULL, 0);
	if (t->lost)
		fprintf(f, "# %" PRIu64 " events were lost\n", t->lost);
	return ret;
}

/* Ctrl-C ends the command; we stay to clean up. */
static void ignore_interrupts(void)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
}

static int trace(const struct trace_args *a, struct fl_error *err)
{
	struct host_tracefs t;
	struct out out = { .f = stderr };
	int ret = host_tracefs_open(&t, err);

	if (ret)
		return ret;
	if (a->output)
		ret = out_open(&out, a->output, err);
	if (!ret) {
		ignore_interrupts();
		ret = run_traced(&t, a, out.f, err);
		if (a->output && ret)
			out_abort(&out);
		else if (a->output)
			ret = out_commit(&out, err);
	}
	host_tracefs_close(&t);
	return ret;
}

static int host_trace_main(struct cli_args *args)
{
	struct fl_error err = { 0 };
	struct trace_args a = { 0 };

	if (parse(args, &a, &err))
		return cli_fail(&err);
	if (a.help)
		return cli_help(args);
	return trace(&a, &err) ? cli_fail(&err) : CLI_DONE;
}

const struct cli_command cmd_host_trace = {
	.name = "trace",
	.synopsis = "[-e EVENT]... [--file PATH] [-o FILE] -- COMMAND [ARGUMENT...]",
	.summary = "The running kernel's page-cache tracepoints while COMMAND runs. Needs root.",
	.options = options,
	.details =
		"A tracefs instance of its own is used and removed afterwards, also one left behind\n"
		"by a killed run. The text is the kernel's.\n"
		"\n"
		"Example:\n"
		"  foliolab host trace --file data -o data.trace -- dd if=data of=/dev/null bs=4k\n",
	.run = host_trace_main,
};
