#include "mm/ra_policy.h"

#include "mm/internal.h"

static struct ra_query make_query(const struct readahead_control *ractl, const struct folio *folio,
				  unsigned long req_count, unsigned long max_pages)
{
	const struct inode *inode = ractl->mapping->host;
	const struct machine *m = mapping_machine(ractl->mapping);

	return (struct ra_query){
		.ra = ractl->ra,
		.index = ractl->_index,
		.req_count = req_count,
		.max_pages = max_pages,
		.limit = max((unsigned long)ractl->ra->ra_pages, inode_to_bdi(inode)->io_pages),
		.file_pages = DIV_ROUND_UP((u64)i_size_read(inode), m->page_size),
		.folio_order = folio ? (int)folio_order(folio) : -1,
		.max_order = mapping_max_folio_order(ractl->mapping),
		.page_shift = m->page_shift,
	};
}

static bool window_valid(const struct ra_query *query, const struct ra_window *w)
{
	return w->size && w->size <= query->limit && w->async_size <= w->size &&
	       w->start < query->file_pages && w->order <= (int)query->max_order;
}

enum ra_verdict ra_policy_window(const struct readahead_control *ractl, const struct folio *folio,
				 unsigned long req_count, unsigned long max_pages,
				 struct ra_window *ret)
{
	struct ra_policy *policy = mapping_machine(ractl->mapping)->ra_policy;
	struct ra_query query;
	enum ra_verdict verdict = RA_VERDICT_KERNEL;

	if (!policy || !(folio ? policy->async_ra : policy->sync_ra))
		return verdict;
	query = make_query(ractl, folio, req_count, max_pages);
	*ret = (struct ra_window){.order = RA_ORDER_KERNEL};
	if (folio)
		verdict = policy->async_ra(policy, &query, ret);
	else
		verdict = policy->sync_ra(policy, &query, ret);
	if (verdict == RA_VERDICT_WINDOW && !window_valid(&query, ret))
		return RA_VERDICT_KERNEL;
	return verdict;
}

int ra_policy_order(const struct readahead_control *ractl, unsigned long req_count,
		    unsigned long max_pages, unsigned int order)
{
	struct ra_policy *policy = mapping_machine(ractl->mapping)->ra_policy;
	const struct file_ra_state *ra = ractl->ra;
	struct ra_window kernel = {ra->start, ra->size, ra->async_size, (int)order};
	struct ra_query query;
	int ret;

	if (!policy || !policy->order)
		return RA_ORDER_KERNEL;
	query = make_query(ractl, NULL, req_count, max_pages);
	ret = policy->order(policy, &query, &kernel);
	return ret > (int)query.max_order ? RA_ORDER_KERNEL : ret;
}
