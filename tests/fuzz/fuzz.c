#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void fuzz_broken(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
	abort();
}

void fuzz_require_error(int ret, const struct fl_error *err)
{
	fuzz_require(ret >= 0 || err->text[0]);
	fuzz_require(!strchr(err->text, '\n'));
}

int fuzz_file(const u8 *data, size_t size, char *path)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	fuzz_require(fd >= 0);
	fuzz_require(write(fd, data, size) == (ssize_t)size);
	fuzz_require(lseek(fd, 0, SEEK_SET) == 0);
	snprintf(path, 40, "/proc/self/fd/%d", fd);
	return fd;
}

FILE *fuzz_nowhere(void)
{
	FILE *f = fopen("/dev/null", "w");

	fuzz_require(f);
	return f;
}
