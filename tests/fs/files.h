/*
 * tests/fs/files.h - a file set up for a test, and what its cache and its disk came to, as the
 * specification of ext4 writes it: "0:o4 16:o3" is an order-4 folio at page 0 and an order-3 one
 * at page 16, "2*o9" are two folios of order 9 and nothing else.
 *
 * Owner      texts are overwritten by the next call of the same function.
 */
#ifndef FL_TESTS_FS_FILES_H
#define FL_TESTS_FS_FILES_H

#include "fs/ext4/ext4.h"
#include "mm/scene.h"

/* An empty file on a disk that answers at once. */
struct run_config file_config(const char *kernel, const char *fs);

/* Every cached folio of pages [first, last]. */
const char *file_folios(struct run *run, pgoff_t first, pgoff_t last);
/* The same without places: runs of equal orders. */
const char *file_orders(struct run *run, pgoff_t first, pgoff_t last);

/* Units charged so far, whoever paid. */
u64 cost_units(const struct run *run, enum cost_id id);

/* The sizes of the bios with data of files that are sent while it listens. */
struct bio_list {
	struct trace_sink sink;
	unsigned int nr;
	u32 sectors[4096];
	char text[1024];
};

void bio_list_begin(struct bio_list *b, struct run *run);
/* "32K 1K*4 28K" */
const char *bio_list_end(struct bio_list *b, struct run *run);

#endif
