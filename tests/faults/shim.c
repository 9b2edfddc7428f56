/*
 * faults/shim.c - makes the n-th call of a kind fail. Loaded with LD_PRELOAD.
 *
 * FL_FAULT=KIND:N    alloc, io or fork; the N-th such call of each process fails (0: none does)
 * FL_FAULT_FIRED=F   file that gets a line "KIND N FUNCTION" once it has
 * FL_FAULT_COUNT=F   file that gets "alloc A io I fork F" when a process ends by exit()
 *
 * Only programs named foliolab or test_* are harmed. Under AddressSanitizer the shim stands before
 * its functions, which do the work (ASAN_OPTIONS=verify_asan_link_order=0).
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum kind { ALLOC, IO, FORK, NR_KINDS };

static const char *const kind_names[NR_KINDS] = {"alloc", "io", "fork"};
static atomic_long counts[NR_KINDS];
static long fail_at[NR_KINDS];
static bool armed;

/* Without any function that may be one of ours. */
static void tell(const char *variable, const char *text)
{
	const char *path = getenv(variable);
	long fd = path ? syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, 0644)
		       : -1;

	if (fd < 0)
		return;
	syscall(SYS_write, fd, text, strlen(text));
	syscall(SYS_close, fd);
}

static bool fails(enum kind kind, const char *function, int error)
{
	char text[100];

	if (!armed)
		return false;
	if (atomic_fetch_add(&counts[kind], 1) + 1 != fail_at[kind])
		return false;
	snprintf(text, sizeof(text), "%s %ld %s\n", kind_names[kind], fail_at[kind], function);
	tell("FL_FAULT_FIRED", text);
	errno = error;
	return true;
}

__attribute__((constructor)) static void arm(void)
{
	const char *fault = getenv("FL_FAULT");

	if (!fault || (strcmp(program_invocation_short_name, "foliolab") &&
		       strncmp(program_invocation_short_name, "test_", 5)))
		return;
	for (int i = 0; i < NR_KINDS; i++) {
		size_t len = strlen(kind_names[i]);

		if (!strncmp(fault, kind_names[i], len) && fault[len] == ':')
			fail_at[i] = atol(fault + len + 1);
	}
	armed = true;
}

__attribute__((destructor)) static void count(void)
{
	char text[100];

	if (!armed)
		return;
	armed = false;
	snprintf(text, sizeof(text), "alloc %ld io %ld fork %ld\n", counts[ALLOC], counts[IO],
		 counts[FORK]);
	tell("FL_FAULT_COUNT", text);
}

/* ---- memory for those who ask before the real functions are known ---- */

static _Alignas(16) char early[1 << 16];
static size_t early_used;

static bool is_early(const void *p)
{
	return (const char *)p >= early && (const char *)p < early + sizeof(early);
}

static void *early_alloc(size_t size)
{
	void *p = early + early_used;

	early_used += (size + 15) / 16 * 16;
	return early_used <= sizeof(early) ? p : NULL;
}

/*
 * The function behind ours; NULL while dlsym() itself is looking for it. Volatile, since dlsym() is
 * declared as never calling back.
 */
#define REAL(name)                                                                                 \
	static __typeof__(&name) real_##name;                                                      \
	static __typeof__(&name) next_##name(void)                                                 \
	{                                                                                          \
		static __thread __attribute__((tls_model("initial-exec"))) volatile bool busy;     \
		if (!real_##name && !busy) {                                                       \
			busy = true;                                                               \
			real_##name = dlsym(RTLD_NEXT, #name);                                     \
			busy = false;                                                              \
		}                                                                                  \
		return real_##name;                                                                \
	}

REAL(malloc)
REAL(calloc)
REAL(realloc)
REAL(free)

void *malloc(size_t size)
{
	if (fails(ALLOC, "malloc", ENOMEM))
		return NULL;
	return next_malloc() ? real_malloc(size) : early_alloc(size);
}

