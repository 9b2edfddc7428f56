/*
 * mm/mm_types.h - struct folio and its flags.
 *
 * Mirrors    include/linux/mm_types.h, page-flags.h.
 * Invariant  a folio of order k holds the pages _pfn .. _pfn + 2^k - 1, _pfn a multiple of 2^k;
 *            in a mapping its index is a multiple of 2^k too.
 * Owner      reference counted: folio_alloc() returns one reference, the page cache holds one a
 *            page, an LRU batch holds one.
 * Differs    one struct a folio instead of one a page; what is known of single pages (provenance,
 *            fate, poison) is a byte in machine->page_state. _pfn and _order are ours: the kernel
 *            derives them from the address of the struct and from _flags_1.
 */
#ifndef FL_MM_MM_TYPES_H
#define FL_MM_MM_TYPES_H

#include "lib/list.h"
#include "lib/types.h"
#include "machine/machine.h"

struct address_space;

enum pageflags {
	PG_locked,
	PG_referenced,
	PG_uptodate,
	PG_dirty,
	PG_lru,
	PG_active,
	PG_workingset,
	PG_private,
	PG_writeback,
	PG_reclaim,
	PG_swapbacked,
	PG_unevictable,
	PG_mappedtodisk,
	PG_dropbehind,
	PG_hwpoison,
	PG_has_hwpoisoned,
	NR_PAGEFLAGS,
	PG_readahead = PG_reclaim, /* one bit, two meanings: read side and write side */
};

struct folio {
	unsigned long flags;	       /* enum pageflags; any time */
	struct list_head lru;	       /* under lru_lock; next free struct folio when free */
	struct address_space *mapping; /* under the folio lock; NULL when not in a cache */
	pgoff_t index;		       /* first page's index in its mapping */
	void *private;		       /* the file system's, with PG_private */
	s32 _mapcount;		       /* PTEs and PMDs that map it, all pages together */
	s32 _refcount;
	u32 _pfn; /* first page frame */
	u8 _order;
	u8 _entire_mapcount;  /* PMDs that map it */
	u16 _nr_pages_mapped; /* pages mapped by a PTE at least once; large folios only */
};

_Static_assert(sizeof(struct folio) == 64, "one cache line a folio");

static inline struct machine *folio_machine(const struct folio *folio)
{
	return (struct machine *)((uintptr_t)folio & ~(uintptr_t)(MACHINE_SPAN - 1));
}

static inline unsigned int folio_order(const struct folio *folio)
{
	return folio->_order;
}

static inline unsigned long folio_nr_pages(const struct folio *folio)
{
	return 1UL << folio->_order;
}

static inline bool folio_test_large(const struct folio *folio)
{
	return folio->_order != 0;
}

static inline unsigned int folio_shift(const struct folio *folio)
{
	return folio_machine(folio)->page_shift + folio->_order;
}

static inline size_t folio_size(const struct folio *folio)
{
	return (size_t)1 << folio_shift(folio);
}

static inline loff_t folio_pos(const struct folio *folio)
{
	return (loff_t)folio->index << folio_machine(folio)->page_shift;
}

static inline pgoff_t folio_next_index(const struct folio *folio)
{
	return folio->index + folio_nr_pages(folio);
}

static inline unsigned long folio_pfn(const struct folio *folio)
{
	return folio->_pfn;
}

/* Host address of the folio's bytes, NULL on a machine without data. */
static inline void *folio_address(const struct folio *folio)
{
	return page_address(folio_machine(folio), folio->_pfn);
}

#define FOLIO_FLAG(name)                                                                           \
	static inline bool folio_test_##name(const struct folio *folio)                            \
	{                                                                                          \
		return folio->flags >> PG_##name & 1;                                              \
	}                                                                                          \
	static inline void folio_set_##name(struct folio *folio)                                   \
	{                                                                                          \
		folio->flags |= BIT(PG_##name);                                                    \
	}                                                                                          \
	static inline void folio_clear_##name(struct folio *folio)                                 \
	{                                                                                          \
		folio->flags &= ~BIT(PG_##name);                                                   \
	}                                                                                          \
	static inline bool folio_test_clear_##name(struct folio *folio)                            \
	{                                                                                          \
		bool was = folio_test_##name(folio);                                               \
		folio_clear_##name(folio);                                                         \
		return was;                                                                        \
	}

FOLIO_FLAG(locked)
FOLIO_FLAG(referenced)
FOLIO_FLAG(uptodate)
FOLIO_FLAG(dirty)
FOLIO_FLAG(lru)
FOLIO_FLAG(active)
FOLIO_FLAG(workingset)
FOLIO_FLAG(private)
FOLIO_FLAG(writeback)
FOLIO_FLAG(readahead)
FOLIO_FLAG(swapbacked)
FOLIO_FLAG(unevictable)
FOLIO_FLAG(dropbehind)
FOLIO_FLAG(hwpoison)
FOLIO_FLAG(has_hwpoisoned)

#undef FOLIO_FLAG

static inline void folio_ref_add(struct folio *folio, int nr)
{
	folio->_refcount += nr;
}

static inline int folio_ref_count(const struct folio *folio)
{
	return folio->_refcount;
}

static inline void folio_get(struct folio *folio)
{
	folio->_refcount++;
}

/* Not a folio that is about to be freed. include/linux/page_ref.h */
static inline bool folio_try_get(struct folio *folio)
{
	if (unlikely(!folio->_refcount))
		return false;
	folio->_refcount++;
	return true;
}

/* mm/swap.c __folio_put(): the last reference is gone. */
void __folio_put(struct folio *folio);

static inline void folio_put_refs(struct folio *folio, int refs)
{
	folio->_refcount -= refs;
	if (unlikely(!folio->_refcount))
		__folio_put(folio);
}

static inline void folio_put(struct folio *folio)
{
	folio_put_refs(folio, 1);
}

#endif
