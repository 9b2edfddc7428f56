/*
 * The read path of tmpfs on this host: real files of the miniature, real bytes, real locks.
 *
 * The stages read the same file in turns (bench_tmpfs_loop.c); beside them stand memcpy() of the
 * same pieces and read(2) of a file in the host's own memory.
 */
#include "cli/bench_tmpfs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/bench_clock.h"
#include "cli/common.h"
#include "mm/internal.h"
#include "mm/shmem_fs.h"

#define MEASURED_BYTES (1LL << 30)
#define PAGE	       4096UL
#define STRETCH	       (4LL << 20)
#define STRETCHES      (MEASURED_BYTES / STRETCH)

enum column { BEFORE, V1, MERGED, MEMCPY, HOST_READ, NR_COLUMNS };

static const char *const column_names[NR_COLUMNS] = {"before", "v1", "merged", "memcpy", "read(2)"};

static const struct {
	const char *name;
	u64 bytes;
} pieces[] = {{"4k", 4 << 10}, {"64k", 64 << 10}, {"1m", 1 << 20}};

static const struct {
	const char *name;
	unsigned int order;
} orders[] = {{"9", 9}, {"0", 0}};

/* What is measured. */
struct subject {
	struct run *run;
	char *bytes; /* of the file: its folios lie one behind the other */
	int memfd;
	char *buf;
};

/* Seconds, by column and run. */
typedef double times_t[NR_COLUMNS][BENCH_RUNS];

/* ---- reading ---- */

/* The kernel of that stage, as far as reads go. */
static void set_stage(struct machine *m, enum column stage)
{
	knobs_assign(&m->knobs, KNOB_SHMEM_READ_KIPOS, stage != BEFORE);
	knobs_assign(&m->knobs, KNOB_SHMEM_READ_V1, stage == V1);
	knobs_assign(&m->knobs, KNOB_SHMEM_READ_FOLIO, stage == MERGED);
}

/* read(2) of @bs bytes at @pos, without the way into the kernel; false if not all arrived. */
static bool read_piece(const struct subject *s, loff_t pos, u64 bs)
{
	struct kiocb kiocb = {.ki_filp = run_file(s->run), .ki_pos = pos};
	struct iov_iter to = {.count = bs, .ubuf = s->buf};

	return bench_tmpfs_read_iter(&kiocb, &to) == (ssize_t)bs;
}

/* Of the file from @pos to @end, in pieces of @bs. */
static bool read_range(const struct subject *s, enum column column, loff_t pos, loff_t end, u64 bs)
{
	bool ok = true;

	if (column < MEMCPY)
		set_stage(s->run->machine, column);
	for (; ok && pos < end; pos += bs)
		if (column == MEMCPY)
			memcpy(s->buf, s->bytes + pos, bs);
		else if (column == HOST_READ)
			ok = pread(s->memfd, s->buf, bs, pos) == (ssize_t)bs;
		else
			ok = read_piece(s, pos, bs);
	return ok;
}

/*
 * All columns read all the file once, a stretch each in turn, so that what else the host does
 * meets all of them. Their stretches lie far apart: none finds in the processor's caches what
 * another one brought there.
 */
static int measure_run(const struct subject *s, u64 bs, double *times)
{
	memset(times, 0, NR_COLUMNS * sizeof(*times));
	for (unsigned int i = 0; i < STRETCHES; i++)
		for (unsigned int turn = 0; turn < NR_COLUMNS; turn++) {
			enum column c = (i + turn) % NR_COLUMNS;
			loff_t pos = (i + c * (STRETCHES / NR_COLUMNS)) % STRETCHES * STRETCH;
			double start = bench_seconds();

			if (!read_range(s, c, pos, pos + STRETCH, bs))
				return -EIO;
			times[c] += bench_seconds() - start;
		}
	return 0;
}

static int measure_piece(const struct subject *s, u64 bs, times_t times)
{
	for (unsigned int i = 0; i < BENCH_RUNS; i++) {
		double run[NR_COLUMNS];
		int ret = measure_run(s, bs, run);

		if (ret)
			return ret;
		for (unsigned int c = 0; c < NR_COLUMNS; c++)
			times[c][i] = run[c];
	}
	return 0;
}

/* ---- figures ---- */

static double gib_per_second(const double *times)
{
	return (double)MEASURED_BYTES / (1 << 30) / bench_median(times);
}

/* Lookups and copies of the stage, as the miniature counts them. */
static void put_counts(FILE *f, const struct subject *s, enum column column, u64 bs)
{
	struct bench_tmpfs_pass pass;

	if (column >= MEMCPY) {
		fprintf(f, "%11s %11s\n", "-", "-");
		return;
	}
	set_stage(s->run->machine, column);
	bench_tmpfs_pass(s->run, bs, MEASURED_BYTES, &pass);
	fprintf(f, "%11" PRIu64 " %11" PRIu64 "\n", pass.lookups, pass.copies);
}

