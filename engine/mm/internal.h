/*
 * mm/internal.h - what the memory managers share among themselves.
 *
 * Mirrors    mm/internal.h, include/linux/mmzone.h, swap.h.
 * Invariant  managed = free + pages of live folios + pinned; lruvec counts = pages on its lists.
 * Owner      struct mm_state hangs off its machine, from mm_init() to mm_exit().
 * Errors     as said at each function.
 */
#ifndef FL_MM_INTERNAL_H
#define FL_MM_INTERNAL_H

#include "lib/bitmap.h"
#include "lib/xarray.h"
#include "machine/sched.h"
#include "mm/memory-failure.h"
#include "mm/pagemap.h"
#include "mm/shmem_fs.h"
#include "mm/slab.h"

/* 64 KiB pages have buddy orders 0..13. */
#define NR_PAGE_ORDERS_MAX 14
#define PFN_NONE	   (~0UL)

enum zone_watermarks { WMARK_MIN, WMARK_LOW, WMARK_HIGH, NR_WMARK };

/* The buddy allocator: one bitmap an order; bit i is the free block at pfn i << order. */
struct zone {
	struct lock lock;
	struct hbitmap free_area[NR_PAGE_ORDERS_MAX];
	unsigned long managed_pages;
	unsigned long nr_free;
	unsigned long pinned; /* held for ever by --fragment */
	unsigned long _watermark[NR_WMARK];
};

enum lru_list {
	LRU_INACTIVE_ANON,
	LRU_ACTIVE_ANON,
	LRU_INACTIVE_FILE,
	LRU_ACTIVE_FILE,
	LRU_UNEVICTABLE,
	NR_LRU_LISTS,
};

#define LRU_ACTIVE 1

struct lruvec {
	struct list_head lists[NR_LRU_LISTS]; /* newest first; under lru_lock */
	unsigned long nr[NR_LRU_LISTS];	      /* pages */
	unsigned long nonresident_age;	      /* evictions and activations so far */
	struct lock lru_lock;
};

/* mm/swap.c: folios waiting for their LRU list. */
struct cpu_fbatches {
	struct folio_batch lru_add;
	struct folio_batch lru_deactivate_file;
	struct folio_batch lru_activate;
};

/*
 * Free pages of small orders at hand, without zone->lock. They come straight from the buddy system
 * all the same: what is kept here is how many may still be had or given back before the lock is
 * due. Only with several tasks. include/linux/mmzone.h struct per_cpu_pages.
 */
struct per_cpu_pages {
	unsigned int count; /* pages */
};

/* What one CPU, and the task on it, has for itself. */
struct mm_cpu {
	struct cpu_fbatches fbatches;
	struct per_cpu_pages pcp;
	unsigned int memalloc; /* reclaim does not reclaim for itself (PF_MEMALLOC) */
};

/* Counters of the machine, the names of /proc/vmstat. */
struct vm_counters {
	unsigned long nr_file_pages, nr_dirty, nr_writeback;
	unsigned long nr_file_mapped, nr_file_pmdmapped; /* pages */
	u64 pgfault, pgmajfault, thp_file_mapped;
	u64 pgscan_kswapd, pgscan_direct, pgsteal_kswapd, pgsteal_direct;
	u64 workingset_refault_file, workingset_activate_file;
	u64 pgactivate, pgdeactivate, allocstall;
};

/* Per-CPU parts of NR_FILE_MAPPED that wait for their flush. mm/vmstat.c, mm/memcontrol.c */
struct lruvec_stats {
	long node_diff;		     /* not yet in the node's counter */
	unsigned long memcg_pending; /* sum of changes since the last memcg flush */
	long threshold;		     /* largest node_diff that stays */
};

struct mm_state {
	struct zone zone;
	struct lruvec lruvec;
	struct mm_cpu *cpus; /* nr_cpus and kswapd's */
	struct vm_counters vm;
	u64 last_kupdate_ps; /* when old dirty data was last looked for */
	struct page_stats pages;
	struct xa_cache xa_nodes;
	struct slab slab;
	struct list_head mappings; /* every address_space, by m_mappings */
	struct list_head mms;	   /* every mm_struct, by mmlist */
	struct shmem_globals shmem;
	struct mf_state mf;
	u16 *page_mapcount; /* PTEs of each page of a large folio, by pfn */
	struct lruvec_stats stats;
	unsigned int fault_around_pages; /* a power of two */
	/* struct folio slab: [0, next) were handed out before, the rest never. */
	struct folio *folios;
	u64 nr_folios, next_folio;
	struct folio *free_folios; /* linked through lru.next */
	u64 live_folios;
	unsigned long live_pages; /* pages of live folios */
	u64 ra_ps;		  /* virtual time spent inside readahead */
};

/* Between two steps of a read or splice of tmpfs, where a test may change the file. */
static inline void shmem_between(struct inode *inode)
{
	const struct shmem_globals *g = &inode->i_sb->s_machine->mm->shmem;

	if (unlikely(g->between))
		g->between(g->between_ctx, inode);
}

/* What the CPU that runs has. */
static inline struct mm_cpu *this_cpu(const struct machine *m)
{
	return &m->mm->cpus[m->cpu];
}

/* Bytes of struct folio wanted behind struct machine for a memory of that many pages. */
u64 mm_span_wanted(u64 pages);
/* 0 or -ENOMEM. */
int mm_init(struct machine *m);
void mm_exit(struct machine *m);

/* ---- mm/page_alloc.c ---- */

