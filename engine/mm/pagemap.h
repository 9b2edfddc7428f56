/*
 * mm/pagemap.h - the page cache: looking up, adding, reading ahead.
 *
 * Mirrors    include/linux/pagemap.h, pagevec.h, mm/filemap.c, mm/readahead.c.
 * Invariant  every cached index lies in exactly one naturally aligned folio of its mapping.
 * Owner      a folio returned by a lookup carries a reference for the caller.
 * Errors     negative errno: -EEXIST (index taken), -ENOMEM, -EIO, -EAGAIN (NOWAIT, NOIO).
 */
#ifndef FL_MM_PAGEMAP_H
#define FL_MM_PAGEMAP_H

#include "mm/fs.h"
#include "mm/mm_types.h"
#include "mm/page_state.h"

#define __GFP_NORETRY (1u << 0)
#define __GFP_NOWARN  (1u << 1)
#define GFP_KERNEL    0u

/* The most a folio batch can hold; 15 before BATCH31. include/linux/pagevec.h */
#define PAGEVEC_SIZE 31

struct folio_batch {
	unsigned char nr;
	unsigned char max; /* of this machine's kernel */
	struct folio *folios[PAGEVEC_SIZE];
};

static inline void folio_batch_init(const struct machine *m, struct folio_batch *fbatch)
{
	fbatch->nr = 0;
	fbatch->max = knob(m, BATCH31) ? 31 : 15;
}

static inline unsigned int folio_batch_count(const struct folio_batch *fbatch)
{
	return fbatch->nr;
}

/* Append; returns how many more fit. */
static inline unsigned int folio_batch_add(struct folio_batch *fbatch, struct folio *folio)
{
	fbatch->folios[fbatch->nr++] = folio;
	return fbatch->max - fbatch->nr;
}

/* One ->readahead in the making. include/linux/pagemap.h struct readahead_control. */
struct readahead_control {
	struct file *file; /* may be NULL */
	struct address_space *mapping;
	struct file_ra_state *ra;
	pgoff_t _index;			 /* next page to hand out */
	unsigned int _nr_pages;		 /* pages inserted and not yet handed out */
	unsigned int _batch_count;	 /* pages of the folio handed out last */
	enum page_provenance provenance; /* ours: what the pages are brought in by */
	bool dropbehind;
	bool order_given; /* ours: a policy named the order */
	bool _workingset;
};

#define DEFINE_READAHEAD(ractl, f, r, m, i)                                                        \
	struct readahead_control ractl = {.file = f, .mapping = m, .ra = r, ._index = i}

static inline unsigned int mapping_min_folio_order(const struct address_space *mapping)
{
	return mapping->flags >> AS_FOLIO_ORDER_MIN & AS_FOLIO_ORDER_MASK;
}

static inline unsigned int mapping_max_folio_order(const struct address_space *mapping)
{
	return mapping->flags >> AS_FOLIO_ORDER_MAX & AS_FOLIO_ORDER_MASK;
}

static inline unsigned long mapping_min_folio_nrpages(const struct address_space *mapping)
{
	return 1UL << mapping_min_folio_order(mapping);
}

static inline bool mapping_large_folio_support(const struct address_space *mapping)
{
	return mapping_max_folio_order(mapping) > 0;
}

/* Cut to what the machine's page cache can do. mapping_set_folio_order_range(). */
void mapping_set_folio_order_range(struct address_space *mapping, unsigned int min,
				   unsigned int max);

static inline gfp_t mapping_gfp_mask(const struct address_space *mapping)
{
	return mapping->gfp_mask;
}

static inline gfp_t readahead_gfp_mask(const struct address_space *mapping)
{
	return mapping_gfp_mask(mapping) | __GFP_NORETRY | __GFP_NOWARN;
}

/* ---- mm/filemap.c ---- */

void address_space_init_once(struct address_space *mapping, struct inode *host);

/* An event of one slot about @folio; its mapping may be gone. */
static inline void folio_trace(const struct folio *folio, enum trace_event_id id, u32 a, u32 b)
{
	trace_event(&folio_machine(folio)->trace, id, folio->_order,
		    folio->mapping ? folio->mapping->host->i_ino : 0, folio->index, a, b);
}

/* A folio for a cache: counts as an allocation call of that order whatever comes of it. */
struct folio *filemap_alloc_folio(struct machine *m, gfp_t gfp, unsigned int order);

/*
 * Put @folio (locked, one reference of the caller) at @index, a multiple of its size. On success
 * the cache takes one reference a page and the folio goes to the LRU. -EEXIST, -ENOMEM.
 * __filemap_add_folio() leaves LRU and lock alone and hands out the shadow entry it replaced.
 */
int filemap_add_folio(struct address_space *mapping, struct folio *folio, pgoff_t index, gfp_t gfp,
		      enum page_provenance provenance);
int __filemap_add_folio(struct address_space *mapping, struct folio *folio, pgoff_t index,
			gfp_t gfp, void **shadowp);

/* Take a locked folio out of its mapping, leaving @shadow (or NULL); drops the cache's references.
 */
void __filemap_remove_folio(struct folio *folio, void *shadow);
void filemap_remove_folio(struct folio *folio);
void filemap_free_folio(struct address_space *mapping, struct folio *folio);

/* The folio over @index with a reference, or NULL; shadow entries count as absent. */
struct folio *filemap_get_folio(struct address_space *mapping, pgoff_t index);

/*
 * Contiguous folios of [*start, end], at most a batch, referenced; *start moves past them.
 * Returns their number. mm/filemap.c filemap_get_folios() and find_lock_entries() in one.
 */
unsigned int filemap_get_folios(struct address_space *mapping, pgoff_t *start, pgoff_t end,
				struct folio_batch *fbatch);

