/*
 * lmbench's two MMAP tools over a cached file: bw_mmap_rd (read a byte of every page, munmap) and
 * lat_mmap (store a byte every 16 KiB, munmap), with folios of orders 0 to 9.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "cli/bench.h"
#include "cli/common.h"
#include "lab/run.h"
#include "mm/internal.h"

/* lmbench with MB=10240 touches a tenth of the file: 65,536 stores. */
#define FILE_BYTES   (10LL << 30)
#define REGION_BYTES (1LL << 30)
#define READ_STEP    4096
#define STORE_STEP   16384
#define ORDERS	     10
#define AROUND_ORDER 4 /* 64 KiB, the window of fault-around */

/* Published stores in microseconds, and their growth in thousandths: 103.5 / 94.2. */
#define PUBLISHED_BEFORE 94200
#define PUBLISHED_AT	 103500
#define PUBLISHED_GROWTH 99

/* Machines in the order they are shown. */
static const struct {
	const char *kernel, *fs;
	const char *read, *store; /* titles; store NULL: only bw_mmap_rd is played */
	bool large;		  /* folios larger than a page */
} machines[] = {
	{"v6.7", "xfs", "v6.7, xfs, bw_mmap_rd", NULL, true},
	{"v6.12", "xfs", "v6.12, xfs, bw_mmap_rd", NULL, true},
	{"v6.16-EXT4_LARGE", "ext4", "v6.16 without 7ac67301e82f, ext4, bw_mmap_rd",
	 "v6.16 without 7ac67301e82f, ext4, lat_mmap", false},
	{"v6.16", "ext4", "v6.16, ext4, bw_mmap_rd", "v6.16, ext4, lat_mmap", true},
	{"v6.18", "ext4", "v6.18, ext4, bw_mmap_rd", "v6.18, ext4, lat_mmap", true},
	{"v7.3", "ext4", "v7.3, ext4, bw_mmap_rd", "v7.3, ext4, lat_mmap", true},
};

#define NR_MACHINES ARRAY_SIZE(machines)
enum { NO_LARGE = 2, WITH_LARGE = 3, WHOLE_FOLIO = 4 };

/* What one pass took. */
struct pass {
	u64 us;		   /* 0: not played */
	u64 ps;		   /* the same, exactly */
	u64 stat_calls;	   /* of __lruvec_stat_mod_folio() */
	u64 stat_ps;	   /* and their time */
	u64 buffer_visits; /* by page_mkwrite and what follows it */
};

struct passes {
	struct pass read[NR_MACHINES][ORDERS], store[NR_MACHINES][ORDERS];
};

/* ---- playing ---- */

static int play_op(struct run *run, enum wl_op_type type, s64 step, u64 n, struct fl_error *err)
{
	const struct wl_op op = {
		.type = type, .step = step, .len = type == WL_PWRITE ? step : 0, .n = n, .line = 1};

	return run_op(run, &op, err);
}

static u64 units(const struct run *run, enum cost_id id)
{
	return run->machine->cost_units[CONTEXT_TASK][id];
}

static struct pass counters(const struct run *run)
{
	const struct machine *m = run->machine;
	u64 calls = units(run, COST_STAT_MAP) + units(run, COST_STAT_UNMAP);
	u64 flushes = units(run, COST_NODE_FLUSH) + units(run, COST_MEMCG_FLUSH);

	return (struct pass){
		.ps = m->clock_ps,
		.stat_calls = calls,
		.stat_ps = calls * m->cost_ps[COST_STAT_MAP] +
			   flushes * m->cost_ps[COST_NODE_FLUSH] +
			   units(run, COST_STAT_IRQ_SAFE) * m->cost_ps[COST_STAT_IRQ_SAFE],
		.buffer_visits = units(run, COST_BUFFER_VISIT) + units(run, COST_BUFFER_DIRTY),
	};
}

