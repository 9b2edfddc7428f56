#include "lib/zip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#define SIZE_MAX_BYTES (2U << 30)
#define DATE_1980      0x21 /* 1 January */
#define VERSION	       20
#define FROM_UNIX      (3 << 8)

int zip_init(struct zip *z, FILE *f)
{
	*z = (struct zip){.f = f, .files = calloc(ZIP_FILES_MAX, sizeof(*z->files))};
	return z->files ? 0 : -ENOMEM;
}

void zip_fini(struct zip *z)
{
	free(z->files);
	*z = (struct zip){0};
}

static void put(struct zip *z, const void *data, size_t len)
{
	fwrite(data, 1, len, z->f);
	z->size += len;
}

/* Little endian, @bytes of them. */
static void put_number(struct zip *z, u32 v, unsigned int bytes)
{
	unsigned char b[4] = {v, v >> 8, v >> 16, v >> 24};

	put(z, b, bytes);
}

/* What both headers of a file have in common, from "version needed" on. */
static void put_file(struct zip *z, const struct zip_file *file)
{
	put_number(z, VERSION, 2);
	put_number(z, 0, 2); /* flags */
	put_number(z, 0, 2); /* stored */
	put_number(z, 0, 2); /* midnight */
	put_number(z, DATE_1980, 2);
	put_number(z, file->crc, 4);
	put_number(z, file->size, 4);
	put_number(z, file->size, 4);
	put_number(z, strlen(file->name), 2);
	put_number(z, 0, 2); /* extra field */
}

int zip_add(struct zip *z, const char *name, const void *data, size_t len, bool executable)
{
	struct zip_file *file = &z->files[z->nr];

	if (z->nr == ZIP_FILES_MAX || len > SIZE_MAX_BYTES - z->size - ZIP_FILES_MAX * 512)
		return -E2BIG;
	if (strlen(name) >= ZIP_NAME_MAX)
		return -ENAMETOOLONG;
	strcpy(file->name, name);
	file->crc = crc32(crc32(0, NULL, 0), data, len);
	file->size = len;
	file->start = z->size;
	file->executable = executable;
	z->nr++;
	put_number(z, 0x04034b50, 4);
	put_file(z, file);
	put(z, name, strlen(name));
	put(z, data, len);
	return 0;
}

void zip_finish(struct zip *z)
{
	u32 start = z->size, size;

	for (unsigned int i = 0; i < z->nr; i++) {
		const struct zip_file *file = &z->files[i];

		put_number(z, 0x02014b50, 4);
		put_number(z, FROM_UNIX | VERSION, 2);
		put_file(z, file);
		put_number(z, 0, 2); /* comment */
		put_number(z, 0, 2); /* disk */
		put_number(z, 0, 2); /* internal attributes */
		put_number(z, (u32)(S_IFREG | (file->executable ? 0755 : 0644)) << 16, 4);
		put_number(z, file->start, 4);
		put(z, file->name, strlen(file->name));
	}
	size = z->size - start;
	put_number(z, 0x06054b50, 4);
	put_number(z, 0, 4); /* disks */
	put_number(z, z->nr, 2);
	put_number(z, z->nr, 2);
	put_number(z, size, 4);
	put_number(z, start, 4);
	put_number(z, 0, 2); /* comment */
}
