/*
 * mm/ra_policy.h - somebody else decides the readahead windows of a machine.
 *
 * A policy is a table of functions at machine->ra_policy. It says where a window starts, how long
 * it is, where its mark goes and which order its folios shall have; marks, filling the window,
 * fallbacks and I/O stay the kernel's. Linux has no counterpart.
 *
 * Invariant  1 <= size <= limit, async_size <= size, start < file_pages; what breaks this is
 *            not taken, the kernel decides instead. A policy never changes the machine.
 * Owner      whoever set it; it must stay as long as the machine has it.
 * Errors     none.
 */
#ifndef FL_MM_RA_POLICY_H
#define FL_MM_RA_POLICY_H

#include "mm/pagemap.h"

#define RA_ORDER_KERNEL (-1) /* the order the kernel would take */

/* What a policy is told. */
struct ra_query {
	const struct file_ra_state *ra; /* as the previous window left it */
	pgoff_t index;			/* the page wanted, or the marked folio's first */
	unsigned long req_count;	/* pages to the end of this read() */
	unsigned long max_pages;	/* the most the kernel would read */
	unsigned long limit;		/* the most a policy may: ra_pages or the device's limit */
	pgoff_t file_pages;
	int folio_order;	/* of the marked folio; -1 when a read missed */
	unsigned int max_order; /* of this mapping */
	unsigned int page_shift;
};

struct ra_window {
	pgoff_t start;
	unsigned int size, async_size;
	int order; /* or RA_ORDER_KERNEL */
};

enum ra_verdict {
	RA_VERDICT_KERNEL,  /* decide as this kernel does */
	RA_VERDICT_WINDOW,  /* take the window that was filled in */
	RA_VERDICT_NOTHING, /* a miss reads the request alone, a mark reads nothing */
};

/* Members may be NULL. */
struct ra_policy {
	enum ra_verdict (*sync_ra)(struct ra_policy *policy, const struct ra_query *query,
				   struct ra_window *ret);
	enum ra_verdict (*async_ra)(struct ra_policy *policy, const struct ra_query *query,
				    struct ra_window *ret);
	/* The order for the window @kernel; RA_ORDER_KERNEL keeps the kernel's. */
	int (*order)(struct ra_policy *policy, const struct ra_query *query,
		     const struct ra_window *kernel);
};

/* Ask the machine's policy; RA_VERDICT_KERNEL where there is none. @folio: the marked one or NULL.
 */
enum ra_verdict ra_policy_window(const struct readahead_control *ractl, const struct folio *folio,
				 unsigned long req_count, unsigned long max_pages,
				 struct ra_window *ret);
/* The order for the window in ractl->ra, or RA_ORDER_KERNEL. */
int ra_policy_order(const struct readahead_control *ractl, unsigned long req_count,
		    unsigned long max_pages, unsigned int order);

#endif
