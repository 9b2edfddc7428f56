#include "cli/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/version.h"
#include "lib/types.h"
#include "machine/knobs.h"

#define NR_CACHESTAT 451 /* since Linux 6.5, the same on every architecture but alpha */

#define PAGEMAP_PFN_MASK ((1ULL << 55) - 1) /* Documentation/admin-guide/mm/pagemap.rst */

/* ---- this build ---- */

static void print_build(FILE *f)
{
	const char *name, *version;

	fprintf(f, "version: %s\n", version_string());
	fprintf(f, "compiler: %s\n", version_compiler());
	for (unsigned int i = 0; (name = version_library(i, &version)); i++)
		fprintf(f, "%s: %s\n", name, version);
}

/* ---- what work on FolioLab itself wants; `scripts/setup --developer` installs it ---- */

static bool in_path(const char *program)
{
	const char *dir = getenv("PATH");
	char path[PATH_MAX];

	while (dir && *dir) {
		int n = (int)strcspn(dir, ":");

		if (snprintf(path, sizeof(path), "%.*s/%s", n, dir, program) < (int)sizeof(path) &&
		    !access(path, X_OK))
			return true;
		dir += n + (dir[n] == ':');
	}
	return false;
}

static void print_developers_tools(FILE *f)
{
	static const char *const tools[] = {"clang",	"clang-format", "shellcheck",
					    "luacheck", "cppcheck",	"gcovr"};

	for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
		fprintf(f, "developer's %s: %s\n", tools[i], in_path(tools[i]) ? "yes" : "no");
}

/* ---- the terminal ---- */

/* Environment variables may hold anything: only plain characters are repeated. */
static void print_plain(FILE *f, const char *s)
{
	for (; *s; s++)
		fputc((unsigned char)*s < 0x20 || (unsigned char)*s > 0x7e ? '?' : *s, f);
}

static void print_terminal_name(FILE *f)
{
	const char *term = getenv("TERM");

	fprintf(f, "terminal: ");
	print_plain(f, term && *term ? term : "unknown (TERM is not set)");
	fprintf(f, "%s\n", isatty(STDOUT_FILENO) ? "" : ", standard output is none");
}

static void print_terminal_size(FILE *f)
{
	struct winsize size;

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (ioctl(fd, TIOCGWINSZ, &size) || !size.ws_col || !size.ws_row)
			continue;
		fprintf(f, "terminal size: %ux%u\n", size.ws_col, size.ws_row);
		return;
	}
	fprintf(f, "terminal size: unknown\n");
}

static const char *guess_colours(void)
{
	const char *term = getenv("TERM"), *more = getenv("COLORTERM");

	if (!term || !*term || !strcmp(term, "dumb"))
		return "0";
	if (more && (!strcmp(more, "truecolor") || !strcmp(more, "24bit")))
		return "16777216";
	if (strstr(term, "256color"))
		return "256";
	return strstr(term, "-m") || !strncmp(term, "vt", 2) ? "0" : "8";
}

/* The first of the three that is set decides, as in setlocale(3). */
static bool locale_is_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

static void print_terminal(FILE *f)
{
	const char *no_color = getenv("NO_COLOR");

	print_terminal_name(f);
	print_terminal_size(f);
	fprintf(f, "colours: %s (a guess)%s\n", guess_colours(),
		no_color && *no_color ? ", switched off by NO_COLOR" : "");
	fprintf(f, "utf-8: %s\n", locale_is_utf8() ? "yes" : "no");
}

/* ---- the host ---- */

static void print_kernel(FILE *f)
{
	struct utsname u;
	const char *profile;

	if (uname(&u))
		return;
	profile = profile_of_release(u.release);
	fprintf(f, "kernel: %s %s\n", u.sysname, u.release);
	fprintf(f, "kernel profile: %s\n", profile ? profile : "none for this release");
	fprintf(f, "machine: %s\n", u.machine);
}

static void print_resources(FILE *f)
{
	struct sysinfo info;

	fprintf(f, "page size: %ld\n", sysconf(_SC_PAGESIZE));
	if (!sysinfo(&info))
		fprintf(f, "memory: %" PRIu64 " MiB, %" PRIu64 " MiB free\n",
			(u64)info.totalram * info.mem_unit >> 20,
			(u64)info.freeram * info.mem_unit >> 20);
	fprintf(f, "cpus: %ld of %ld\n", sysconf(_SC_NPROCESSORS_ONLN),
		sysconf(_SC_NPROCESSORS_CONF));
}

static void print_user(FILE *f)
{
	uid_t uid = geteuid();

	fprintf(f, "user: %u (%s)\n", (unsigned int)uid,
		uid ? "not root: no pagemap frame numbers, no tracefs" : "root");
}

/* Open without ever waiting, read @n bytes at @offset. 0 or -errno. */
static int probe_read(const char *path, u64 *buf, size_t n, off_t offset)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t got;
	int ret = 0;

	if (fd < 0)
		return -errno;
	got = pread(fd, buf, n, offset);
	if (got != (ssize_t)n)
		ret = got < 0 ? -errno : -ENODATA;
	close(fd);
	return ret;
}

static void print_access(FILE *f, const char *name, int error)
{
	if (error)
		fprintf(f, "%s: no (%s)\n", name, strerror(-error));
	else
		fprintf(f, "%s: readable\n", name);
}

static void print_pagemap(FILE *f)
{
	u64 page = (u64)sysconf(_SC_PAGESIZE), here = (uintptr_t)&page, entry = 0;
	int ret = probe_read("/proc/self/pagemap", &entry, sizeof(entry),
			     (off_t)(here / page * sizeof(entry)));

	if (!ret && !(entry & PAGEMAP_PFN_MASK))
		fprintf(f, "/proc/self/pagemap: readable, without frame numbers\n");
	else
		print_access(f, "/proc/self/pagemap", ret);
}

static void print_tracefs(FILE *f)
{
	static const char *const paths[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		char path[64];

		snprintf(path, sizeof(path), "%s/events", paths[i]);
		if (!access(path, R_OK | X_OK)) {
			fprintf(f, "tracefs: readable at %s\n", paths[i]);
			return;
		}
	}
	fprintf(f, "tracefs: no (%s)\n",
		errno == EACCES ? "permission denied" : "not mounted at /sys/kernel/tracing");
}

/* cachestat(2) with a descriptor that cannot be: EBADF says that the call is there. */
static void print_cachestat(FILE *f)
{
	long ret = syscall(NR_CACHESTAT, -1, NULL, NULL, 0);

	if (ret < 0 && errno != EBADF && errno != EFAULT)
		fprintf(f, "cachestat: no (%s)\n", strerror(errno));
	else
		fprintf(f, "cachestat: yes\n");
}

static void print_host(FILE *f)
{
	u64 flags;

	print_kernel(f);
	print_resources(f);
	print_user(f);
	print_tracefs(f);
	print_access(f, "/proc/kpageflags",
		     probe_read("/proc/kpageflags", &flags, sizeof(flags), 0));
	print_pagemap(f);
	print_cachestat(f);
}

void doctor_print(FILE *f)
{
	print_build(f);
	print_developers_tools(f);
	print_terminal(f);
	print_host(f);
}
