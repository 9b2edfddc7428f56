#include "mm/readahead_trace.h"

#include "mm/internal.h"

/* The knob a rule turns on; a rule no version changed has none. */
static const struct {
	enum trace_rule rule;
	enum knob_id knob;
} rule_knobs[] = {
	{RULE_EXPECTED, KNOB_MARK_ROUND_DOWN}, {RULE_NOT_EXPECTED, KNOB_NEXT_MISS_FIX},
	{RULE_NO_HOLE, KNOB_NEXT_MISS_FIX},    {RULE_HISTORY, KNOB_PREV_MISS_FIX},
	{RULE_NEXT_WINDOW, KNOB_RA_SPLIT},
};

static unsigned int knob_of_rule(enum trace_rule rule)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(rule_knobs); i++)
		if (rule_knobs[i].rule == rule)
			return rule_knobs[i].knob + 1;
	return 0;
}

void trace_window(const struct readahead_control *ractl, const struct ra_request *req,
		  pgoff_t start, unsigned int size, unsigned int async_size)
{
	struct trace_event ev = {
		.id = EV_fl_window,
		.ino = ractl->mapping->host->i_ino,
		.index = start,
		.a = size,
		.b = async_size,
		.c = req->req_count,
		.d = req->max_pages,
		.e = req->rule,
		.f = knob_of_rule(req->rule),
	};

	trace_event2(&mapping_machine(ractl->mapping)->trace, &ev);
}

void trace_ra_call(enum trace_event_id id, const struct readahead_control *ractl,
		   const struct file_ra_state *ra, unsigned long req_count)
{
	struct trace_event ev = {
		.id = id,
		.ino = ractl->mapping->host->i_ino,
		.index = ractl->_index,
		.order = min_t(u32, ra->order, TRACE_ORDERS - 1),
		.a = req_count,
		.b = ra->size,
		.e = ra->async_size,
		.f = ra->ra_pages,
		.d = ra->mmap_miss,
		.c = ra->prev_pos,
	};

	trace_event2(&mapping_machine(ractl->mapping)->trace, &ev);
}

void trace_ra_order(const struct readahead_control *ractl, const struct file_ra_state *ra,
		    unsigned int order)
{
	struct trace_event ev = {
		.id = EV_page_cache_ra_order,
		.ino = ractl->mapping->host->i_ino,
		.index = ractl->_index,
		.order = min_t(u32, order, TRACE_ORDERS - 1),
		.b = ra->size,
		.e = ra->async_size,
		.f = ra->ra_pages,
	};

	trace_event2(&mapping_machine(ractl->mapping)->trace, &ev);
}

void trace_ra_unbounded(const struct readahead_control *ractl, unsigned long nr_to_read,
			unsigned long lookahead_size)
{
	struct trace_event ev = {
		.id = EV_page_cache_ra_unbounded,
		.ino = ractl->mapping->host->i_ino,
		.index = ractl->_index,
		.c = nr_to_read,
		.d = lookahead_size,
	};

	trace_event2(&mapping_machine(ractl->mapping)->trace, &ev);
}
