/*
 * The jail: whoever is inside can write to one pipe and end. Programs, files, sockets, signals and
 * new processes kill.
 */
#include "unit.h"

#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/jail.h"

static int pipes[2];
static bool files; /* jail_limits.files */

/* The signal that ends a child which enters the jail and does @deed; 0: it came out with 7. */
static int outcome(void (*deed)(void))
{
	const struct jail_limits limits = {.memory = 1ULL << 45, .cpu_seconds = 5, .files = files};
	pid_t child;
	int status;

	assert_int_equal(pipe(pipes), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		if (jail_enter(-1, pipes[1], &limits))
			_exit(1);
		deed();
		_exit(7);
	}
	close(pipes[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFSIGNALED(status)) {
		close(pipes[0]);
		return WTERMSIG(status);
	}
	assert_int_equal(WEXITSTATUS(status), 7);
	return 0;
}

static void do_write(void)
{
	if (write(JAIL_TALK, "hello", 5) != 5)
		_exit(2);
}

static void do_memory(void)
{
	char *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		_exit(2);
	p[0] = 1;
	munmap(p, 1 << 20);
}

static void do_exec(void)
{
	syscall(SYS_execve, "/bin/true", NULL, NULL);
}

static void do_fork(void)
{
	syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static void do_open(void)
{
	syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY, 0);
}

static void do_socket(void)
{
	syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
}

static void do_kill(void)
{
	syscall(SYS_kill, getppid(), 0);
}

static void do_ptrace(void)
{
	syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0);
}

static void do_code(void)
{
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void do_stderr(void)
{
	syscall(SYS_write, STDERR_FILENO, "x", 1);
}

static void do_unlink(void)
{
	syscall(SYS_unlinkat, AT_FDCWD, "no-such-file", 0);
}

static void do_limit(void)
{
	syscall(SYS_prlimit64, 0, 0, NULL, NULL);
}

/* On descriptors that do not do: whether the call is let through is all that counts. */
static void do_recvmsg(void)
{
	syscall(SYS_recvmsg, JAIL_TALK, NULL, 0);
}

static void do_recvmsg_elsewhere(void)
{
	syscall(SYS_recvmsg, JAIL_FILE, NULL, 0);
}

static void do_sendmsg(void)
{
	syscall(SYS_sendmsg, JAIL_TALK, NULL, 0);
}

static void do_pread(void)
{
	syscall(SYS_pread64, JAIL_TALK + 1, NULL, 0, 0);
}

static void do_fiemap(void)
{
	syscall(SYS_ioctl, JAIL_TALK, FS_IOC_FIEMAP, NULL);
}

static void do_ioctl(void)
{
	syscall(SYS_ioctl, JAIL_TALK, FIGETBSZ, NULL);
}

static void what_is_needed_works(void **state)
{
	char buf[8];

	assert_int_equal(outcome(do_memory), 0);
	close(pipes[0]);
	assert_int_equal(outcome(do_write), 0);
	assert_int_equal(read(pipes[0], buf, sizeof(buf)), 5);
	assert_int_equal(read(pipes[0], buf, sizeof(buf)), 0);
	close(pipes[0]);
}

static void all_else_kills(void **state)
{
	static void (*const deeds[])(void) = {do_exec,	 do_fork, do_open,   do_socket, do_kill,
					      do_ptrace, do_code, do_stderr, do_unlink, do_limit};

	for (int with = 0; with < 2; with++) {
		files = with;
		for (size_t i = 0; i < sizeof(deeds) / sizeof(*deeds); i++)
			assert_int_equal(outcome(deeds[i]), SIGSYS);
	}
	files = false;
}

static void files_come_in_only_if_allowed(void **state)
{
	static void (*const takes[])(void) = {do_recvmsg, do_pread, do_fiemap};
	static void (*const never[])(void) = {do_recvmsg_elsewhere, do_sendmsg, do_ioctl};

	for (size_t i = 0; i < 3; i++)
		assert_int_equal(outcome(takes[i]), SIGSYS);
	files = true;
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(outcome(takes[i]), 0);
		close(pipes[0]);
		assert_int_equal(outcome(never[i]), SIGSYS);
	}
	files = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_needed_works),
		cmocka_unit_test(all_else_kills),
		cmocka_unit_test(files_come_in_only_if_allowed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
