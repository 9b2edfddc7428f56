/*
 * The read loop of tmpfs on this host: real files of the miniature, real bytes, real locks.
 *
 * Lookups walk the file's tree; the reference and the folio lock are the locked instructions that
 * the kernel's are. One loop has the stages, on the same file, in turns; beside them stand
 * memcpy() of the same pieces and read(2) of a file in the host's own memory. Nothing else is in
 * the loop: no virtual time, no events. Differs: no page is ever marked accessed, none is bad.
 */
#include "cli/bench_tmpfs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "cli/common.h"
#include "mm/internal.h"
#include "mm/shmem_fs.h"

#define MEASURED_BYTES (256LL << 20)
#define MEASURED_RUNS  7
#define PAGE	       4096UL
#define STRETCH	       (4LL << 20)
#define STRETCHES      (MEASURED_BYTES / STRETCH)

enum column { BEFORE, V1, MERGED, MEMCPY, HOST_READ, NR_COLUMNS };

static const struct {
	const char *name;
	u64 bytes;
} pieces[] = {{"4k", 4 << 10}, {"64k", 64 << 10}, {"1m", 1 << 20}, {"2m", 2 << 20}};

static const struct {
	const char *name;
	unsigned int order;
} orders[] = {{"9", 9}, {"0", 0}};

/* What is measured. */
struct subject {
	struct run *run;
	struct inode *inode;
	char *bytes; /* of the file: its folios lie one behind the other */
	int memfd;
	char *buf;
};

/* Seconds, by column and run. */
typedef double times_t[NR_COLUMNS][MEASURED_RUNS];

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* ---- the loop ---- */

