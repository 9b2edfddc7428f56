/*
 * bench/view_cost.c - what recording and looking cost on this host, one "name value" a line.
 *
 *     view_cost FOLIOLAB
 *
 * record_ns     added to an event by a recording (over a sink that does nothing)
 * redraw_ms     slowest of 50 redraws of 200x60 with a million folios in the map
 * back_ms       slowest of 1,000 steps back in it, redraw not counted
 * jump_ms       slowest of 200 jumps in a recording of ten million events, once looked ahead
 * far_back_ms   slowest of 20,000 steps back after such a jump, 10 times
 * memory_mb     of its records, journal and keyframes, in 10^6 bytes
 * first_ms      from the start of a long run on a terminal of its own to its first hint bar
 * menu_ms       the same of the lab menu
 * idle_percent  of a processor while lab 03 waits for an answer in the view
 * play_percent  while its machine plays 1,000 events a second
 */
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trace/recording.h"
#include "view/tui/internal.h"

#define EVENTS 5000000ull
#define FOLIOS 1000000ull

static double clock_ms(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

/* Time of this thread, so that other work on the host does not count. */
static double now_ms(void)
{
	return clock_ms(CLOCK_THREAD_CPUTIME_ID);
}

/* ---- recording ---- */

static void do_nothing(struct trace_sink *sink, const struct trace_event *ev)
{
	(void)sink;
	(void)ev;
}

static double events_ms(struct trace_sink *sink)
{
	static u64 clock_ps;
	struct trace trace;
	double start = now_ms();

	trace_init(&trace, &clock_ps);
	trace_add_sink(&trace, sink);
	for (u64 i = 0; i < EVENTS; i++) {
		clock_ps = i * 1000000;
		trace_event(&trace, EV_mm_filemap_add_to_page_cache, 2, 12, i * 4, i, 1);
	}
	return now_ms() - start;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double record_ns(void)
{
	const struct recording_info info = {.page_size = 4096};
	struct trace_sink nothing = {.event = do_nothing};
	struct recorder *r;
	double cost[5];

	for (int i = 0; i < 5; i++) {
		FILE *f = fopen("/dev/null", "w");

		if (!f || recording_start(f, &info, false, &r, NULL))
			exit(1);
		cost[i] = (events_ms(recording_sink(r)) - events_ms(&nothing)) * 1e6 / EVENTS;
		recording_finish(r, NULL);
		fclose(f);
	}
	qsort(cost, 5, sizeof(*cost), by_value);
	return cost[2];
}

/* ---- looking ---- */

static void fill_tape(struct tape *tape)
{
	if (tape_init(tape, FOLIOS))
		exit(1);
	for (u64 i = 0; i < FOLIOS; i++) {
		const struct trace_event ev = {.id = EV_mm_filemap_add_to_page_cache,
					       .ino = 12,
					       .ns = i,
					       .index = i,
					       .b = 1};

		tape_add(tape, &ev);
	}
}

static void look(double *redraw, double *back)
{
	static const struct recording_info info = {.page_size = 4096, .size = FOLIOS << 12};
	static const struct tui_options options;
	struct tape tape;
	struct tui_machine machine = {.tape = &tape, .info = &info};
	struct tui t;

	fill_tape(&tape);
	if (tui_init(&t, &machine, 1, &options, NULL) || canvas_resize(&t.canvas, 200, 60))
		exit(1);
	tui_goto(&t, ~0ull);
	tui_draw(&t);
	tui_do(&t, CMD_FIT);
	*redraw = *back = 0;
	for (int i = 0; i < 50; i++) {
		double start = now_ms();

		tui_draw(&t);
		*redraw = max(*redraw, now_ms() - start);
	}
	for (int i = 0; i < 1000; i++) {
		double start = now_ms();

		tui_do(&t, CMD_BACK);
		*back = max(*back, now_ms() - start);
	}
	tui_fini(&t);
	tape_fini(&tape);
}

/* ---- travelling ---- */

#define LONG 10000000ull

/* Random reads of a file of a million pages, over and over. */
static void long_event(u64 i, struct trace_event *ev)
{
	u64 page = (i / 5 * 2654435761u) % FOLIOS;
	bool again = i / 5 >= FOLIOS;

	*ev = (struct trace_event){.ino = 12, .ns = i * 100, .index = page};
	switch (i % 5) {
	case 0:
		ev->id = again ? EV_mm_filemap_delete_from_page_cache : EV_fl_buddy_alloc;
		break;
	case 1:
		ev->id = EV_mm_filemap_add_to_page_cache;
		ev->b = 1;
		break;
	case 2:
		ev->id = EV_mm_lru_insertion;
		ev->b = 2;
		break;
	case 3:
		ev->id = EV_fl_uptodate;
		break;
	default:
		ev->id = EV_fl_read;
		ev->index = page << 12;
		ev->a = 4096;
	}
}

static double steps_back_ms(struct scene *s)
{
	double worst = 0;

	for (int i = 0; i < 20000; i++) {
		double start = now_ms();

		scene_back(s);
		worst = max(worst, now_ms() - start);
	}
	return worst;
}

static void travel(void)
{
	static const struct recording_info info = {.page_size = 4096, .size = FOLIOS << 12};
	double jump = 0, back = 0;
	struct tape tape;
	struct scene s;

	if (tape_init(&tape, LONG) || scene_init(&s, &tape, &info))
		exit(1);
	for (u64 i = 0; i < LONG; i++) {
		struct trace_event ev;

		long_event(i, &ev);
		tape_add(&tape, &ev);
	}
	while (scene_look_ahead(&s, 100000))
		;
	for (u64 i = 0; i < 200; i++) {
		double start = now_ms();

		scene_goto(&s, i * 2654435761u % LONG);
		jump = max(jump, now_ms() - start);
		if (i % 20 == 0)
			back = max(back, steps_back_ms(&s));
	}
	printf("jump_ms %.1f\nfar_back_ms %.1f\nmemory_mb %.0f\n", jump, back,
	       (scene_memory(&s) + tape.slots * 32) / 1e6);
	scene_fini(&s);
	tape_fini(&tape);
}

/* ---- starting ---- */

/* The program on a terminal of its own. */
struct on_terminal {
	pid_t pid;
	int fd;
	char seen[1 << 20];
	size_t len;
};

static void start(struct on_terminal *o, char *const *argv)
{
	const struct winsize size = {.ws_row = 40, .ws_col = 120};

	o->len = 0;
	o->pid = forkpty(&o->fd, NULL, NULL, &size);
	if (o->pid)
		return;
	setenv("TERM", "xterm-256color", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	execv(argv[0], argv);
	_exit(1);
}

static void see(struct on_terminal *o, const char *word)
{
	while (!memmem(o->seen, o->len, word, strlen(word))) {
		ssize_t n = read(o->fd, o->seen + o->len, sizeof(o->seen) - o->len);

		if (n <= 0)
			exit(1);
		o->len += n;
	}
}

/* What it shows is read and forgotten for so long. */
static void watch_ms(struct on_terminal *o, double ms)
{
	double end = clock_ms(CLOCK_MONOTONIC) + ms;

	for (;;) {
		struct pollfd p = {.fd = o->fd, .events = POLLIN};
		double left = end - clock_ms(CLOCK_MONOTONIC);

		if (left <= 0)
			return;
		if (poll(&p, 1, left + 1) > 0 && read(o->fd, o->seen, sizeof(o->seen)) <= 0)
			exit(1);
	}
}

static double used_ms(pid_t pid)
{
	unsigned long user, system;
	char path[40];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
			 &system) != 2)
		exit(1);
	fclose(f);
	return (user + system) * 1e3 / sysconf(_SC_CLK_TCK);
}

/* Per cent of a processor while it is watched for @ms. */
static double used_percent(struct on_terminal *o, double ms)
{
	double before = used_ms(o->pid);

	watch_ms(o, ms);
	return (used_ms(o->pid) - before) * 100 / ms;
}

static void press(struct on_terminal *o, const char *keys)
{
	if (write(o->fd, keys, strlen(keys)) != (ssize_t)strlen(keys))
		exit(1);
	watch_ms(o, 200);
}

static void stop(struct on_terminal *o)
{
	kill(o->pid, SIGTERM);
	waitpid(o->pid, NULL, 0);
	close(o->fd);
}

static double first_screen_ms(char *program)
{
	char *const argv[] = {program,	       "run",	 "-e", "read 4k 100000000",
			      "--no-settings", "--size", "1t", "--view",
			      "tui",	       NULL};
	static struct on_terminal o;
	double begin = clock_ms(CLOCK_MONOTONIC), end;

	start(&o, argv);
	see(&o, "quit");
	end = clock_ms(CLOCK_MONOTONIC);
	stop(&o);
	return end - begin;
}

/* Of the lab menu: the first row of the list. */
static double menu_ms(char *program)
{
	char *const argv[] = {program, NULL};
	static struct on_terminal o;
	double begin = clock_ms(CLOCK_MONOTONIC), end;

	start(&o, argv);
	see(&o, "quit");
	end = clock_ms(CLOCK_MONOTONIC);
	stop(&o);
	return end - begin;
}

/* Lab 03 in the view: nothing happens, then its first machine plays 1,000 events a second. */
static void play_lab(char *program)
{
	char *const argv[] = {program, "lab", "run", "03", "--no-settings", NULL};
	static struct on_terminal o;

	start(&o, argv);
	see(&o, "answer");
	watch_ms(&o, 1000);
	printf("idle_percent %.1f\n", used_percent(&o, 5000));
	press(&o, "\t");
	press(&o, "0+++");
	press(&o, " ");
	printf("play_percent %.1f\n", used_percent(&o, 5000));
	stop(&o);
}

int main(int argc, char **argv)
{
	double redraw, back, first[5];

	if (argc != 2)
		return 2;
	printf("record_ns %.1f\n", record_ns());
	look(&redraw, &back);
	printf("redraw_ms %.2f\nback_ms %.3f\n", redraw, back);
	travel();
	for (int i = 0; i < 5; i++)
		first[i] = first_screen_ms(argv[1]);
	qsort(first, 5, sizeof(*first), by_value);
	printf("first_ms %.0f\n", first[2]);
	for (int i = 0; i < 5; i++)
		first[i] = menu_ms(argv[1]);
	qsort(first, 5, sizeof(*first), by_value);
	printf("menu_ms %.0f\n", first[2]);
	play_lab(argv[1]);
	return 0;
}
