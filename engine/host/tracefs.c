#include "host/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define TRACEFS_MAGIC_	0x74726163
#define INSTANCE_PREFIX "foliolab-"
#define BUFFER_KB	"16384"

static const char *const mount_points[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

static bool is_tracefs(const char *path)
{
	struct statfs sb;

	return !statfs(path, &sb) && sb.f_type == TRACEFS_MAGIC_;
}

static int missing_right(struct fl_error *err, int code)
{
	return fl_error_set(err, code, "tracefs", 0,
			    "%s, expected root (CAP_SYS_ADMIN) to use the kernel's tracepoints",
			    strerror(-code));
}

/* Mounted for this process alone: gone with it. */
static int mount_privately(struct fl_error *err)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return missing_right(err, -errno);
	if (mount("tracefs", mount_points[0], "tracefs", 0, NULL)) {
		if (errno == ENODEV || errno == ENOENT)
			return fl_error_set(err, -ENOENT, "tracefs", 0,
					    "this kernel has none, expected one with tracing");
		return missing_right(err, -errno);
	}
	return 0;
}

static int find_root(const char **root, struct fl_error *err)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(mount_points); i++)
		if (is_tracefs(mount_points[i])) {
			*root = mount_points[i];
			return 0;
		}
	*root = mount_points[0];
	return mount_privately(err);
}

static int write_file(const char *dir, const char *name, const char *text)
{
	char path[512];
	int fd, ret = 0;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/* When a process began, in ticks since boot (proc_pid_stat(5), field 22); 0 if there is none. */
static unsigned long long start_of(int pid)
{
	char path[32], text[1024], *p;
	unsigned long long start = 0;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = 0;
	p = strrchr(text, ')'); /* the name before it may hold anything */
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	if (p)
		start = strtoull(p + 1, NULL, 10);
	return start;
}

/*
 * Instances of processes that are no more, whoever has their number now. One that somebody still
 * reads from stays: the kernel sees to that.
 */
static void clean_up_after_the_dead(const char *root)
{
	char path[512];
	struct dirent *de;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/instances", root);
	dir = opendir(path);
	while (dir && (de = readdir(dir))) {
		unsigned long long start;
		int pid;

		if (sscanf(de->d_name, INSTANCE_PREFIX "%d-%llu", &pid, &start) != 2 || pid <= 0 ||
		    start_of(pid) == start)
			continue;
		snprintf(path, sizeof(path), "%s/instances/%.64s", root, de->d_name);
		rmdir(path);
	}
	if (dir)
		closedir(dir);
}

static int open_instance(struct host_tracefs *t, const char *root, struct fl_error *err)
{
	char path[sizeof(t->dir) + 16];

	snprintf(t->dir, sizeof(t->dir), "%s/instances/" INSTANCE_PREFIX "%d-%llu", root, getpid(),
		 start_of(getpid()));
	if (mkdir(t->dir, 0700) && errno != EEXIST) {
		int code = -errno;

		t->dir[0] = 0;
		return missing_right(err, code);
	}
	write_file(t->dir, "trace_clock", "mono");
	write_file(t->dir, "buffer_size_kb", BUFFER_KB);
	snprintf(path, sizeof(path), "%s/trace_pipe", t->dir);
	t->pipe = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return t->pipe < 0 ? missing_right(err, -errno) : 0;
}

int host_tracefs_open(struct host_tracefs *t, struct fl_error *err)
{
	const char *root;
	int ret;

	*t = (struct host_tracefs){.pipe = -1};
	ret = find_root(&root, err);
	if (ret)
		return ret;
	clean_up_after_the_dead(root);
	ret = open_instance(t, root, err);
	if (ret)
		host_tracefs_close(t);
	return ret;
}

void host_tracefs_close(struct host_tracefs *t)
{
	if (t->pipe >= 0)
		close(t->pipe);
	if (t->dir[0]) {
		write_file(t->dir, "events/enable", "0");
		rmdir(t->dir);
	}
	free(t->text);
	*t = (struct host_tracefs){.pipe = -1};
}

int host_tracefs_check(struct fl_error *err)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(mount_points); i++) {
		char path[128];

		if (!is_tracefs(mount_points[i]))
			continue;
		snprintf(path, sizeof(path), "%s/instances", mount_points[i]);
		return access(path, W_OK) ? missing_right(err, -errno) : 0;
	}
	return geteuid() ? missing_right(err, -EPERM) : 0;
}

