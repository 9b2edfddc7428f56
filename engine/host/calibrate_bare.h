/*
 * host/calibrate_bare.h - what the machine can do without any page cache.
 *
 * Owner      nothing is kept; the disk's file has no name.
 * Errors     a figure that cannot be had is 0.
 */
#ifndef FL_HOST_CALIBRATE_BARE_H
#define FL_HOST_CALIBRATE_BARE_H

#include "lib/types.h"

struct calibrate_bare {
	u64 memcpy_ps;	      /* a byte, from and to memory far larger than the caches */
	u64 memcpy_cached_ps; /* a byte, 16 KiB to 16 KiB */
	u64 atomic_ps;	      /* a locked addition nobody contends */
	u64 miss_ps;	      /* a load that has to come from memory */
	u64 disk_read_ns;     /* 4 KiB from a random place, asked for alone */
	u64 disk_ps;	      /* a byte of a long sequential read */
};

/* Memory and processor. */
void calibrate_bare_memory(struct calibrate_bare *bare);
/* The disk under folder @dir. */
void calibrate_bare_disk(struct calibrate_bare *bare, const char *dir);

#endif
