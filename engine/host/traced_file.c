#include "host/traced_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

int host_traced_init(struct host_traced *t, const char *path, struct fl_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	*t = (struct host_traced){.path = path};
	if (fd < 0)
		return fl_error_set(err, -errno, path, 0, "%s, expected a readable file",
				    strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return fl_error_set(err, -EINVAL, path, 0, "not a regular file, expected one");
	}
	host_device_read(fd, &t->dev);
	if (host_fiemap(fd, t->dev.size, ilog2(t->dev.block_size), &t->layout))
		t->layout = (struct host_layout){0};
	close(fd);
	return 0;
}

void host_traced_fini(struct host_traced *t)
{
	host_layout_fini(&t->layout);
}

static u32 disk_of(const struct host_traced *t)
{
	return IMPORT_DEV(t->dev.disk_major, t->dev.disk_minor);
}

struct host_trace_filter host_traced_filter(const struct host_traced *t)
{
	return (struct host_trace_filter){
		.ino = t->dev.ino,
		.dev = IMPORT_DEV(t->dev.major, t->dev.minor),
		.disk = disk_of(t),
	};
}

/* Does the I/O meet an extent? Requests may join several, and those of neighbours. */
static bool is_on_file(void *ctx, u64 sector, u32 nr)
{
	const struct host_traced *t = ctx;
	u64 first = (sector - min(sector, t->dev.start_sector)) << 9, end = first + ((u64)nr << 9);

	for (unsigned int i = 0; i < t->layout.nr; i++) {
		const struct disk_piece *p = &t->layout.pieces[i];

		if (first < p->disk_off + p->len && end > p->disk_off)
			return true;
	}
	return false;
}

struct import_options host_traced_options(const struct host_traced *t)
{
	return (struct import_options){
		.ino = t->dev.ino,
		.dev = IMPORT_DEV(t->dev.major, t->dev.minor),
		.has_dev = true,
		.disk = disk_of(t),
		.wanted = is_on_file,
		.ctx = (void *)t,
	};
}

static void describe_file(const struct host_traced *t, struct recording_info *info)
{
	snprintf(info->file, sizeof(info->file), "%s", t->path);
	snprintf(info->fs, sizeof(info->fs), "%s", t->dev.fs);
	info->size = t->dev.size;
	info->block_size = t->dev.block_size;
	info->ra_pages = (t->dev.read_ahead_kb << 10) / info->page_size;
	info->io_pages = (t->dev.max_sectors_kb << 10) / info->page_size;
}

void host_traced_info(const struct host_traced *t, struct recording_info *info)
{
	struct utsname uts;
	long pages = sysconf(_SC_PHYS_PAGES);

	*info = (struct recording_info){.source = "host", .disk = "host"};
	info->page_size = sysconf(_SC_PAGESIZE);
	info->memory = pages > 0 ? pages * info->page_size : 0;
	if (!uname(&uts))
		snprintf(info->kernel, sizeof(info->kernel), "%s", uts.release);
	if (t)
		describe_file(t, info);
}
