/*
 * mm/page_state.h - what is known of every single page: why it is here, whether it was used.
 *
 * One byte a page frame in machine->page_state. Linux has no counterpart; this is what the waste
 * line of a run and the views' provenance are made of.
 *
 * Invariant  a page not in any cache has state 0; used + unused pages = pages brought in.
 */
#ifndef FL_MM_PAGE_STATE_H
#define FL_MM_PAGE_STATE_H

#include "mm/mm_types.h"

/* What brought a page into the cache. */
enum page_provenance {
	PROVENANCE_NONE,
	PROVENANCE_SYNC,     /* a read missed and opened a window */
	PROVENANCE_ASYNC,    /* a readahead mark was met */
	PROVENANCE_FORCED,   /* the request itself: random file, readahead off, single page */
	PROVENANCE_WILLNEED, /* fadvise(WILLNEED), readahead(2), madvise(WILLNEED) */
	PROVENANCE_WRITE,    /* a write made it */
	PROVENANCE_FAULT,    /* a page fault made it */
	PROVENANCE_NR,
};

#define PAGE_PROVENANCE_MASK 0x07
#define PAGE_USED	     0x08 /* a reader got bytes of it */
#define PAGE_HWPOISON	     0x10 /* the memory behind it is bad */

_Static_assert(PROVENANCE_NR <= 8, "machine->page_used has 8 counters");

/* Pages by what brought them in, and their fate; those used are in machine->page_used. */
struct page_stats {
	u64 brought[PROVENANCE_NR]; /* pages inserted */
	u64 evicted;		    /* pages that left the cache */
	u64 evicted_unused;	    /* of these, never used */
};

/* "sync window", "willneed", ... */
const char *page_provenance_name(unsigned int provenance);

/* All pages of @folio were just brought in by @provenance. */
void page_state_insert(struct folio *folio, enum page_provenance provenance);
/* All pages of @folio leave the cache. Returns how many of them had been used. */
unsigned int page_state_remove(struct folio *folio);

/* A reader got @len (> 0) bytes from byte @offset of the folio on. */
static inline void page_state_use(struct machine *m, const struct folio *folio, size_t offset,
				  size_t len)
{
	u8 *state = m->page_state + folio->_pfn + (offset >> m->page_shift);
	u8 *last = m->page_state + folio->_pfn + ((offset + len - 1) >> m->page_shift);

	for (; state <= last; state++)
		if (!(*state & PAGE_USED)) {
			m->page_used[*state & PAGE_PROVENANCE_MASK]++;
			*state |= PAGE_USED;
		}
}

#endif
