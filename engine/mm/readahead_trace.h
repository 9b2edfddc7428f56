/*
 * mm/readahead_trace.h - what readahead tells whoever listens.
 *
 * Mirrors    include/trace/events/readahead.h; trace_window() is ours: the rule that chose a
 * window. Differs    plain functions instead of TRACE_EVENT(); see trace/events.def for the fields.
 */
#ifndef FL_MM_READAHEAD_TRACE_H
#define FL_MM_READAHEAD_TRACE_H

#include "mm/pagemap.h"

/* Where a decision stands: what was asked, how much may be read, which rule decided. */
struct ra_request {
	unsigned long req_count;
	unsigned long max_pages;
	enum trace_rule rule;
};

void trace_window(const struct readahead_control *ractl, const struct ra_request *req,
		  pgoff_t start, unsigned int size, unsigned int async_size);
/* page_cache_sync_ra and page_cache_async_ra: the state before the decision. */
void trace_ra_call(enum trace_event_id id, const struct readahead_control *ractl,
		   const struct file_ra_state *ra, unsigned long req_count);
/* The state after it; @order is the one asked for, before it is cut. */
void trace_ra_order(const struct readahead_control *ractl, const struct file_ra_state *ra,
		    unsigned int order);
/* Before the start is aligned, after the end was cut at the end of the file. */
void trace_ra_unbounded(const struct readahead_control *ractl, unsigned long nr_to_read,
			unsigned long lookahead_size);

#endif
