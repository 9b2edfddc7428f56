/*
 * lib/zip.h - write a zip archive, stored without compression.
 *
 * Times are 1980-01-01, so that the same files give the same bytes. What unpacks it gets the mode
 * of each file.
 *
 * Owner      zip_init() to zip_fini(); the stream is the caller's and starts empty.
 * Errors     -E2BIG past ZIP_FILES_MAX files or 2 GiB, -ENAMETOOLONG; failed writes stay in the
 * stream.
 */
#ifndef FL_LIB_ZIP_H
#define FL_LIB_ZIP_H

#include <stdio.h>

#include "lib/types.h"

#define ZIP_FILES_MAX 256
#define ZIP_NAME_MAX  256

struct zip_file {
	char name[ZIP_NAME_MAX];
	u32 crc, size, start; /* where its header begins */
	bool executable;
};

struct zip {
	FILE *f;
	u32 size; /* bytes written */
	unsigned int nr;
	struct zip_file *files;
};

/* 0 or -ENOMEM. */
int zip_init(struct zip *z, FILE *f);
void zip_fini(struct zip *z);

/* Add a file called @name ('/' between folders). */
int zip_add(struct zip *z, const char *name, const void *data, size_t len, bool executable);

/* The directory at the end; nothing is added after it. */
void zip_finish(struct zip *z);

#endif
