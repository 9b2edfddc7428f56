/*
 * What stays in the page cache, on this host: the stacks' own code moves real bytes.
 *
 * Every stack has a file of its own; they read and write in turns, so that what else the host does
 * meets all of them, and memcpy() moves the same pieces beside them.
 */
#include "cli/bench_fio.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench_clock.h"
#include "cli/common.h"
#include "fs/read_write.h"
#include "lab/run.h"

#define MEASURED_BYTES (32LL << 20)
#define MEMORY_BYTES   (1ULL << 30) /* far more: nobody writes back */
#define PIECE_MAX      (1LL << 20)
#define MEMCPY	       NR_STACKS /* the column behind the stacks */

enum what { CACHED_READ, APPEND, OVERWRITE, NR_WHATS };

static const s64 pieces[] = {4 << 10, 64 << 10, PIECE_MAX};

/* What is measured. */
struct subject {
	struct run *runs[NR_STACKS];
	char *file; /* that memcpy() moves pieces from and to */
	char *buf;
};

/* Seconds, by column and run. */
typedef double times_t[NR_STACKS + 1][BENCH_RUNS];

/* The row with these writes, NULL for reads: none of the published ones stayed in the cache. */
static const struct fio_job *published(enum what what, s64 bs)
{
	for (unsigned int i = 0; i < FIO_JOBS; i++) {
		const struct fio_job *job = &bench_fio_jobs[i];

		if (what != CACHED_READ && job->disk == DISK_CACHE && job->bs == bs &&
		    job->overwrite == (what == OVERWRITE))
			return job;
	}
	return NULL;
}

/* ---- playing ---- */

static int set_size(struct run *run, s64 size, struct fl_error *err)
{
	const struct wl_op op = {.type = WL_FTRUNCATE, .len = size, .n = 1, .line = 1};

	return run_op(run, &op, err);
}

/* All of the file once; false if not all bytes moved. */
static bool pass(const struct subject *s, unsigned int column, enum what what, s64 bs)
{
	struct file *file = column < NR_STACKS ? run_file(s->runs[column]) : NULL;
	bool ok = true;

	for (s64 pos = 0; ok && pos < MEASURED_BYTES; pos += bs)
		if (!file && what == CACHED_READ)
			memcpy(s->buf, s->file + pos, bs);
		else if (!file)
			memcpy(s->file + pos, s->buf, bs);
		else if (what == CACHED_READ)
			ok = ksys_pread64(file, s->buf, bs, pos) == bs;
		else
			ok = ksys_pwrite64(file, s->buf, bs, pos) == bs;
	return ok;
}

/*
 * What is there before: for appends an empty file, else one written in the same pieces, so that
 * its folios are those that such writes make.
 */
static int prepare(const struct subject *s, unsigned int column, enum what what, s64 bs,
		   struct fl_error *err)
{
	int ret = column < NR_STACKS ? set_size(s->runs[column], 0, err) : 0;

	if (!ret && what != APPEND && !pass(s, column, APPEND, bs))
		ret = fl_error_set(err, -EIO, NULL, 0, "a write of the miniature failed");
	return ret;
}

static int measure(const struct subject *s, enum what what, s64 bs, times_t times,
		   struct fl_error *err)
{
	for (unsigned int run = 0; run < BENCH_RUNS; run++)
		for (unsigned int turn = 0; turn <= NR_STACKS; turn++) {
			unsigned int column = (run + turn) % (NR_STACKS + 1);
			int ret = prepare(s, column, what, bs, err);
			double start = bench_seconds();

			if (!ret && !pass(s, column, what, bs))
				ret = fl_error_set(err, -EIO, NULL, 0,
						   "not all bytes moved through the miniature");
			if (ret)
				return ret;
			times[column][run] = bench_seconds() - start;
		}
	return 0;
}

/* ---- figures ---- */

static void put_row(FILE *f, enum what what, s64 bs, times_t times)
{
	static const char *const names[] = {"cached read", "write cache ---", "write cache O--"};
	const struct fio_job *job = published(what, bs);
	double gib = (double)MEASURED_BYTES / (1 << 30);

	fprintf(f, "%-15s %4s %7.2f %7.2f", names[what],
		bs == PIECE_MAX	  ? "1M"
		: bs == pieces[0] ? "4K"
				  : "64K",
		gib / bench_median(times[BASE]), gib / bench_median(times[MEMCPY]));
	for (unsigned int stack = LARGE; stack < NR_STACKS; stack++) {
		if (job)
			fprintf(f, "   %+5d", job->percent[stack]);
		else
			fprintf(f, "       -");
		fprintf(f, " %+5.0f", 100 * (bench_median_ratio(times[BASE], times[stack]) - 1));
	}
	fputc('\n', f);
}

/* ---- setting up ---- */

static int open_stack(unsigned int stack, struct run **ret, struct fl_error *err)
{
	struct run_config config;

	run_config_init(&config);
	config.machine.kernel = bench_fio_stacks[stack].kernel;
	config.machine.data = true;
	config.machine.memory = MEMORY_BYTES;
	config.fs = bench_fio_stacks[stack].fs;
	config.disk = "ram";
	config.size = 0;
	return run_open(&config, ret, err);
}

static int subject_init(struct subject *s, struct fl_error *err)
{
	int ret = 0;

	*s = (struct subject){.file = calloc(1, MEASURED_BYTES), .buf = malloc(PIECE_MAX)};
	if (!s->file || !s->buf)
		return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
	memset(s->buf, 1, PIECE_MAX);
	for (unsigned int stack = 0; stack < NR_STACKS && !ret; stack++)
		ret = open_stack(stack, &s->runs[stack], err);
	return ret;
}

static void subject_fini(struct subject *s)
{
	for (unsigned int stack = 0; stack < NR_STACKS; stack++)
		run_close(s->runs[stack]);
	free(s->file);
	free(s->buf);
}

int bench_fio_measure(struct out *o, struct fl_error *err)
{
	struct subject s;
	int ret = subject_init(&s, err);

	fprintf(o->f,
		"\nThis host: %lld MiB that stay in the page cache, median of %d interleaved runs. The\n"
		"stacks are the miniature's own code with real copies, its virtual clock and its\n"
		"events included; memcpy moves the same pieces. Percentages are those of the same run.\n"
		"                          GiB/s         base+LF, %%     iomap+LF, %%\n"
		"                        base  memcpy    publ.  here    publ.  here\n",
		MEASURED_BYTES >> 20, BENCH_RUNS);
	for (unsigned int what = 0; what < NR_WHATS; what++)
		for (unsigned int b = 0; b < ARRAY_SIZE(pieces) && !ret; b++) {
			times_t times;

			ret = measure(&s, what, pieces[b], times, err);
			if (!ret)
				put_row(o->f, what, pieces[b], times);
		}
	subject_fini(&s);
	return ret;
}