/* mmap, a byte every @step bytes of the region, munmap; the mmap itself is not timed. */
static int play_pass(struct run *run, enum wl_op_type type, s64 step, struct pass *pass,
		     struct fl_error *err)
{
	int ret = play_op(run, WL_MMAP, 0, 1, err);
	struct pass before = counters(run), after;

	if (!ret)
		ret = play_op(run, type, step, REGION_BYTES / step, err);
	if (!ret)
		ret = play_op(run, WL_MUNMAP, 0, 1, err);
	after = counters(run);
	*pass = (struct pass){
		.ps = after.ps - before.ps,
		.us = (after.ps - before.ps) / 1000000,
		.stat_calls = after.stat_calls - before.stat_calls,
		.stat_ps = after.stat_ps - before.stat_ps,
		.buffer_visits = after.buffer_visits - before.buffer_visits,
	};
	return ret;
}

/* Does the cache hold what was meant? Some orders do not exist everywhere. */
static bool filled_with(const struct run *run, unsigned int order)
{
	struct folio *folio = filemap_get_folio(run->inode->i_mapping, (REGION_BYTES >> 13));
	bool same = folio && folio_order(folio) == order;

	if (folio)
		folio_put(folio);
	return same;
}

static int play_order(unsigned int machine, unsigned int order, struct passes *passes,
		      struct fl_error *err)
{
	s64 len = 4096LL << order;
	struct run_config config;
	struct run *run;
	int ret;

	run_config_init(&config);
	config.machine.kernel = machines[machine].kernel;
	config.fs = machines[machine].fs;
	config.disk = "ram";
	config.size = FILE_BYTES;
	ret = run_open(&config, &run, err);
	if (ret)
		return ret;
	ret = play_op(run, WL_PWRITE, len, REGION_BYTES / len, err);
	if (!ret)
		ret = play_op(run, WL_FSYNC, 0, 1, err);
	if (!ret && filled_with(run, order)) {
		ret = play_pass(run, WL_TOUCH, READ_STEP, &passes->read[machine][order], err);
		if (!ret && machines[machine].store)
			ret = play_pass(run, WL_WTOUCH, STORE_STEP, &passes->store[machine][order],
					err);
	}
	run_close(run);
	return ret;
}

/* ---- rows ---- */

static void add_row(struct bench_result *result, unsigned int machine, bool store,
		    unsigned int order, u64 us, u64 published)
{
	struct bench_row *row;

	if (!us || result->nr == BENCH_ROWS_MAX)
		return;
	row = &result->rows[result->nr++];
	*row = (struct bench_row){.kernel = machines[machine].kernel,
				  .title = store ? machines[machine].store : machines[machine].read,
				  .published = published,
				  .ours = us};
	snprintf(row->measure, sizeof(row->measure), "%s, order %u", store ? "store" : "read",
		 order);
}

static u64 published_store(unsigned int machine, unsigned int order)
{
	if (machine == NO_LARGE && order == 0)
		return PUBLISHED_BEFORE;
	return machine == WITH_LARGE && order == 1 ? PUBLISHED_AT : 0;
}

static void add_rows(struct bench_result *result, const struct passes *p)
{
	for (unsigned int i = 0; i < NR_MACHINES; i++) {
		for (unsigned int order = 0; order < ORDERS; order++)
			add_row(result, i, false, order, p->read[i][order].us, 0);
		for (unsigned int order = 0; order < ORDERS; order++)
			add_row(result, i, true, order, p->store[i][order].us,
				published_store(i, order));
	}
}

/* ---- checks ---- */

static u64 growth(const struct pass *before, const struct pass *after)
{
	return after->ps > before->ps ? (after->ps - before->ps) * 1000 / before->ps : 0;
}

static void check_reads(struct bench_result *result, const struct passes *p, unsigned int machine)
{
	unsigned int last = 0;
	char name[BENCH_CHECK_MAX];

	/* A folio larger than the window of fault-around saves only what its unmapping saves. */
	for (unsigned int order = 1; order < ORDERS; order++) {
		if (!p->read[machine][order].us)
			continue;
		snprintf(name, sizeof(name), "%s: reading order %u against order %u",
			 machines[machine].kernel, order, last);
		bench_check(result, name, p->read[machine][order].us, p->read[machine][last].us,
			    order > AROUND_ORDER && order < ORDERS - 1 ? BENCH_AT_MOST
								       : BENCH_BELOW);
		last = order;
	}
}

