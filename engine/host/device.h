/*
 * host/device.h - what the host says of a file and the disk under it.
 *
 * Uses       stat(2), statfs(2), /sys/dev/block/MAJOR:MINOR.
 * Errors     a figure that cannot be had is 0 or an empty string; nothing here fails a run.
 */
#ifndef FL_HOST_DEVICE_H
#define FL_HOST_DEVICE_H

#include <sys/stat.h>

#include "lib/types.h"

struct host_device {
	unsigned int major, minor;
	u64 ino, size;
	unsigned int disk_major, disk_minor; /* whose partition it is; 0:0 if of none */
	u64 start_sector;		     /* of the partition on that disk */
	u64 read_ahead_kb;		     /* 0: unknown */
	u64 max_sectors_kb;		     /* 0: unknown */
	char fs[32]; /* "ext4", "ext4-1k", "xfs" as --fs calls them; "" for others */
	unsigned int block_size;
	char release[65];    /* uname -r */
	const char *profile; /* that plays as this kernel; NULL if there is none */
};

/* @fd is an open regular file. */
void host_device_read(int fd, struct host_device *dev);

/* Number of requests under way on the file's disk; -1 if that cannot be told. */
int host_device_inflight(const struct host_device *dev);
/* Wait until the disk is idle, at most a second. */
void host_device_wait_idle(const struct host_device *dev);

#endif
