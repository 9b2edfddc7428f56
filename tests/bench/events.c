/*
 * events ROUNDS - what an event costs on the host. Writes "COUNTED RECORDED" in ns: medians of
 * rounds of a million events, one slot and two slots in turn, first without a listener, then into a
 * ring. What the loop itself costs is taken off both.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "trace/ring.h"

#define EVENTS	   1000000u
#define RING_SLOTS 65536 /* in the cache, as far as one fits: what follows is overwritten */
#define ROUNDS_MAX 1001

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* others may run beside us */
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Keeps the compiler from summing up what a loop does. */
static void barrier(void)
{
	__asm__ volatile("" ::: "memory");
}

static double time_loop(void)
{
	double start = now();

	for (unsigned int i = 0; i < EVENTS; i++)
		barrier();
	return now() - start;
}

static double time_events(struct trace *t)
{
	double start = now();

	for (unsigned int i = 0; i < EVENTS; i += 2) {
		struct trace_event ev = {.id = EV_fl_window, .ino = 12, .index = i, .a = 32};

		trace_event(t, EV_mm_filemap_add_to_page_cache, i & 7, 12, i, i, 1);
		barrier();
		trace_event2(t, &ev);
		barrier();
	}
	return now() - start;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double ns_per_event(struct trace *t, unsigned int rounds)
{
	static double ns[ROUNDS_MAX];

	time_events(t);
	for (unsigned int i = 0; i < rounds; i++)
		ns[i] = (time_events(t) - time_loop()) / EVENTS * 1e9;
	qsort(ns, rounds, sizeof(*ns), by_value);
	return max(ns[rounds / 2], 0.0);
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	static struct trace t;
	struct trace_ring ring;
	u64 clock_ps = 1000000;
	double counted;

	if (!rounds || rounds > ROUNDS_MAX || trace_ring_init(&ring, RING_SLOTS)) {
		fprintf(stderr, "usage: events ROUNDS\n");
		return 2;
	}
	trace_init(&t, &clock_ps);
	counted = ns_per_event(&t, rounds);
	trace_add_sink(&t, &ring.sink);
	printf("%.2f %.2f\n", counted, ns_per_event(&t, rounds));
	trace_ring_fini(&ring);
	return 0;
}
