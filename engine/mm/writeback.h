/*
 * mm/writeback.h - dirty folios and their way to disk.
 *
 * Mirrors    include/linux/writeback.h, mm/page-writeback.c.
 * Invariant  a dirty folio bears PAGECACHE_TAG_DIRTY, one under writeback PAGECACHE_TAG_WRITEBACK.
 * Owner      a writeback_control is on the caller's stack.
 * Errors     0 or the first error met.
 * Differs    one device, so no shares of the limits; the flusher works when a writer looks, beside
 *            its clock, and with several tasks only reclaim and fsync write back.
 */
#ifndef FL_MM_WRITEBACK_H
#define FL_MM_WRITEBACK_H

#include "mm/pagemap.h"

enum writeback_sync_modes { WB_SYNC_NONE, WB_SYNC_ALL };

struct writeback_control {
	long nr_to_write;
	loff_t range_start, range_end; /* bytes, inclusive */
	enum writeback_sync_modes sync_mode;
	bool range_cyclic; /* from where the last one ended, range or not */
};

/* Mark dirty through the mapping's operations; true if it was clean. */
bool folio_mark_dirty(struct folio *folio);
/* What operations without buffers do. */
bool filemap_dirty_folio(struct address_space *mapping, struct folio *folio);
/* Writeback takes the folio over: true if it was dirty. The tag stays until writeback starts. */
bool folio_clear_dirty_for_io(struct folio *folio);
void folio_start_writeback(struct folio *folio);
/* The same, but what is left of the folio is found again in this writeback. */
void folio_start_writeback_keepwrite(struct folio *folio);
void folio_end_writeback(struct folio *folio);
void folio_wait_writeback(struct folio *folio);
/* The dirty state is thrown away with the data. */
void folio_cancel_dirty(struct folio *folio);

/* Folios of pages [start, end] that are dirty now bear PAGECACHE_TAG_TOWRITE from here on. */
void tag_pages_for_writeback(struct address_space *mapping, pgoff_t start, pgoff_t end);
/*
 * The next folio at or behind *index, up to @end, that bears @tag, referenced; *index moves behind
 * it. NULL if there is none. mm/filemap.c filemap_get_folios_tag(), one at a time.
 */
struct folio *filemap_next_tagged(struct address_space *mapping, pgoff_t *index, pgoff_t end,
				  xa_mark_t tag);
/* Wait for writeback of pages [index, end]. mm/filemap.c __filemap_fdatawait_range() */
void filemap_fdatawait_pages(struct address_space *mapping, pgoff_t index, pgoff_t end);

typedef int (*writepage_t)(struct folio *folio, struct writeback_control *wbc, void *data);

/*
 * Call @writepage for every dirty folio of the range, in order, locked and no longer dirty; it
 * unlocks. mm/page-writeback.c write_cache_pages().
 */
int write_cache_pages(struct address_space *mapping, struct writeback_control *wbc,
		      writepage_t writepage, void *data);
int do_writepages(struct address_space *mapping, struct writeback_control *wbc);

/* Write the byte range back; lend inclusive. */
int filemap_write_and_wait_range(struct address_space *mapping, loff_t lstart, loff_t lend);
bool filemap_range_needs_writeback(struct address_space *mapping, loff_t lstart, loff_t lend);

/* /proc/sys/vm: percent of memory that may be dirty before the flusher begins, and before writers
 * wait. */
#define DIRTY_BACKGROUND_RATIO 10
#define DIRTY_RATIO	       20
/* Dirty data is written back when it is this old, looked for this often; virtual time. */
#define DIRTY_EXPIRE_PS	   (30 * 1000000000000ULL)
#define DIRTY_WRITEBACK_PS (5 * 1000000000000ULL)

/*
 * A writer made folios of @mapping dirty: above the background limit the flusher begins, above the
 * limit the writer waits until enough is on disk; what is old is written back.
 * mm/page-writeback.c balance_dirty_pages(), fs/fs-writeback.c wb_workfn().
 */
void balance_dirty_pages_ratelimited(struct address_space *mapping);

/* Everything dirty in the machine: what flusher threads do under memory pressure. */
void wakeup_flusher_threads(struct machine *m);

/* ---- writing through the cache: mm/filemap.c ---- */

#define FGP_LOCK       0x02
#define FGP_WRITE      0x08
#define FGP_CREAT      0x04
#define FGP_STABLE     0x80
#define FGP_WRITEBEGIN (FGP_LOCK | FGP_WRITE | FGP_CREAT | FGP_STABLE)

/*
 * The locked folio over @index, made if it is not there (FGP_CREAT). @size_hint in bytes is what
 * the caller is going to fill (0: no hint): the folio is as large as the hint, the alignment, the
 * mapping and what is cached around it allow. -ENOENT, -ENOMEM. mm/filemap.c __filemap_get_folio().
 */
int __filemap_get_folio(struct address_space *mapping, pgoff_t index, int fgp_flags,
			size_t size_hint, struct folio **ret);

ssize_t generic_perform_write(struct kiocb *iocb, struct iov_iter *iter);

#endif
