/*
 * copy PIECE ROUNDS - reads of the page cache against memcpy of the same bytes.
 *
 * A file of 8 MiB is cached on a machine with data; then reads of PIECE bytes from its begin to its
 * end and memcpy() of the same pieces, from the same folios to the same buffer, take turns in one
 * process; memcpy() knows beforehand where the bytes are. Writes "MINIATURE MEMCPY RATIO": medians
 * in MB/s, and the median of the rounds' ratios.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fs/read_write.h"
#include "lab/run.h"
#include "mm/pagemap.h"

#define FILE_BYTES (8u << 20)
#define PASSES	   2 /* over the file, in one round */
#define ROUNDS_MAX 1001

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* others may run beside us */
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* What memcpy() is asked for: the bytes of a piece that lie in one folio. */
struct part {
	const char *from;
	size_t to; /* offset in the buffer */
	size_t len;
};

/* Every part of the file, in order; returns how many. */
static size_t find_parts(struct run *run, size_t piece, struct part *parts)
{
	size_t nr = 0;

	for (loff_t pos = 0; pos < FILE_BYTES; pos += parts[nr++].len) {
		struct folio *folio =
			filemap_get_folio(run->inode->i_mapping, pos >> run->machine->page_shift);
		size_t offset = pos - folio_pos(folio);

		parts[nr].from = (const char *)folio_address(folio) + offset;
		parts[nr].to = pos % piece;
		parts[nr].len = min(folio_size(folio) - offset, piece - pos % piece);
		folio_put(folio);
	}
	return nr;
}

static double time_memcpy(const struct part *parts, size_t nr, char *buf)
{
	double start = now();

	for (unsigned int pass = 0; pass < PASSES; pass++)
		for (size_t i = 0; i < nr; i++)
			memcpy(buf + parts[i].to, parts[i].from, parts[i].len);
	return now() - start;
}

static double time_reads(struct run *run, char *buf, size_t piece)
{
	struct file *file = run_file(run);
	double start = now();

	for (unsigned int i = 0; i < PASSES; i++) {
		vfs_llseek(file, 0);
		while (ksys_read(file, buf, piece) > 0)
			;
	}
	return now() - start;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(double *v, unsigned int n)
{
	qsort(v, n, sizeof(*v), by_value);
	return v[n / 2];
}

static void measure(struct run *run, char *buf, size_t piece, unsigned int rounds)
{
	static double reads[ROUNDS_MAX], copies[ROUNDS_MAX], ratios[ROUNDS_MAX];
	static struct part parts[FILE_BYTES / 512];
	double mb = (double)FILE_BYTES * PASSES / 1e6;
	size_t nr;

	time_reads(run, buf, piece);
	nr = find_parts(run, piece, parts);
	for (unsigned int i = 0; i < rounds; i++) {
		copies[i] = mb / time_memcpy(parts, nr, buf);
		reads[i] = mb / time_reads(run, buf, piece);
		ratios[i] = reads[i] / copies[i];
	}
	printf("%.0f %.0f %.3f\n", median(reads, rounds), median(copies, rounds),
	       median(ratios, rounds));
}

int main(int argc, char **argv)
{
	size_t piece = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned int rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	struct fl_error err = {0};
	struct run_config config;
	struct run *run;
	char *buf;

	if (argc != 3 || piece < 512 || FILE_BYTES % piece || !rounds || rounds > ROUNDS_MAX) {
		fprintf(stderr, "usage: copy PIECE ROUNDS\n");
		return 2;
	}
	run_config_init(&config);
	config.disk = "ram";
	config.size = FILE_BYTES;
	config.machine.data = true;
	config.machine.memory = 64 << 20;
	buf = aligned_alloc(4096, round_up(piece, 4096));
	if (!buf || run_open(&config, &run, &err)) {
		fprintf(stderr, "copy: %s\n", err.text);
		return 2;
	}
	measure(run, buf, piece, rounds);
	run_close(run);
	free(buf);
	return 0;
}