static void check_stores(struct bench_result *result, const struct passes *p)
{
	const struct pass *before = &p->store[NO_LARGE][0], *at = p->store[WITH_LARGE];
	char name[BENCH_CHECK_MAX];

	bench_check(result, "growth of stores at 7ac67301e82f, order 1, in 1/1000",
		    growth(before, &at[1]), PUBLISHED_GROWTH / 2, BENCH_ABOVE);
	bench_check(result, "growth of stores at 7ac67301e82f, order 1, in 1/1000",
		    growth(before, &at[1]), PUBLISHED_GROWTH * 2, BENCH_BELOW);
	bench_check(result, "v6.16: storing to order 2 against order 1", at[2].us, at[1].us,
		    BENCH_ABOVE);
	for (unsigned int order = 3; order < ORDERS - 1; order++) {
		snprintf(name, sizeof(name), "storing to order %u on v6.16 against v6.18", order);
		bench_check(result, name, at[order].us, p->store[WHOLE_FOLIO][order].us,
			    BENCH_ABOVE);
	}
	bench_check(result, "order 9 is mapped by PMDs: buffers visited on v6.16 and on v6.18",
		    at[9].buffer_visits, p->store[WHOLE_FOLIO][9].buffer_visits, BENCH_EQUAL);
}

static struct passes *play_all(struct fl_error *err)
{
	struct passes *p = calloc(1, sizeof(*p));
	int ret = p ? 0 : fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");

	for (unsigned int i = 0; i < NR_MACHINES && !ret; i++)
		for (unsigned int order = 0; order < ORDERS && !ret; order++)
			if (!order || machines[i].large)
				ret = play_order(i, order, p, err);
	if (!ret)
		return p;
	free(p);
	return NULL;
}

/* ---- the account of the report ---- */

static double share(const struct pass *p)
{
	return p->ps ? 100.0 * p->stat_ps / p->ps : 0;
}

static void add_account(struct bench_result *result, const struct passes *p)
{
	const struct pass *before = &p->store[NO_LARGE][0], *at = &p->store[WITH_LARGE][1];
	const struct pass *read0 = &p->read[NO_LARGE][0], *read1 = &p->read[WITH_LARGE][1];

	snprintf(
		result->account, sizeof(result->account),
		"What the report's perf diff shows, and what not\n"
		"  It has __lruvec_stat_mod_folio at +4.34 %% with an empty Baseline, as every\n"
		"  symbol of the kernel: perf had no symbols of the old one to pair with, and shows\n"
		"  the whole share in the new kernel as a delta. do_anonymous_page (+1.33) and\n"
		"  clear_page_erms (+0.77) are there too, which no file system changes.\n"
		"  Here, storing:  share %.2f %% before, %.2f %% after; calls %" PRIu64
		" and %" PRIu64
		",\n  so paired the delta is %+.2f %%, unpaired it would read %+.2f %%.\n"
		"  Here, reading:  share %.2f %% before, %.2f %% after; calls %" PRIu64
		" and %" PRIu64 ":\n  larger folios need fewer of them.\n"
		"  What grows is page_mkwrite, which visits every buffer of the folio: %" PRIu64
		"\n  visits before, %" PRIu64 " after, and %" PRIu64 " with order 2.\n",
		share(before), share(at), before->stat_calls, at->stat_calls,
		share(at) - share(before), share(at), share(read0), share(read1), read0->stat_calls,
		read1->stat_calls, before->buffer_visits, at->buffer_visits,
		p->store[WITH_LARGE][2].buffer_visits);
}

