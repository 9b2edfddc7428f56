/*
 * host/cached.h - the folios of a host file that are in the host's page cache now.
 *
 * Uses       mincore(2), /proc/self/pagemap, /proc/kpageflags; cachestat(2) without rights.
 * Invariant  nothing is read in: only pages mincore(2) calls resident are touched, through a
 *            mapping with MADV_RANDOM.
 * Owner      the list is the caller's until host_cached_fini().
 * Errors     -EPERM with the missing right where orders are wanted and cannot be told, and where
 * not even counts are: mincore(2) calls every page of somebody else's file resident (134fca9063ad,
 * v5.2).
 */
#ifndef FL_HOST_CACHED_H
#define FL_HOST_CACHED_H

#include "lib/error.h"
#include "lib/types.h"

#define HOST_FOLIO_UPTODATE   0x01
#define HOST_FOLIO_DIRTY      0x02
#define HOST_FOLIO_MARK	      0x04 /* PG_readahead */
#define HOST_FOLIO_REFERENCED 0x08
#define HOST_FOLIO_ACTIVE     0x10
#define HOST_FOLIO_WRITEBACK  0x20

struct host_folio {
	u64 index; /* first page inside the file that is cached */
	u32 nr;	   /* pages of it that lie inside the file */
	u8 order;
	u8 flags;
};

struct host_cached {
	struct host_folio *folios; /* by index; order and flags unknown without rights */
	size_t nr;
	u64 pages;	      /* cached pages */
	u64 dirty, writeback; /* by cachestat(2), where the kernel has it */
	bool exact;	      /* orders and flags are known */
};

/* What is cached of @fd now. @need_exact: fail instead of doing without orders. */
int host_cached_read(int fd, bool need_exact, struct host_cached *cached, struct fl_error *err);
/* Does the kernel tell this user what is cached of @fd? 0, or -EPERM with the missing right. */
int host_cached_told(int fd, struct fl_error *err);
void host_cached_fini(struct host_cached *cached);

#endif
