#include "cli/out.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STDOUT_NAME "standard output"
#define TMP_TRIES   100

static int fail(struct fl_error *err, int code, const char *path)
{
	return fl_error_set(err, code, path ? path : STDOUT_NAME, 0, "%s", strerror(-code));
}

/* Somebody else may have made our descriptor non-blocking: then wait for room. */
static bool try_again(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	if (errno == EINTR)
		return true;
	return errno == EAGAIN && (poll(&p, 1, -1) > 0 || errno == EINTR);
}

/*
 * What stdio calls to empty its buffer. stdio itself forgets errno and, after a failure, goes on
 * with the next buffer; here the first error stays and ends the output.
 */
static ssize_t out_write(void *cookie, const char *buf, size_t n)
{
	struct out *o = cookie;
	size_t done = 0;

	while (done < n && !o->error) {
		ssize_t r = write(o->fd, buf + done, n - done);

		if (r >= 0)
			done += (size_t)r;
		else if (!try_again(o->fd))
			o->error = -errno;
	}
	return o->error ? 0 : (ssize_t)n;
}

static int open_stream(struct out *o)
{
	cookie_io_functions_t io = {.write = out_write};

	o->f = fopencookie(o, "w", io);
	if (!o->f)
		return -ENOMEM;
	if (isatty(o->fd))
		setvbuf(o->f, NULL, _IOLBF, 0);
	return 0;
}

/* ".foliolab-PID-N" in the directory of the target, which must be able to hold it. */
static int create_tmp(struct out *o, mode_t mode)
{
	const char *slash = strrchr(o->path, '/');
	int dir_len = slash ? (int)(slash - o->path) + 1 : 0;

	for (int i = 0; i < TMP_TRIES; i++) {
		if (asprintf(&o->tmp, "%.*s.foliolab-%d-%d", dir_len, o->path, (int)getpid(), i) <
		    0) {
			o->tmp = NULL;
			return -ENOMEM;
		}
		o->fd = open(o->tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		if (o->fd >= 0)
			return 0;
		free(o->tmp);
		o->tmp = NULL;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/* A regular file is replaced where it really lies, with its mode, if it may be written at all. */
static int open_regular(struct out *o, const char *path, mode_t mode)
{
	int r;

	o->path = realpath(path, NULL);
	if (!o->path || faccessat(AT_FDCWD, o->path, W_OK, AT_EACCESS))
		return -errno;
	r = create_tmp(o, 0600);
	if (!r && fchmod(o->fd, mode & 0777))
		r = -errno;
	return r;
}

/* A dangling link is refused: the temporary file would replace the link. */
static int open_new(struct out *o, const char *path)
{
	struct stat st;

	if (!lstat(path, &st) || !*path)
		return -ENOENT;
	o->path = strdup(path);
	return o->path ? create_tmp(o, 0666) : -ENOMEM;
}

/* What the target is decides how it is written; /dev/stdout must never be renamed over. */
static int open_target(struct out *o, const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno == ENOENT ? open_new(o, path) : -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (S_ISREG(st.st_mode))
		return open_regular(o, path, st.st_mode);
	o->path = strdup(path);
	if (!o->path)
		return -ENOMEM;
	o->fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	return o->fd < 0 ? -errno : 0;
}

/* Free everything; the temporary file goes if it still has its name. */
static void release(struct out *o)
{
	if (o->tmp) {
		unlink(o->tmp);
		free(o->tmp);
	}
	if (o->path && o->fd >= 0)
		close(o->fd);
	free(o->path);
	*o = (struct out){.fd = -1};
}

int out_open(struct out *o, const char *path, struct fl_error *err)
{
	int r = 0;

	*o = (struct out){.fd = STDOUT_FILENO};
	if (path && strcmp(path, "-")) {
		o->fd = -1;
		r = open_target(o, path);
	} else {
		path = NULL;
		o->colour = out_colour(stdout);
		if (fflush(stdout))
			r = -errno;
	}
	if (!r)
		r = open_stream(o);
	if (!r)
		return 0;
	release(o);
	return fl_error_set(err, r, path ? path : STDOUT_NAME, 0,
			    "%s, expected a file that can be written", strerror(-r));
}

/* Close the target so that late errors (quota, NFS) show, then let it take its place. */
static int finish_file(struct out *o)
{
	int fd = o->fd;

	if (o->tmp && fsync(fd))
		return -errno;
	o->fd = -1;
	if (close(fd))
		return -errno;
	if (!o->tmp)
		return 0;
	if (rename(o->tmp, o->path))
		return -errno;
	free(o->tmp);
	o->tmp = NULL;
	return 0;
}

int out_commit(struct out *o, struct fl_error *err)
{
	int r = 0;

	if (fclose(o->f))
		r = -errno;
	o->f = NULL;
	if (o->error)
		r = o->error;
	if (!r && o->path)
		r = finish_file(o);
	if (r)
		fail(err, r, o->path);
	release(o);
	return r;
}

void out_abort(struct out *o)
{
	if (!o->f)
		return;
	o->error = -ECANCELED;
	fclose(o->f);
	release(o);
}

/* stdio kept no errno of a write that failed earlier: ask the descriptor whether it is a pipe's. */
static int lost_write_error(void)
{
	struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};

	return poll(&p, 1, 0) == 1 && (p.revents & POLLERR) ? -EPIPE : -EIO;
}

int out_finish_stdout(struct fl_error *err)
{
	int r = 0;

	if (fflush(stdout))
		r = -errno;
	else if (ferror(stdout))
		r = lost_write_error();
	return r ? fail(err, r, NULL) : 0;
}

bool out_colour(FILE *f)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (no_color && *no_color)
		return false;
	if (!term || !*term || !strcmp(term, "dumb"))
		return false;
	return isatty(fileno(f));
}

void out_error(const struct fl_error *err)
{
	char line[16] = "";

	if (err->line)
		snprintf(line, sizeof(line), "%u", err->line);
	fprintf(stderr, "foliolab: %s%s%s%s%s\n", err->file, *err->file && *line ? ":" : "", line,
		*err->file || *line ? ": " : "", err->text);
}

void print_bar(FILE *f, u64 n, u64 max, unsigned int width)
{
	unsigned int stars = 0;

	if (max)
		stars = (unsigned int)((unsigned __int128)min(n, max) * width / max);
	fputc('|', f);
	for (unsigned int i = 0; i < width; i++)
		fputc(i < stars ? n > max && i == width - 1 ? '+' : '*' : ' ', f);
	fputc('|', f);
}

int out_json(struct out *o, const cJSON *obj)
{
	char *text = cJSON_Print(obj);

	if (!text)
		return -ENOMEM;
	fprintf(o->f, "%s\n", text);
	cJSON_free(text);
	return 0;
}
