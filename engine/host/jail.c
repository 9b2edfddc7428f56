#include "host/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* AddressSanitizer's shadow is terabytes of address space: no limit fits above it. */
#if defined(__SANITIZE_ADDRESS__)
#define LIMIT_MEMORY 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LIMIT_MEMORY 0
#endif
#endif
#ifndef LIMIT_MEMORY
#define LIMIT_MEMORY 1
#endif

/* ---- descriptors and signals ---- */

static int keep_two_descriptors(int file, int talk)
{
	int a = file < 0 ? -1 : fcntl(file, F_DUPFD, 5), b = fcntl(talk, F_DUPFD, 5);

	if ((file >= 0 && (a < 0 || dup2(a, JAIL_FILE) < 0)) || b < 0 || dup2(b, JAIL_TALK) < 0)
		return -errno;
	if (file < 0)
		close(JAIL_FILE);
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	if (!syscall(SYS_close_range, JAIL_TALK + 1, ~0U, 0))
		return 0;
	for (int fd = JAIL_TALK + 1; fd < sysconf(_SC_OPEN_MAX); fd++)
		close(fd);
	return 0;
}

static void forget_handlers(void)
{
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	signal(SIGINT, SIG_IGN); /* the terminal's ^C is the parent's business */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* ---- limits ---- */

/* Address space in use, or 0 where nobody knows. */
static u64 address_space(void)
{
	unsigned long long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f)
		return 0;
	if (fscanf(f, "%llu", &pages) != 1)
		pages = 0;
	fclose(f);
	return pages * sysconf(_SC_PAGESIZE);
}

/* Never above the limit there is already. */
static int limit(int resource, u64 value)
{
	struct rlimit r;

	if (getrlimit(resource, &r))
		return -errno;
	r.rlim_max = min(r.rlim_max, (rlim_t)value);
	r.rlim_cur = r.rlim_max;
	return setrlimit(resource, &r) ? -errno : 0;
}

static int set_limits(const struct jail_limits *limits)
{
	struct rlimit cpu = {.rlim_cur = limits->cpu_seconds, .rlim_max = limits->cpu_seconds + 1};
	u64 used = address_space();
	int ret = 0;

	if (LIMIT_MEMORY)
		ret = limit(RLIMIT_AS, used + limits->memory);
	if (!ret)
		ret = limit(RLIMIT_CORE, 0);
	if (!ret)
		ret = limit(RLIMIT_FSIZE, 0);
	if (!ret)
		ret = limit(RLIMIT_NPROC, 0);
	/* The hard limit is a second later: SIGXCPU tells why, SIGKILL would not. */
	if (!ret && setrlimit(RLIMIT_CPU, &cpu))
		ret = limit(RLIMIT_CPU, limits->cpu_seconds);
	return ret;
}

/* ---- system calls ---- */

/* Harmless whatever they are given. */
static const int allowed[] = {
	SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(exit),
	SCMP_SYS(exit_group), SCMP_SYS(rt_sigreturn), SCMP_SYS(futex), SCMP_SYS(getrandom),
	SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday), SCMP_SYS(time), SCMP_SYS(sched_yield),
	SCMP_SYS(rt_sigprocmask), SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(restart_syscall),
	SCMP_SYS(sysinfo), /* glibc's qsort() */
	/* libext2fs from 1.47.1 on asks whether it may trust the environment */
	SCMP_SYS(getuid), SCMP_SYS(geteuid), SCMP_SYS(getgid), SCMP_SYS(getegid),
#if !LIMIT_MEMORY
	SCMP_SYS(sigaltstack), /* AddressSanitizer asks at each longjmp */
#endif
};

/* @call where its first argument is @first: a descriptor, what prctl() is to do. */
static int allow_on(scmp_filter_ctx ctx, int call, int first)
{
	return seccomp_rule_add(ctx, SCMP_ACT_ALLOW, call, 1,
				SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)first, 0));
}

/* Memory yes, memory of files or code no. */
static int allow_memory(scmp_filter_ctx ctx)
{
	int ret = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2,
				   SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
				   SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, MAP_ANONYMOUS));

	if (!ret)
		ret = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
				       SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	return ret;
}

/* Descriptors that come in over the socket: where their bytes lie, and the bytes. */
static int allow_files(scmp_filter_ctx ctx)
{
	static const int calls[] = {SCMP_SYS(pread64), SCMP_SYS(lseek), SCMP_SYS(close)};
	int ret = allow_on(ctx, SCMP_SYS(recvmsg), JAIL_TALK);

	for (size_t i = 0; i < ARRAY_SIZE(calls) && !ret; i++)
		ret = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, calls[i], 0);
	if (!ret)
		ret = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
				       SCMP_A1(SCMP_CMP_EQ, FS_IOC_FIEMAP, 0));
	return ret;
}

static int add_rules(scmp_filter_ctx ctx, bool files)
{
	int ret = allow_memory(ctx);

	if (!ret) /* and whether it was started with other rights */
		ret = allow_on(ctx, SCMP_SYS(prctl), PR_GET_DUMPABLE);
	for (size_t i = 0; i < ARRAY_SIZE(allowed) && !ret; i++)
		ret = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, allowed[i], 0);
	if (!ret)
		ret = allow_on(ctx, SCMP_SYS(pread64), JAIL_FILE);
	if (!ret)
		ret = allow_on(ctx, SCMP_SYS(read), JAIL_TALK);
	if (!ret)
		ret = allow_on(ctx, SCMP_SYS(write), JAIL_TALK);
	if (!ret && files)
		ret = allow_files(ctx);
	return ret;
}

static int filter_calls(bool files)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int ret;

	if (!ctx)
		return -ENOMEM;
	ret = add_rules(ctx, files);
	if (!ret)
		ret = seccomp_load(ctx);
	seccomp_release(ctx);
	return ret;
}

int jail_enter(int file, int talk, const struct jail_limits *limits)
{
	int ret;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 0);
	forget_handlers();
	ret = set_limits(limits);
	if (!ret)
		ret = keep_two_descriptors(file, talk);
	return ret ? ret : filter_calls(limits->files);
}
