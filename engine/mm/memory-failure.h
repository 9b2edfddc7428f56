/*
 * mm/memory-failure.h - memory that went bad: hard and soft offlining, and taking it back.
 *
 * Mirrors    mm/memory-failure.c, include/linux/mm.h (mf_flags), include/linux/ras.h.
 * Invariant  PAGE_HWPOISON of page_state is the truth about a page (PG_hwpoison of the kernel);
 *            PG_hwpoison of a folio repeats it for its head page; PG_has_hwpoisoned says that some
 *            page of a large folio is bad, and can be lost (KEEP_HAS_HWPOISONED). A bad page is
 *            never free: its handler keeps a reference, or the free lists do without it.
 * Owner      struct mf_state hangs off the machine's mm_state.
 * Errors     as said at each function.
 * Differs    one node; no hugetlb, no DAX, no delayed work; all tasks are struct mm_struct.
 */
#ifndef FL_MM_MEMORY_FAILURE_H
#define FL_MM_MEMORY_FAILURE_H

#include "mm/mm_types.h"

struct mm_struct;

enum mf_flags {
	MF_COUNT_INCREASED = 1 << 0, /* the caller's reference is handed over */
	MF_ACTION_REQUIRED = 1 << 1, /* the running task consumed the error */
	MF_MUST_KILL = 1 << 2,
	MF_SOFT_OFFLINE = 1 << 3,
	MF_UNPOISON = 1 << 4,
	MF_SW_SIMULATED = 1 << 5, /* can be taken back */
};

enum mf_result { MF_IGNORED, MF_FAILED, MF_DELAYED, MF_RECOVERED };

/* What kind of page was hit. include/linux/ras.h */
enum mf_action_page_type {
	MF_MSG_UNMAP_FAILED,
	MF_MSG_DIRTY_LRU,
	MF_MSG_CLEAN_LRU,
	MF_MSG_TRUNCATED_LRU,
	MF_MSG_BUDDY,
	MF_MSG_UNSPLIT_THP,
	MF_MSG_UNKNOWN,
};

/* si_code of SIGBUS */
#define BUS_MCEERR_AR 4
#define BUS_MCEERR_AO 5

/* /sys/devices/system/node/nodeN/memory_failure/, since MF_NODE_STATS. */
struct memory_failure_stats {
	unsigned long total, ignored, failed, delayed, recovered;
};

struct mf_state {
	unsigned long num_poisoned_pages; /* HardwareCorrupted / page size */
	struct memory_failure_stats stats;
	unsigned long in_buddy;	      /* bad pages inside free blocks */
	unsigned long off_buddy;      /* pages the free lists do without */
	bool hw_memory_failure;	      /* a real error was seen: no unpoison any more */
	bool early_kill;	      /* vm.memory_failure_early_kill */
	bool disable_soft_offline;    /* !vm.enable_soft_offline */
	bool split_fails;	      /* somebody holds one more reference of whatever is split */
	struct mm_struct *current_mm; /* the task that runs, NULL outside of any */
	enum mf_action_page_type last_type;
	enum mf_result last_result;
};

/* "recovery action for dirty LRU page: Recovered", of the last one handled. */
const char *mf_action_text(enum mf_action_page_type type);
const char *mf_result_text(enum mf_result result);

/*
 * A hard error in page frame @pfn. 0: recovered or ignored without trouble; -EHWPOISON: it was bad
 * already, or its folio could not be split; -EBUSY: not recovered; -ENXIO: no such page.
 */
int memory_failure(struct machine *m, unsigned long pfn, int flags);
/* Move what is in the page elsewhere, then retire it: 0, -EBUSY, -EOPNOTSUPP, -ENOMEM, -ENXIO. */
int soft_offline_page(struct machine *m, unsigned long pfn, int flags);
/* 0, -EOPNOTSUPP after a real error, -EBUSY if the page is not bad or still in use, -ENXIO. */
int unpoison_memory(struct machine *m, unsigned long pfn);

/* ---- shared by the files of it ---- */

/* The live folio over a page frame, or NULL: a search, memory failures are rare. */
struct folio *pfn_folio(struct machine *m, unsigned long pfn);
bool page_hwpoison(const struct machine *m, unsigned long pfn);
void set_page_hwpoison(struct machine *m, unsigned long pfn);
void clear_page_hwpoison(struct machine *m, unsigned long pfn);
/*
 * Split into single pages; the caller's reference and the result are on the one with @pfn.
 * -EBUSY: the folio is whole, reference and all.
 */
int try_to_split_thp_page(struct machine *m, unsigned long pfn, struct folio **foliop);
/* Flags of the piece of @order at @pfn after a split of a folio with a bad page. */
unsigned long split_poison_flags(const struct machine *m, unsigned long pfn, unsigned int order);
/* Bad pages in [pfn, pfn + 2^order). */
unsigned long count_poisoned(const struct machine *m, unsigned long pfn, unsigned int order);

#endif
