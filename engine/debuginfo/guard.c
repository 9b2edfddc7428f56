#include "debuginfo/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/jail.h"

#define GUARD_MEMORY	  (1ull << 30)
#define GUARD_CPU_SECONDS 60
#define REPLY_MAX	  (1ull << 29) /* bytes of text, bytes to keep */
#define EXIT_NO_JAIL	  3

/* What comes first over the pipe; text and bytes to keep follow. */
struct reply_head {
	struct fl_error err;
	u64 text_size, keep_size;
	s64 ret;
};

/* ---- the child ---- */

static bool write_all(const void *bytes, size_t n)
{
	const char *p = bytes;

	while (n) {
		ssize_t done = write(JAIL_TALK, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		p += done;
		n -= done;
	}
	return true;
}

static void send_reply(const struct reply_head *h, const struct guard_reply *r)
{
	if (write_all(h, sizeof(*h)) && write_all(r->text, h->text_size))
		write_all(r->keep, h->keep_size);
}

static int child(guard_work work, void *ctx, int talk)
{
	static const struct jail_limits limits = {.memory = GUARD_MEMORY,
						  .cpu_seconds = GUARD_CPU_SECONDS};
	struct guard_reply r = {0};
	struct reply_head h = {0};
	FILE *f;

	if (jail_enter(-1, talk, &limits))
		return EXIT_NO_JAIL;
	f = open_memstream(&r.text, &r.text_size);
	if (!f)
		return 1;
	h.ret = work(ctx, f, &r, &h.err);
	if (fclose(f))
		return 1;
	h.text_size = h.ret ? 0 : r.text_size;
	h.keep_size = h.ret ? 0 : r.keep_size;
	send_reply(&h, &r);
	return 0;
}

/* ---- the parent ---- */

static bool read_all(int fd, void *bytes, size_t n)
{
	char *p = bytes;

	while (n) {
		ssize_t done = read(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		p += done;
		n -= done;
	}
	return true;
}

/* False if the child said nothing whole. */
static bool receive(int fd, struct reply_head *h, struct guard_reply *r)
{
	if (!read_all(fd, h, sizeof(*h)) || h->text_size > REPLY_MAX || h->keep_size > REPLY_MAX ||
	    h->ret > 0)
		return false;
	r->text = calloc(1, h->text_size + 1);
	r->keep = h->keep_size ? malloc(h->keep_size) : NULL;
	r->text_size = h->text_size;
	r->keep_size = h->keep_size;
	return r->text && (r->keep || !r->keep_size) && read_all(fd, r->text, r->text_size) &&
	       read_all(fd, r->keep, r->keep_size);
}

static int died(const char *path, int status, struct fl_error *err)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NO_JAIL)
		return fl_error_set(err, -EPERM, path, 0,
				    "its reader cannot be locked in, expected seccomp and limits "
				    "on this host");
	if (WIFSIGNALED(status))
		return fl_error_set(err, -EINVAL, path, 0,
				    "its debug information is damaged: the reader was ended by "
				    "signal %d (%s)",
				    WTERMSIG(status), strsignal(WTERMSIG(status)));
	return fl_error_set(err, -EINVAL, path, 0,
			    "its debug information is damaged: the reader gave up");
}

/* The text of the child's error is the child's: clean it as any other. */
static int child_error(const struct reply_head *h, struct fl_error *err)
{
	return fl_error_set(err, h->ret, h->err.file, h->err.line, "%.*s",
			    (int)sizeof(h->err.text) - 1, h->err.text);
}

int guard_run(const char *path, guard_work work, void *ctx, struct guard_reply *ret,
	      struct fl_error *err)
{
	struct reply_head h;
	int pipes[2], status = 0;
	bool whole;
	pid_t pid;

	memset(ret, 0, sizeof(*ret));
	if (pipe2(pipes, O_CLOEXEC))
		return fl_error_set(err, -errno, NULL, 0, "pipe: %s", strerror(errno));
	fflush(NULL);
	pid = fork();
	if (!pid)
		_exit(child(work, ctx, pipes[1]));
	close(pipes[1]);
	if (pid < 0) {
		close(pipes[0]);
		return fl_error_set(err, -errno, NULL, 0, "fork: %s", strerror(errno));
	}
	whole = receive(pipes[0], &h, ret);
	close(pipes[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	h.err.file[sizeof(h.err.file) - 1] = h.err.text[sizeof(h.err.text) - 1] = 0;
	if (whole && !h.ret)
		return 0;
	guard_reply_fini(ret);
	return whole ? child_error(&h, err) : died(path, status, err);
}

void guard_reply_fini(struct guard_reply *r)
{
	free(r->text);
	free(r->keep);
	memset(r, 0, sizeof(*r));
}