void *calloc(size_t nr, size_t size)
{
	if (fails(ALLOC, "calloc", ENOMEM))
		return NULL;
	return next_calloc() ? real_calloc(nr, size) : early_alloc(nr * size);
}

void *realloc(void *p, size_t size)
{
	if (fails(ALLOC, "realloc", ENOMEM))
		return NULL;
	if (is_early(p))
		p = NULL;
	return next_realloc() ? real_realloc(p, size) : early_alloc(size);
}

void free(void *p)
{
	if (!is_early(p) && next_free())
		real_free(p);
}

/* A function that fails with @error and @result, and else is the real one. */
#define WRAP(kind, type, name, declare, call, result, error)                                       \
	REAL(name)                                                                                 \
	type name declare                                                                          \
	{                                                                                          \
		if (fails(kind, #name, error))                                                     \
			return result;                                                             \
		return next_##name() call;                                                         \
	}

WRAP(ALLOC, char *, strdup, (const char *s), (s), NULL, ENOMEM)
WRAP(ALLOC, char *, strndup, (const char *s, size_t n), (s, n), NULL, ENOMEM)
WRAP(ALLOC, FILE *, open_memstream, (char **p, size_t *n), (p, n), NULL, ENOMEM)
WRAP(IO, ssize_t, read, (int fd, void *buf, size_t n), (fd, buf, n), -1, EIO)
WRAP(IO, ssize_t, write, (int fd, const void *buf, size_t n), (fd, buf, n), -1, ENOSPC)
WRAP(IO, ssize_t, pread, (int fd, void *buf, size_t n, off_t at), (fd, buf, n, at), -1, EIO)
WRAP(IO, ssize_t, pwrite, (int fd, const void *b, size_t n, off_t at), (fd, b, n, at), -1, ENOSPC)
WRAP(IO, FILE *, fopen, (const char *path, const char *mode), (path, mode), NULL, EMFILE)
WRAP(IO, int, rename, (const char *from, const char *to), (from, to), -1, EIO)
WRAP(IO, int, ftruncate, (int fd, off_t size), (fd, size), -1, ENOSPC)
WRAP(FORK, pid_t, fork, (void), (), -1, EAGAIN)
WRAP(FORK, int, pthread_create,
     (pthread_t * t, const pthread_attr_t *a, void *(*fn)(void *), void *arg), (t, a, fn, arg),
     EAGAIN, EAGAIN)
WRAP(FORK, int, pipe2, (int fds[2], int flags), (fds, flags), -1, EMFILE)
WRAP(FORK, int, socketpair, (int d, int type, int p, int fds[2]), (d, type, p, fds), -1, EMFILE)
WRAP(FORK, int, memfd_create, (const char *name, unsigned int flags), (name, flags), -1, EMFILE)

/* What could not be written is lost, and the descriptor is closed all the same. */
REAL(fclose)
int fclose(FILE *f)
{
	/* Streams in memory lose nothing. */
	bool lost = fileno(f) >= 0 && fails(IO, "fclose", ENOSPC);
	int ret = next_fclose()(f);

	if (!lost)
		return ret;
	errno = ENOSPC;
	return EOF;
}

REAL(fflush)
int fflush(FILE *f)
{
	bool lost = f && fileno(f) >= 0 && fails(IO, "fflush", ENOSPC);
	int ret = next_fflush()(f);

	if (!lost)
		return ret;
	errno = ENOSPC;
	return EOF;
}

/* Its mode, where there is one, comes as a further argument. */
REAL(open)
int open(const char *path, int flags, ...)
{
	__builtin_va_list args;
	unsigned int mode = 0;

	if (fails(IO, "open", EMFILE))
		return -1;
	__builtin_va_start(args, flags);
	if (flags & (O_CREAT | O_TMPFILE))
		mode = __builtin_va_arg(args, unsigned int);
	__builtin_va_end(args);
	return next_open()(path, flags, mode);
}