/* The fields events name a file by: those of filemap, ext4, writeback and block. */
static void filter_text(unsigned int kind, const struct host_trace_filter *f, char *buf,
			size_t size)
{
	switch (kind) {
	case 0:
		snprintf(buf, size, "i_ino == %" PRIu64 " && s_dev == %u", f->ino, f->dev);
		break;
	case 1:
		snprintf(buf, size, "ino == %" PRIu64 " && dev == %u", f->ino, f->dev);
		break;
	case 2:
		snprintf(buf, size, "ino == %" PRIu64, f->ino);
		break;
	default:
		snprintf(buf, size, "dev == %u || dev == %u", f->dev, f->disk ? f->disk : f->dev);
	}
}

/* The first filter whose fields the event has. */
static int set_filter(struct host_tracefs *t, const char *event,
		      const struct host_trace_filter *filter)
{
	char name[128], text[128];
	int ret = -EINVAL;

	snprintf(name, sizeof(name), "events/%s/filter", event);
	for (unsigned int kind = 0; kind < 4 && ret == -EINVAL; kind++) {
		filter_text(kind, filter, text, sizeof(text));
		ret = write_file(t->dir, name, text);
	}
	return ret;
}

int host_tracefs_enable(struct host_tracefs *t, const char *event,
			const struct host_trace_filter *filter)
{
	char name[128];
	int ret = filter ? set_filter(t, event, filter) : 0;

	snprintf(name, sizeof(name), "events/%s/enable", event);
	return ret ? ret : write_file(t->dir, name, "1");
}

int host_tracefs_follow(struct host_tracefs *t, int pid)
{
	char text[16];
	int ret;

	snprintf(text, sizeof(text), "%d", pid);
	ret = write_file(t->dir, "set_event_pid", text);
	return ret ? ret : write_file(t->dir, "options/event-fork", "1");
}

static int room(struct host_tracefs *t, size_t want)
{
	size_t cap = t->cap ? t->cap : 65536;
	char *p;

	while (cap - t->len <= want)
		cap *= 2;
	if (cap == t->cap)
		return 0;
	p = realloc(t->text, cap);
	if (!p)
		return -ENOMEM;
	t->text = p;
	t->cap = cap;
	return 0;
}

static void take_line(struct host_tracefs *t, const char *text, host_trace_line_t line, void *ctx)
{
	const char *lost = strstr(text, "[LOST ");

	if (lost)
		t->lost += strtoull(lost + 6, NULL, 10);
	else
		line(ctx, text);
}

/* Whole lines go to the caller; what is left of the last one stays. */
static void take_lines(struct host_tracefs *t, host_trace_line_t line, void *ctx)
{
	char *p = t->text, *end = t->text + t->len, *nl;

	while ((nl = memchr(p, '\n', end - p))) {
		*nl = 0;
		take_line(t, p, line, ctx);
		p = nl + 1;
	}
	t->len = end - p;
	memmove(t->text, p, t->len);
}

int host_tracefs_read(struct host_tracefs *t, host_trace_line_t line, void *ctx)
{
	for (;;) {
		int ret = room(t, 16384);
		ssize_t n;

		if (ret)
			return ret;
		n = read(t->pipe, t->text + t->len, t->cap - t->len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n && errno != EAGAIN ? -errno : 0;
		t->len += n;
		take_lines(t, line, ctx);
	}
}
