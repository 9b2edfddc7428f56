#include "host/calibrate_bare.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "lib/prng.h"

#define ROUNDS	     9
#define MEMORY_BYTES (64u << 20)
#define SMALL_BYTES  (16u << 10)
#define OPERATIONS   200000u
#define DISK_BYTES   (32u << 20)
#define DISK_READS   64u

static u64 clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (u64)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* ---- memory ---- */

struct memory {
	char *from, *to; /* MEMORY_BYTES each */
	u32 *chain;	 /* in @from: a round trip over its cache lines in random order */
	u32 at;
	_Atomic u64 counter;
};

static void copy_far(struct memory *m)
{
	memcpy(m->to, m->from, MEMORY_BYTES);
	__asm__ volatile("" : : "r"(m->to) : "memory");
}

static void copy_near(struct memory *m)
{
	for (unsigned int i = 0; i < 256; i++) {
		memcpy(m->to, m->from, SMALL_BYTES);
		__asm__ volatile("" : : "r"(m->to) : "memory");
	}
}

static void add_locked(struct memory *m)
{
	for (unsigned int i = 0; i < OPERATIONS; i++)
		atomic_fetch_add(&m->counter, 1);
}

static void follow_chain(struct memory *m)
{
	u32 at = m->at;

	for (unsigned int i = 0; i < OPERATIONS; i++)
		at = m->chain[at];
	m->at = at;
}

/* The fastest of several rounds, in ps for one of @count. */
static u64 fastest(void (*work)(struct memory *m), struct memory *m, u64 count)
{
	u64 best = ~0ull;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		u64 start = clock_ns(CLOCK_THREAD_CPUTIME_ID);

		work(m);
		best = min(best, clock_ns(CLOCK_THREAD_CPUTIME_ID) - start);
	}
	return best * 1000 / count;
}

/* Sattolo's shuffle: one cycle through every cache line. */
static void make_chain(struct memory *m)
{
	const u32 step = 64 / sizeof(u32), lines = MEMORY_BYTES / 64;
	struct prng p;

	prng_seed(&p, 1);
	m->chain = (u32 *)m->from;
	for (u32 i = 0; i < lines; i++)
		m->chain[i * step] = i * step;
	for (u32 i = lines - 1; i > 0; i--) {
		u32 j = prng_below(&p, i), line = m->chain[i * step];

		m->chain[i * step] = m->chain[j * step];
		m->chain[j * step] = line;
	}
}

void calibrate_bare_memory(struct calibrate_bare *bare)
{
	struct memory m = {.at = 0};

	m.from = mmap(NULL, 2 * MEMORY_BYTES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (m.from == MAP_FAILED)
		return;
	m.to = m.from + MEMORY_BYTES;
	make_chain(&m);
	bare->memcpy_ps = fastest(copy_far, &m, MEMORY_BYTES);
	bare->memcpy_cached_ps = fastest(copy_near, &m, 256ull * SMALL_BYTES);
	bare->atomic_ps = fastest(add_locked, &m, OPERATIONS);
	bare->miss_ps = fastest(follow_chain, &m, OPERATIONS);
	munmap(m.from, 2 * MEMORY_BYTES);
}

/* ---- disk: here the time waited is what counts ---- */

static int compare_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* Random bytes, so that no layer below can cheat. */
static int fill_file(int fd)
{
	static const size_t piece = 1 << 20;
	u64 *buf = malloc(piece);
	struct prng p;
	int ret = buf ? 0 : -1;

	prng_seed(&p, 2);
	for (size_t done = 0; done < DISK_BYTES && !ret; done += piece) {
		for (size_t i = 0; i < piece / sizeof(*buf); i++)
			buf[i] = prng_u64(&p);
		if (write(fd, buf, piece) != (ssize_t)piece)
			ret = -1;
	}
	free(buf);
	return ret || fsync(fd) ? -1 : 0;
}

static u64 read_random(int fd)
{
	u64 ns[DISK_READS];
	char buf[4096];
	struct prng p;

	prng_seed(&p, 3);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	for (unsigned int i = 0; i < DISK_READS; i++) {
		u64 page = i * (DISK_BYTES / 4096 / DISK_READS) + prng_below(&p, 64);
		u64 start = clock_ns(CLOCK_MONOTONIC);

		if (pread(fd, buf, sizeof(buf), page * 4096) != sizeof(buf))
			return 0;
		ns[i] = clock_ns(CLOCK_MONOTONIC) - start;
	}
	qsort(ns, DISK_READS, sizeof(*ns), compare_u64);
	return ns[DISK_READS / 2];
}

static u64 read_through(int fd)
{
	const size_t piece = 1 << 20;
	char *buf = malloc(piece);
	u64 best = ~0ull;

	posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	for (unsigned int i = 0; buf && i < 3; i++) {
		u64 start, done = 0;
		ssize_t n;

		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		start = clock_ns(CLOCK_MONOTONIC);
		for (; (n = pread(fd, buf, piece, done)) > 0; done += n)
			;
		if (done == DISK_BYTES)
			best = min(best, clock_ns(CLOCK_MONOTONIC) - start);
	}
	free(buf);
	return best == ~0ull ? 0 : best * 1000 / DISK_BYTES;
}

void calibrate_bare_disk(struct calibrate_bare *bare, const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)
		return;
	if (!fill_file(fd)) {
		bare->disk_read_ns = read_random(fd);
		bare->disk_ps = read_through(fd);
	}
	close(fd);
}