/*
 * The first missing index of [index, index + max_scan), or (index - max_scan, index] going down.
 * What is returned when nothing is missing, and by how much the walk drifts inside large folios,
 * depends on the kernel (NEXT_MISS_OUTSIDE, NEXT_MISS_FIX, PREV_MISS_FIX, CURSOR_DRIFT).
 */
pgoff_t page_cache_next_miss(struct address_space *mapping, pgoff_t index, unsigned long max_scan);
pgoff_t page_cache_prev_miss(struct address_space *mapping, pgoff_t index, unsigned long max_scan);

/* Copy one piece of a write into a folio. */
size_t copy_folio_from_iter(struct folio *folio, size_t offset, size_t bytes,
			    struct iov_iter *iter);

/* Read through the page cache: bytes delivered, or negative errno if none were. */
ssize_t filemap_read(struct kiocb *iocb, struct iov_iter *iter, ssize_t already_read);
/*
 * Play up to @n reads of @count bytes at the file position at once, as long as each would only
 * copy from the one folio the read before ended in. Does to the machine what @n calls of
 * filemap_read() would. Returns how many were played: 0 where somebody listens, on machines with
 * data, while I/O is under way, and at every folio's end.
 */
u64 filemap_read_plain(struct file *file, size_t count, u64 n);
/* Splice to a pipe that takes everything: bytes, or negative errno. Moves *@ppos. */
ssize_t filemap_splice_read(struct file *in, loff_t *ppos, size_t len);

/* May the file system's private data go? True when there is none. */
bool filemap_release_folio(struct folio *folio, gfp_t gfp);

/* Dirty data of the mapping was lost: the next fsync() of each open file says so, once. */
void mapping_set_error(struct address_space *mapping, int error);
/* The error not seen through @file yet (then 0), or 0. lib/errseq.c */
int file_check_and_advance_wb_err(struct file *file);
/* What a file that is opened now has seen: an error that nobody was told is still news. */
u32 errseq_sample(const struct address_space *mapping);

/* Start writeback of the byte range, @end inclusive. mm/page-writeback.c has the rest. */
int __filemap_fdatawrite_range(struct address_space *mapping, loff_t start, loff_t end);

bool folio_trylock(struct folio *folio);
void folio_lock(struct folio *folio);
void folio_unlock(struct folio *folio);
/* Sleep until the I/O on the folio is done; the clock moves to its completion. */
void folio_wait_locked(struct folio *folio);
/* All bytes of @folio are there. include/linux/page-flags.h */
void folio_mark_uptodate(struct folio *folio);
/* The read into @folio is over: set uptodate if it went well, and unlock. */
void folio_end_read(struct folio *folio, bool success);

/* ---- mm/readahead.c ---- */

void file_ra_state_init(struct file_ra_state *ra, struct address_space *mapping);
void page_cache_sync_ra(struct readahead_control *ractl, unsigned long req_count);
void page_cache_async_ra(struct readahead_control *ractl, struct folio *folio,
			 unsigned long req_count);
/*
 * Read the window in @ra with folios of about @new_order. Up to v6.16 @new_order is the order of
 * the folio that triggered it and grows here; since HONOUR_NEW_ORDER it is taken as it is.
 */
void page_cache_ra_order(struct readahead_control *ractl, struct file_ra_state *ra,
			 unsigned int new_order);
void page_cache_ra_unbounded(struct readahead_control *ractl, unsigned long nr_to_read,
			     unsigned long lookahead_size);
void force_page_cache_ra(struct readahead_control *ractl, unsigned long nr_to_read);
/* Grow the request at both ends, as file systems with larger units do. */
void readahead_expand(struct readahead_control *ractl, loff_t new_start, size_t new_len);
/* readahead(2): 0, -EBADF or -EINVAL. */
int ksys_readahead(struct file *file, loff_t offset, size_t count);

/* The next folio of the request, already unreferenced (the cache still holds it); NULL at the end.
 */
struct folio *readahead_folio(struct readahead_control *rac);

static inline loff_t readahead_pos(const struct readahead_control *rac)
{
	return (loff_t)rac->_index << mapping_machine(rac->mapping)->page_shift;
}

static inline size_t readahead_length(const struct readahead_control *rac)
{
	return (size_t)rac->_nr_pages << mapping_machine(rac->mapping)->page_shift;
}

static inline unsigned int readahead_count(const struct readahead_control *rac)
{
	return rac->_nr_pages;
}

/* ---- mm/fadvise.c ---- */

enum fadvise_advice {
	POSIX_FADV_NORMAL_,
	POSIX_FADV_RANDOM_,
	POSIX_FADV_SEQUENTIAL_,
	POSIX_FADV_WILLNEED_,
	POSIX_FADV_DONTNEED_,
	POSIX_FADV_NOREUSE_,
};

/* posix_fadvise(2): 0 or -EINVAL. @len 0 means to the end. */
int vfs_fadvise(struct file *file, loff_t offset, loff_t len, int advice);

/* ---- mm/truncate.c ---- */

/* Remove everything in the byte range [lstart, lend]; lend -1 is the end. */
void truncate_inode_pages_range(struct address_space *mapping, loff_t lstart, loff_t lend);
void truncate_inode_pages_final(struct address_space *mapping);
/* The size has shrunk to @newsize: cut the cache. */
void truncate_pagecache(struct inode *inode, loff_t newsize);
/*
 * Drop the clean, unused folios wholly inside [start, end] and the shadow entries of the range.
 * Returns the pages dropped; *@nr_failed (may be NULL) counts folios that could be locked but not
 * dropped.
 */
unsigned long mapping_try_invalidate(struct address_space *mapping, pgoff_t start, pgoff_t end,
				     unsigned long *nr_failed);

#endif
