#include "host/device.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "machine/knobs.h"

#define EXT4_MAGIC 0xef53
#define XFS_MAGIC  0x58465342

/* A partition's queue belongs to its disk. */
static FILE *open_queue_file(const struct host_device *dev, const char *name)
{
	static const char *const paths[] = {"/sys/dev/block/%u:%u/queue/%s",
					    "/sys/dev/block/%u:%u/../queue/%s"};

	for (unsigned int i = 0; i < ARRAY_SIZE(paths); i++) {
		char path[128];
		FILE *f;

		snprintf(path, sizeof(path), paths[i], dev->major, dev->minor, name);
		f = fopen(path, "re");
		if (f)
			return f;
	}
	return NULL;
}

static u64 queue_number(const struct host_device *dev, const char *name)
{
	FILE *f = open_queue_file(dev, name);
	unsigned long long v = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%llu", &v) != 1)
		v = 0;
	fclose(f);
	return v;
}

/* A partition has a start, and its disk one level up. */
static void find_disk(struct host_device *dev)
{
	char path[128];
	unsigned long long start;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/start", dev->major, dev->minor);
	f = fopen(path, "re");
	if (!f)
		return;
	if (fscanf(f, "%llu", &start) == 1)
		dev->start_sector = start;
	fclose(f);
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/../dev", dev->major, dev->minor);
	f = fopen(path, "re");
	if (!f)
		return;
	if (fscanf(f, "%u:%u", &dev->disk_major, &dev->disk_minor) != 2)
		dev->disk_major = dev->disk_minor = 0;
	fclose(f);
}

static void name_file_system(int fd, struct host_device *dev)
{
	struct statfs sb;

	if (fstatfs(fd, &sb))
		return;
	dev->block_size = sb.f_bsize;
	if (sb.f_type == EXT4_MAGIC && (sb.f_bsize == 4096 || sb.f_bsize == 1024))
		strcpy(dev->fs, sb.f_bsize == 1024 ? "ext4-1k" : "ext4");
	else if (sb.f_type == XFS_MAGIC && sb.f_bsize == 4096)
		strcpy(dev->fs, "xfs");
}

void host_device_read(int fd, struct host_device *dev)
{
	struct utsname uts;
	struct stat st;

	memset(dev, 0, sizeof(*dev));
	if (!fstat(fd, &st)) {
		dev->major = major(st.st_dev);
		dev->minor = minor(st.st_dev);
		dev->ino = st.st_ino;
		dev->size = st.st_size;
	}
	dev->read_ahead_kb = queue_number(dev, "read_ahead_kb");
	dev->max_sectors_kb = queue_number(dev, "max_sectors_kb");
	find_disk(dev);
	name_file_system(fd, dev);
	if (!uname(&uts))
		snprintf(dev->release, sizeof(dev->release), "%s", uts.release);
	dev->profile = profile_of_release(dev->release);
}

int host_device_inflight(const struct host_device *dev)
{
	char path[64];
	int reads, writes, n;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/inflight", dev->major, dev->minor);
	f = fopen(path, "re");
	if (!f)
		return -1;
	n = fscanf(f, "%d %d", &reads, &writes);
	fclose(f);
	return n == 2 ? reads + writes : -1;
}

void host_device_wait_idle(const struct host_device *dev)
{
	const struct timespec pause = {.tv_nsec = 200000};

	for (int i = 0; i < 5000 && host_device_inflight(dev) > 0; i++)
		nanosleep(&pause, NULL);
}