static int run_mmap(struct bench_result *result, struct fl_error *err)
{
	struct passes *p = play_all(err);

	if (!p)
		return err->code;
	add_rows(result, p);
	for (unsigned int i = 0; i < NR_MACHINES; i++)
		check_reads(result, p, i);
	check_stores(result, p);
	add_account(result, p);
	free(p);
	return 0;
}

/* ---- the host ---- */

#define HOST_BYTES (256LL << 20)
#define HOST_TRIES 5

static u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* An unlinked file of HOST_BYTES, written @len bytes at a time; a descriptor or -errno. */
static int host_file(size_t len)
{
	const char *dir = getenv("TMPDIR");
	char path[4096], *buf = calloc(1, len);
	int fd;

	snprintf(path, sizeof(path), "%s/foliolab-mmap.XXXXXX", dir && *dir ? dir : "/var/tmp");
	fd = buf ? mkstemp(path) : -1;
	if (fd < 0) {
		free(buf);
		return -errno;
	}
	unlink(path);
	for (s64 done = 0; done < HOST_BYTES; done += len)
		if (write(fd, buf, len) != (ssize_t)len) {
			int error = -errno;

			free(buf);
			close(fd);
			return error ? error : -ENOSPC;
		}
	free(buf);
	return fd;
}

/* Nanoseconds of one pass with its munmap, or 0. */
static u64 host_pass(int fd, size_t step, bool store)
{
	volatile char *p = mmap(NULL, HOST_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	u64 start = now_ns();

	if (p == MAP_FAILED)
		return 0;
	for (s64 i = 0; i < HOST_BYTES; i += step) {
		if (store)
			p[i] = 1;
		else
			(void)p[i];
	}
	munmap((void *)p, HOST_BYTES);
	return now_ns() - start;
}

static u64 host_best(int fd, size_t step, bool store)
{
	u64 best = ~0ULL;

	for (unsigned int i = 0; i < HOST_TRIES; i++)
		best = min(best, host_pass(fd, step, store));
	return best;
}

/* A real mapping of this host, walked the same way; the file system decides the folios' order. */
static int measure_mmap(struct out *o, struct fl_error *err)
{
	fprintf(o->f, "\nThis host, %lld MiB in TMPDIR, best of %d, in ns\n", HOST_BYTES >> 20,
		HOST_TRIES);
	fprintf(o->f, "%16s %14s %14s\n", "written in", "a page read", "a page stored");
	for (unsigned int order = 0; order < ORDERS; order++) {
		int fd = host_file((size_t)4096 << order);

		if (fd < 0)
			return fl_error_set(err, fd, "--measure", 0,
					    "%s, expected room for a file of "
					    "%lld MiB in TMPDIR",
					    strerror(-fd), HOST_BYTES >> 20);
		fprintf(o->f, "%15uk %14.1f %14.1f\n", 4u << order,
			(double)host_best(fd, READ_STEP, false) * READ_STEP / HOST_BYTES,
			(double)host_best(fd, STORE_STEP, true) * STORE_STEP / HOST_BYTES);
		close(fd);
	}
	return 0;
}

const struct bench bench_mmap = {
	.name = "mmap",
	.what = "lmbench's bw_mmap_rd (read a byte of every page) and lat_mmap (store a byte every\n"
		"16 KiB) over the cached first GiB of a file, munmap included, by folio order",
	.measure = "microseconds of virtual time; published ones are those of another machine, so\n"
		   "their ratio is what is checked",
	.source =
		"Suneeth D (AMD), Re: [PATCH v2 8/8] ext4: enable large folio for regular file,\n"
		"June 2025: lmbench3.MMAP.read.latency.us 94.2K one commit before 7ac67301e82f, "
		"103.5K\n"
		"at it; 97.3K in v6.15, 107.5K in v6.16-rc1. The unit, the size and 65,536 stores "
		"in\n"
		"94 ms say that it is lat_mmap, whose file lmdd writes 8 KiB at a time: order 1.\n",
	.agree = "Reads get faster with the order, stores slower.",
	.run = run_mmap,
	.measure_host = measure_mmap,
};