/* 2^order pages: their first pfn, or PFN_NONE. Reclaims as the kernel would. */
unsigned long __alloc_frozen_pages(struct machine *m, gfp_t gfp, unsigned int order);
void __free_frozen_pages(struct machine *m, unsigned long pfn, unsigned int order);
/* A folio with one reference, or NULL. */
struct folio *folio_alloc(struct machine *m, gfp_t gfp, unsigned int order);
/* Give back a folio without references. */
void free_folio(struct folio *folio);
/* A further struct folio for pages that are already allocated (splits); NULL when out of them. */
struct folio *folio_struct_alloc(struct machine *m);
/* A bad page leaves its free block; false if it is in none. put_page_back_buddy() undoes it. */
bool take_page_off_buddy(struct machine *m, unsigned long pfn);
void put_page_back_buddy(struct machine *m, unsigned long pfn);
bool zone_watermark_ok(const struct zone *zone, unsigned int order, unsigned long mark);
int zone_init(struct machine *m);
void zone_exit(struct machine *m);

/* ---- mm/rmap.c ---- */

/* mm/memory.c fault_around_bytes: 64 KiB, at least a page. */
#define FAULT_AROUND_BYTES 65536UL
/* How far a CPU's part of a node counter may drift. mm/vmstat.c */
long calculate_normal_threshold(unsigned int cpus, u64 zone_bytes);

/* ---- mm/filemap.c ---- */
/*
 * A folio that was found has no references: it is on its way out of the tree, so that the next look
 * will not find it. One that a bug left in the tree is found for ever.
 */
void filemap_look_again(struct machine *m);

/* Read one locked folio and wait: 0, -EIO (readahead shrinks), or AOP_TRUNCATED_PAGE. */
int filemap_read_folio(struct file *file, struct folio *folio);

/* ---- mm/swap.c ---- */

void folio_add_lru(struct folio *folio);
void folio_mark_accessed(struct folio *folio);
void deactivate_file_folio(struct folio *folio);
/* To the head of the inactive list. mm/swap.c folio_deactivate(). */
void folio_deactivate(struct folio *folio);
void lru_add_drain(struct machine *m);
/* The same on every CPU. */
void lru_add_drain_all(struct machine *m);
enum lru_list folio_lru_list(const struct folio *folio);
void lruvec_add_folio(struct lruvec *lruvec, struct folio *folio);
void lruvec_add_folio_tail(struct lruvec *lruvec, struct folio *folio);
void lruvec_del_folio(struct lruvec *lruvec, struct folio *folio);

/* ---- mm/workingset.c ---- */

void *workingset_eviction(struct folio *folio);
void workingset_refault(struct folio *folio, void *shadow);
void workingset_activation(struct folio *folio);

/* ---- mm/vmscan.c ---- */

/* Background reclaim until @zone has its high watermark, or nothing more can be had. */
void kswapd_run(struct machine *m);
/*
 * Give @s (of a machine that runs several tasks) its kswapd, a daemon that sleeps until an
 * allocation finds the low watermark reached. After the tasks that work. 0 or -ENOMEM.
 */
int kswapd_spawn(struct machine *m, struct sched *s);
/* The running task reclaims; returns pages freed. */
unsigned long try_to_free_pages(struct machine *m, unsigned int order, gfp_t gfp);
/* MADV_PAGEOUT: reclaim one folio that is on a list, whatever its references; pages freed. */
long reclaim_folio(struct folio *folio);
/* Take a clean, unused, locked folio out of its mapping; pages freed, or 0. */
long remove_mapping(struct address_space *mapping, struct folio *folio);
/* The same with the checks of invalidation. mm/truncate.c mapping_evict_folio(). */
long mapping_evict_folio(struct address_space *mapping, struct folio *folio);

/* ---- mm/huge_memory.c ---- */

/*
 * Cut a locked, cached folio so that the part from page @page on starts a new folio: uniformly
 * into order 0 before SPLIT_NONUNIFORM, else halving only what holds the page. The caller's
 * reference and lock stay with the folio that keeps the first page. 0, -EBUSY, -ENOMEM.
 */
int split_folio_at(struct folio *folio, pgoff_t page);
/* The same, uniformly into the smallest pieces on every kernel. split_huge_page(). */
int split_folio(struct folio *folio);

/* ---- mm/truncate.c ---- */

/*
 * Zero the part of the locked folio inside [start, end] (bytes, inclusive) and cut the folio there.
 * False: it stays whole although part of it lies in the range, so the range has to go around it.
 */
bool truncate_inode_partial_folio(struct folio *folio, loff_t start, loff_t end);
/* What memory_failure() does to a page that can be read again. mm/truncate.c */
void generic_error_remove_folio(struct address_space *mapping, struct folio *folio);
/* Remove what lies wholly in pages [start, end], shadows too. @unfalloc: only if not uptodate. */
void truncate_whole_folios(struct address_space *mapping, pgoff_t start, pgoff_t end,
			   bool unfalloc);

/* ---- mm/debug.c ---- */

/* Is this folio consistent with its mapping and the buddy system? 0, or -EINVAL with @err. */
int vm_check_folio(const struct folio *folio, struct fl_error *err);
/*
 * VM_BUG_ON_FOLIO(@condition, @folio) in @file has hit: dump the folio into machine->bug.
 * mm/debug.c dump_page().
 */
void vm_bug_on_folio(const struct folio *folio, const char *condition, const char *file);
/* Aborts if folios, pages or tree nodes are still alive once every inode is gone. */
void vm_check_nothing_left(const struct machine *m);
/* vm_check_folio() and more for the whole machine: every mapping, list, count. */
int vm_check_machine(struct machine *m, struct fl_error *err);

#endif