/* folio_try_get() */
static bool try_get(struct folio *folio)
{
	int refs = __atomic_load_n(&folio->_refcount, __ATOMIC_RELAXED);

	do {
		if (!refs)
			return false;
	} while (!__atomic_compare_exchange_n(&folio->_refcount, &refs, refs + 1, true,
					      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
	return true;
}

/* shmem_get_folio(): the locked folio with a reference; NULL where there is none. */
static struct folio *get_locked(struct inode *inode, pgoff_t index)
{
	struct folio *folio = xa_load(&inode->i_mapping->i_pages, index);

	if (!folio || !try_get(folio))
		return NULL;
	while (__atomic_fetch_or(&folio->flags, BIT(PG_locked), __ATOMIC_ACQUIRE) & BIT(PG_locked))
		;
	return folio->mapping == inode->i_mapping && folio_test_uptodate(folio) ? folio : NULL;
}

/* folio_unlock() */
static void unlock(struct folio *folio)
{
	__atomic_fetch_and(&folio->flags, ~BIT(PG_locked), __ATOMIC_RELEASE);
}

/* folio_put() of a folio that the file keeps. */
static bool put(struct folio *folio)
{
	return __atomic_sub_fetch(&folio->_refcount, 1, __ATOMIC_RELEASE) != 0;
}

/* How much a turn covers; 0: nothing of it can be read. */
static size_t unit(const struct folio *folio, pgoff_t index, enum column stage)
{
	if (stage == BEFORE)
		return folio_page_hwpoison(folio, index) ? 0 : PAGE;
	if (stage == V1)
		return folio_contain_hwpoisoned_page(folio) ? 0 : folio_size(folio);
	if (folio_page_hwpoison(folio, index))
		return 0;
	return folio_contain_hwpoisoned_page(folio) ? PAGE : folio_size(folio);
}

/* copy_folio_to_iter(): one call, and inside of it a page after the other. */
static void copy(char *to, const char *from, size_t bytes)
{
	for (size_t n; bytes; bytes -= n, to += n, from += n) {
		n = min(bytes, PAGE - ((uintptr_t)from & (PAGE - 1)));
		memcpy(to, from, n);
	}
}

/* read(2) of @bs bytes at @pos; false if not all arrived. */
static bool read_piece(struct inode *inode, char *to, loff_t pos, u64 bs, enum column stage)
{
	loff_t end = pos + bs;

	while (pos < end && pos < i_size_read(inode)) {
		struct folio *folio = get_locked(inode, pos / PAGE);
		size_t size, n;

		if (!folio)
			return false;
		unlock(folio);
		size = unit(folio, pos / PAGE, stage);
		n = min_t(size_t, min(i_size_read(inode), end) - pos, size - (pos & (size - 1)));
		if (size)
			copy(to, (char *)folio_address(folio) + (pos & (folio_size(folio) - 1)), n);
		if (!put(folio) || !size)
			return false;
		pos += n;
		to += n;
	}
	return pos == end;
}

/* ---- what stands beside it ---- */

/* Of the file from @pos to @end, in pieces of @bs. */
static bool read_range(const struct subject *s, enum column column, loff_t pos, loff_t end, u64 bs)
{
	bool ok = true;

	for (; ok && pos < end; pos += bs)
		if (column == MEMCPY)
			memcpy(s->buf, s->bytes + pos, bs);
		else if (column == HOST_READ)
			ok = pread(s->memfd, s->buf, bs, pos) == (ssize_t)bs;
		else
			ok = read_piece(s->inode, s->buf, pos, bs, column);
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
			double start = seconds();

			if (!read_range(s, c, pos, pos + STRETCH, bs))
				return -EIO;
			times[c] += seconds() - start;
		}
	return 0;
}

static int measure_piece(const struct subject *s, u64 bs, times_t times)
{
	for (unsigned int i = 0; i < MEASURED_RUNS; i++) {
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

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The middle one of what @a took by what @b took in the same run. */
static double median_ratio(const double *a, const double *b)
{
	double ratios[MEASURED_RUNS];

	for (unsigned int i = 0; i < MEASURED_RUNS; i++)
		ratios[i] = a[i] / b[i];
	qsort(ratios, MEASURED_RUNS, sizeof(double), compare_double);
	return ratios[MEASURED_RUNS / 2];
}

static double gib_per_second(const double *times)
{
	double sorted[MEASURED_RUNS];

	memcpy(sorted, times, sizeof(sorted));
	qsort(sorted, MEASURED_RUNS, sizeof(double), compare_double);
	return (double)MEASURED_BYTES / (1 << 30) / sorted[MEASURED_RUNS / 2];
}

static void put_row(FILE *f, unsigned int order, unsigned int piece, times_t times)
{
	fprintf(f, "  %5s %4s", orders[order].name, pieces[piece].name);
	for (unsigned int c = 0; c < NR_COLUMNS; c++)
		fprintf(f, " %8.1f", gib_per_second(times[c]));
	fprintf(f, "    %5.2f    %5.2f\n", median_ratio(times[BEFORE], times[MERGED]),
		median_ratio(times[MEMCPY], times[MERGED]));
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
	put_check(f, "64k, merged / before", median_ratio(before, merged), 1.10, 0);
	put_check(f, "4k, merged / before", median_ratio(times[0][BEFORE], times[0][MERGED]), 0.97,
		  1.03);
	put_check(f, "64k, merged / memcpy", median_ratio(times[1][MEMCPY], merged), 0.90, 0);
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
		struct folio *folio = get_locked(s->inode, pos / PAGE);
		char *p;

		if (!folio)
			return -EIO;
		p = (char *)folio_address(folio) + (pos & (folio_size(folio) - 1));
		if (!pos)
			s->bytes = p;
		if (p != s->bytes + pos)
			return -EIO;
		memset(p, 1 + pos / PAGE, PAGE);
		unlock(folio);
		put(folio);
	}
	return 0;
}

static int subject_init(struct subject *s, unsigned int order, struct fl_error *err)
{
	int ret;

	*s = (struct subject){.memfd = -1};
	s->buf = aligned_alloc(PAGE, pieces[ARRAY_SIZE(pieces) - 1].bytes);
	if (!s->buf)
		return -ENOMEM;
	memset(s->buf, 0, pieces[ARRAY_SIZE(pieces) - 1].bytes);
	ret = bench_tmpfs_open(order, MEASURED_BYTES, &s->run, err);
	if (ret)
		return ret;
	s->inode = s->run->inode;
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
			put_row(f, order, b, times[b]);
	}
	subject_fini(&s);
	return ret;
}

int bench_tmpfs_measure(struct out *o, struct fl_error *err)
{
	static times_t times[ARRAY_SIZE(orders)][ARRAY_SIZE(pieces)];
	int ret = 0;

	fprintf(o->f,
		"\nThis host, GiB/s: %lld MiB, median of %d interleaved runs; references and "
		"folio\n"
		"locks are locked instructions; 'read(2)' is this host's own tmpfs\n"
		"  order   bs   before       v1   merged   memcpy  read(2)   /before  /memcpy\n",
		MEASURED_BYTES >> 20, MEASURED_RUNS);
	for (unsigned int i = 0; !ret && i < ARRAY_SIZE(orders); i++)
		ret = measure_order(o->f, i, times[i], err);
	if (!ret)
		put_checks(o->f, times[0]);
	if (ret && !err->code)
		fl_error_set(err, ret, NULL, 0, "%s", strerror(-ret));
	return ret;
}