static void put_rows(FILE *f, const struct subject *s, unsigned int order, unsigned int piece,
		     times_t times)
{
	for (unsigned int c = 0; c < NR_COLUMNS; c++) {
		fprintf(f, "%7s %4s  %-8s %8.2f %8.2f %8.2f ", orders[order].name,
			pieces[piece].name, column_names[c], gib_per_second(times[c]),
			bench_median_ratio(times[BEFORE], times[c]),
			bench_median_ratio(times[MEMCPY], times[c]));
		put_counts(f, s, c, pieces[piece].bytes);
	}
}

/* @most 0: no limit. */
static void put_check(FILE *f, const char *what, double value, double least, double most)
{
	fprintf(f, "  %-34s %5.2f, expected ", what, value);
	if (most > 0)
		fprintf(f, "%.2f to %.2f", least, most);
	else
		fprintf(f, "at least %.2f", least);
	fprintf(f, "  %s\n", value >= least && (most <= 0 || value <= most) ? "holds" : "MISS");
}

static void put_checks(FILE *f, times_t *times)
{
	double *before = times[1][BEFORE], *merged = times[1][MERGED];

	fprintf(f, "\nOrder 9, what was hoped for (figures of this host, whatever they are)\n");
	put_check(f, "64k, merged / before", bench_median_ratio(before, merged), 1.10, 0);
	put_check(f, "4k, merged / before", bench_median_ratio(times[0][BEFORE], times[0][MERGED]),
		  0.97, 1.03);
	put_check(f, "64k, merged / memcpy", bench_median_ratio(times[1][MEMCPY], merged), 0.90, 0);
}

/* ---- setting up ---- */

/* The same bytes in a file of the host's own tmpfs. */
static int fill_memfd(struct subject *s)
{
	s->memfd = memfd_create("foliolab-bench", MFD_CLOEXEC);
	if (s->memfd < 0)
		return -errno;
	for (loff_t pos = 0; pos < MEASURED_BYTES; pos += 1 << 20)
		if (pwrite(s->memfd, s->bytes + pos, 1 << 20, pos) != 1 << 20)
			return errno ? -errno : -ENOSPC;
	return 0;
}

/* Every page of the file gets bytes of its own in memory, each behind those of the page before. */
static int touch_all(struct subject *s)
{
	for (loff_t pos = 0; pos < MEASURED_BYTES; pos += PAGE) {
		struct folio *folio = filemap_get_folio(s->run->inode->i_mapping, pos / PAGE);
		char *p;

		if (!folio)
			return -EIO;
		p = (char *)folio_address(folio) + (pos & (folio_size(folio) - 1));
		folio_put(folio);
		if (!pos)
			s->bytes = p;
		if (p != s->bytes + pos)
			return -EIO;
		memset(p, 1 + pos / PAGE, PAGE);
	}
	return 0;
}

static int subject_init(struct subject *s, unsigned int order, struct fl_error *err)
{
	const size_t longest = pieces[ARRAY_SIZE(pieces) - 1].bytes;
	int ret;

	*s = (struct subject){.memfd = -1};
	s->buf = aligned_alloc(PAGE, longest);
	if (!s->buf)
		return -ENOMEM;
	memset(s->buf, 0, longest);
	ret = bench_tmpfs_open(order, MEASURED_BYTES, &s->run, err);
	if (ret)
		return ret;
	ret = touch_all(s);
	return ret ? ret : fill_memfd(s);
}

static void subject_fini(struct subject *s)
{
	if (s->memfd >= 0)
		close(s->memfd);
	run_close(s->run);
	free(s->buf);
}

static int measure_order(FILE *f, unsigned int order, times_t *times, struct fl_error *err)
{
	struct subject s;
	int ret = subject_init(&s, orders[order].order, err);

	for (unsigned int b = 0; !ret && b < ARRAY_SIZE(pieces); b++) {
		ret = measure_piece(&s, pieces[b].bytes, times[b]);
		if (!ret)
			put_rows(f, &s, order, b, times[b]);
	}
	subject_fini(&s);
	return ret;
}

int bench_tmpfs_measure(struct out *o, struct fl_error *err)
{
	static times_t times[ARRAY_SIZE(orders)][ARRAY_SIZE(pieces)];
	int ret = 0;

	fprintf(o->f,
		"\nThis host: %lld MiB, median of %d interleaved runs, GiB for each second of processor\n"
		"time. before, v1 and merged are the miniature's own read path; its references and\n"
		"folio locks are locked instructions here, and no virtual time is kept. memcpy moves\n"
		"the same pieces, read(2) is this host's tmpfs with its system calls. Published for\n"
		"order 9: 64k from 10.0 to 12.0.\n"
		"  order   bs               GiB/s  /before  /memcpy     lookups      copies\n",
		MEASURED_BYTES >> 20, BENCH_RUNS);
	for (unsigned int i = 0; !ret && i < ARRAY_SIZE(orders); i++)
		ret = measure_order(o->f, i, times[i], err);
	if (!ret)
		put_checks(o->f, times[0]);
	if (ret && !err->code)
		fl_error_set(err, ret, NULL, 0, "%s", strerror(-ret));
	return ret;
}
