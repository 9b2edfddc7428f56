/*
 * Deciding what to read before it is asked for, and putting it into the cache.
 *
 * Mirrors mm/readahead.c of every profile. Two families decide windows: ondemand_readahead() up to
 * v6.10, and separate sync and async paths since RA_SPLIT. How a window is filled with folios,
 * where the mark goes and what happens when something is cached already is shared.
 */
#include <errno.h>

#include "block/blkdev.h"
#include "mm/internal.h"
#include "mm/readahead_trace.h"
#include "mm/ra_policy.h"

/* force_page_cache_ra() reads in chunks of this many bytes. */
#define FORCE_CHUNK_BYTES (2UL << 20)

void file_ra_state_init(struct file_ra_state *ra, struct address_space *mapping)
{
	*ra = (struct file_ra_state){
		.ra_pages = inode_to_bdi(mapping->host)->ra_pages,
		.prev_pos = -1,
	};
}

/* ---- handing pages to the file system ---- */

struct folio *readahead_folio(struct readahead_control *rac)
{
	struct folio *folio;

	rac->_nr_pages -= rac->_batch_count;
	rac->_index += rac->_batch_count;
	if (!rac->_nr_pages) {
		rac->_batch_count = 0;
		return NULL;
	}
	folio = xa_load(&rac->mapping->i_pages, rac->_index);
	rac->_batch_count = folio_nr_pages(folio);
	folio_put(folio);
	return folio;
}

/* What ->readahead did not take: v6.14 stopped shrinking the window for it. */
static void drop_unread(struct readahead_control *rac)
{
	struct machine *m = mapping_machine(rac->mapping);
	struct folio *folio;

	while ((folio = readahead_folio(rac))) {
		unsigned long nr = folio_nr_pages(folio);
		bool keep = false;

		folio_get(folio);
		if (!knob(m, RP_NO_SHRINK)) {
			rac->ra->size -= nr;
			keep = rac->ra->async_size < nr;
			if (!keep)
				rac->ra->async_size -= nr;
		}
		if (!keep)
			filemap_remove_folio(folio);
		folio_unlock(folio);
		folio_put(folio);
	}
}

static void read_pages(struct readahead_control *rac)
{
	struct machine *m = mapping_machine(rac->mapping);
	const struct address_space_operations *aops = rac->mapping->a_ops;
	struct folio *folio;

	if (!readahead_count(rac))
		return;
	charge(m, COST_READ_PAGES, 1);
	trace_event(&m->trace, EV_fl_read_pages, 0, rac->mapping->host->i_ino, rac->_index,
		    rac->_nr_pages, 0);
	blk_start_plug(m);
	if (aops->readahead) {
		aops->readahead(rac);
		drop_unread(rac);
	} else {
		while ((folio = readahead_folio(rac)))
			aops->read_folio(rac->file, folio);
	}
	blk_finish_plug(m);
}

/* ---- order-0 (or smallest) folios ---- */

/* Allocate and insert one smallest folio at @index: 1 inserted, 0 something is there, -ENOMEM. */
static int ra_insert_min(struct readahead_control *ractl, pgoff_t index)
{
	struct address_space *mapping = ractl->mapping;
	struct machine *m = mapping_machine(mapping);
	gfp_t gfp = readahead_gfp_mask(mapping);
	struct folio *folio = filemap_alloc_folio(m, gfp, mapping_min_folio_order(mapping));
	int ret;

	if (!folio)
		return -ENOMEM;
	ret = filemap_add_folio(mapping, folio, index, gfp, ractl->provenance);
	if (!ret)
		return 1;
	folio_put(folio);
	return ret == -ENOMEM && knob(m, MIN_ORDER) ? ret : 0;
}

static bool page_is_cached(struct address_space *mapping, pgoff_t index)
{
	void *entry = xa_load(&mapping->i_pages, index);

	return entry && !xa_is_value(entry);
}

static void mark_folio(struct readahead_control *ractl, pgoff_t index)
{
	struct folio *folio = xa_load(&ractl->mapping->i_pages, index);

	folio_set_readahead(folio);
	folio_trace(folio, EV_fl_mark, folio->_pfn, 0);
}

void page_cache_ra_unbounded(struct readahead_control *ractl, unsigned long nr_to_read,
			     unsigned long lookahead_size)
{
	struct address_space *mapping = ractl->mapping;
	struct machine *m = mapping_machine(mapping);
	unsigned long min_nrpages = mapping_min_folio_nrpages(mapping);
	pgoff_t index = ractl->_index, mark = ~0UL, page, end;

	trace_ra_unbounded(ractl, nr_to_read, lookahead_size);
	lock_shared(m, INVALIDATE_LOCK, &mapping->invalidate_lock);
	if (lookahead_size <= nr_to_read)
		mark = round_up(index + nr_to_read - lookahead_size, min_nrpages);
	nr_to_read += index & (min_nrpages - 1);
	index -= index & (min_nrpages - 1);
	ractl->_index = index;
	end = index + nr_to_read;
	for (page = index; page < end;) {
		int ret = page_is_cached(mapping, page) ? 0 : ra_insert_min(ractl, page);

		if (ret < 0)
			break;
		if (!ret) {
			read_pages(ractl);
			ractl->_index += min_nrpages;
			page = ractl->_index;
			continue;
		}
		if (page == mark)
			mark_folio(ractl, page);
		ractl->_nr_pages += min_nrpages;
		page += min_nrpages;
	}
	read_pages(ractl);
	unlock_shared(m, INVALIDATE_LOCK, &mapping->invalidate_lock);
}

static void do_page_cache_ra(struct readahead_control *ractl, unsigned long nr_to_read,
			     unsigned long lookahead_size)
{
	struct inode *inode = ractl->mapping->host;
	struct machine *m = mapping_machine(ractl->mapping);
	loff_t isize = i_size_read(inode);
	pgoff_t end_index;

	if (!isize)
		return;
	end_index = (isize - 1) >> m->page_shift;
	if (ractl->_index > end_index)
		return;
	if (nr_to_read > end_index - ractl->_index) {
		nr_to_read = end_index - ractl->_index + 1;
		if (knob(m, NO_EOF_MARK))
			lookahead_size = 0;
	}
	page_cache_ra_unbounded(ractl, nr_to_read, lookahead_size);
}

void force_page_cache_ra(struct readahead_control *ractl, unsigned long nr_to_read)
{
	struct machine *m = mapping_machine(ractl->mapping);
	const struct backing_dev_info *bdi = inode_to_bdi(ractl->mapping->host);
	unsigned long chunk = FORCE_CHUNK_BYTES >> m->page_shift;
	pgoff_t index = ractl->_index;

	nr_to_read = min(nr_to_read, max(bdi->io_pages, (unsigned long)ractl->ra->ra_pages));
	while (nr_to_read) {
		unsigned long n = min(chunk, nr_to_read);

		if (!knob(m, RA_SPLIT))
			ractl->_index = index;
		do_page_cache_ra(ractl, n, 0);
		index += n;
		nr_to_read -= n;
	}
}

/* ---- large folios ---- */

/* The mark goes to the folio that holds it, or up to b9ff43dd2743's revert to one after it. */
static pgoff_t round_mark(const struct machine *m, pgoff_t mark, unsigned int order)
{
	return knob(m, MARK_ROUND_DOWN) ? round_down(mark, 1UL << order)
					: round_up(mark, 1UL << order);
}

static int ra_alloc_folio(struct readahead_control *ractl, pgoff_t index, pgoff_t mark,
			  unsigned int order, gfp_t gfp)
{
	struct machine *m = mapping_machine(ractl->mapping);
	struct folio *folio = filemap_alloc_folio(m, gfp, order);
	int err;

	if (!folio)
		return -ENOMEM;
	if (mark != ~0UL && round_mark(m, mark, order) == index)
		folio_set_readahead(folio);
	err = filemap_add_folio(ractl->mapping, folio, index, gfp, ractl->provenance);
	if (err) {
		folio_put(folio);
		return err;
	}
	if (folio_test_readahead(folio))
		folio_trace(folio, EV_fl_mark, folio->_pfn, 0);
	ractl->_nr_pages += 1UL << order;
	return 0;
}

/* The order to ask for: never order 1 where it does not exist. */
static unsigned int avoid_order1(const struct machine *m, unsigned int order)
{
	return order == 1 && !knob(m, ORDER1) ? 0 : order;
}

/* The largest order up to @order that fits at @index and does not reach past @limit. */
static unsigned int fit_order(const struct machine *m, unsigned int order, unsigned int min_order,
			      pgoff_t index, pgoff_t limit)
{
	if (index & ((1UL << order) - 1))
		order = avoid_order1(m, __ffs(index));
	while (order > min_order && index + (1UL << order) - 1 > limit)
		order = avoid_order1(m, order - 1);
	return order;
}

static unsigned int clamp_order(const struct readahead_control *ractl,
				const struct file_ra_state *ra, unsigned int order)
{
	struct machine *m = mapping_machine(ractl->mapping);
	unsigned int max_order = mapping_max_folio_order(ractl->mapping);

	if (!knob(m, HONOUR_NEW_ORDER) && !ractl->order_given && order < max_order)
		order += 2;
	order = avoid_order1(m, min(order, max_order));
	order = min(order, ra->size ? ilog2(ra->size) : 0);
	return max(order, mapping_min_folio_order(ractl->mapping));
}

/* May this window have large folios at all? */
static bool window_takes_large(const struct readahead_control *ractl,
			       const struct file_ra_state *ra)
{
	struct machine *m = mapping_machine(ractl->mapping);
	unsigned int smallest = 4;

	if (!mapping_large_folio_support(ractl->mapping))
		return false;
	if (knob(m, HONOUR_NEW_ORDER))
		return true;
	if (knob(m, MIN_ORDER))
		smallest = max_t(unsigned int, smallest, mapping_min_folio_nrpages(ractl->mapping));
	return ra->size >= smallest;
}

/* What is left for order-0 folios after large ones stopped at @index. */
static void ra_fallback(struct readahead_control *ractl, struct file_ra_state *ra, pgoff_t start,
			pgoff_t index)
{
	struct machine *m = mapping_machine(ractl->mapping);

	if (!knob(m, FALLBACK_SHORTEN))
		do_page_cache_ra(ractl, ra->size, ra->async_size);
	else if (!knob(m, FALLBACK_GUARD) || ra->size > index - start)
		do_page_cache_ra(ractl, ra->size - (index - start), ra->async_size);
}

/* The last page to read, and where the mark goes (~0: nowhere). */
static pgoff_t window_limit(const struct readahead_control *ractl, const struct file_ra_state *ra,
			    pgoff_t *mark)
{
	struct machine *m = mapping_machine(ractl->mapping);
	pgoff_t eof = (i_size_read(ractl->mapping->host) - 1) >> m->page_shift;
	pgoff_t last = ractl->_index + ra->size - 1;

	*mark = ractl->_index + ra->size - ra->async_size;
	if (knob(m, NO_EOF_MARK) && eof <= last)
		*mark = ~0UL;
	return min(eof, last);
}

void page_cache_ra_order(struct readahead_control *ractl, struct file_ra_state *ra,
			 unsigned int new_order)
{
	struct address_space *mapping = ractl->mapping;
	struct machine *m = mapping_machine(mapping);
	unsigned int min_order = mapping_min_folio_order(mapping);
	gfp_t gfp = readahead_gfp_mask(mapping);
	pgoff_t start = ractl->_index, index = start, mark, limit;
	int err = 0;

	charge(m, COST_RA_DECIDE, 1);
	trace_ra_order(ractl, ra, new_order);
	if (!window_takes_large(ractl, ra)) {
		ra->order = 0;
		ra_fallback(ractl, ra, start, start);
		return;
	}
	limit = window_limit(ractl, ra, &mark);
	new_order = clamp_order(ractl, ra, new_order);
	if (knob(m, RA_ORDER_FIELD))
		ra->order = new_order;
	lock_shared(m, INVALIDATE_LOCK, &mapping->invalidate_lock);
	if (knob(m, MIN_ORDER))
		ractl->_index = index = round_down(index, 1UL << min_order);
	while (index <= limit && !err) {
		unsigned int order = fit_order(m, new_order, min_order, index, limit);

		err = ra_alloc_folio(ractl, index, mark, order, gfp);
		if (!err)
			index += 1UL << order;
	}
	read_pages(ractl);
	unlock_shared(m, INVALIDATE_LOCK, &mapping->invalidate_lock);
	if (err)
		ra_fallback(ractl, ra, start, index);
}

/* ---- choosing the window ---- */

static unsigned long get_init_ra_size(unsigned long size, unsigned long max)
{
	unsigned long newsize = roundup_pow_of_two(size);

	if (newsize <= max / 32)
		return newsize * 4;
	if (newsize <= max / 4)
		return newsize * 2;
	return max;
}

static unsigned long get_next_ra_size(const struct file_ra_state *ra, unsigned long max)
{
	unsigned long cur = ra->size;

	if (cur < max / 16)
		return 4 * cur;
	if (cur <= max / 2)
		return 2 * cur;
	return max;
}

/* After a hit where it was expected. */
static unsigned long next_size(const struct machine *m, const struct file_ra_state *ra,
			       unsigned long max_pages)
{
	unsigned long next = get_next_ra_size(ra, max_pages);

	return knob(m, KEEP_BIG_WINDOW) ? max_t(unsigned long, ra->size, next) : next;
}

static unsigned long ra_max_pages(const struct readahead_control *ractl, unsigned long req_size)
{
	const struct backing_dev_info *bdi = inode_to_bdi(ractl->mapping->host);
	unsigned long max_pages = ractl->ra->ra_pages;

	if (req_size > max_pages && bdi->io_pages > max_pages)
		max_pages = min(req_size, bdi->io_pages);
	return max_pages;
}

/* Unsigned on purpose: a position behind @index is never adjacent, nor is the -1 of an open. */
static bool is_adjacent(const struct readahead_control *ractl, pgoff_t index)
{
	unsigned int shift = mapping_machine(ractl->mapping)->page_shift;
	pgoff_t prev_index = (u64)ractl->ra->prev_pos >> shift;

	return index - prev_index <= 1UL;
}

static void set_initial_window(struct file_ra_state *ra, pgoff_t index,
			       const struct ra_request *req, bool half_tail)
{
	ra->start = index;
	ra->size = get_init_ra_size(req->req_count, req->max_pages);
	if (ra->size > req->req_count)
		ra->async_size = ra->size - req->req_count;
	else
		ra->async_size = half_tail ? ra->size >> 1 : ra->size;
}

/* A policy's order is taken as it is, where the kernel's may still grow. */
static unsigned int policy_order(struct readahead_control *ractl, const struct ra_request *req,
				 unsigned int order)
{
	int given = ra_policy_order(ractl, req->req_count, req->max_pages, order);

	if (given < 0)
		return order;
	ractl->order_given = true;
	return given;
}

static void submit_window(struct readahead_control *ractl, const struct ra_request *req,
			  unsigned int order)
{
	struct file_ra_state *ra = ractl->ra;

	trace_window(ractl, req, ra->start, ra->size, ra->async_size);
	if (unlikely(mapping_machine(ractl->mapping)->ra_policy))
		order = policy_order(ractl, req, order);
	ractl->_index = ra->start;
	page_cache_ra_order(ractl, ra, order);
}

/* Read just what was asked for; the window stays as it is. */
static void submit_request_only(struct readahead_control *ractl, struct ra_request *req)
{
	req->rule = RULE_RANDOM;
	trace_window(ractl, req, ractl->_index, req->req_count, 0);
	ractl->provenance = PROVENANCE_FORCED;
	do_page_cache_ra(ractl, req->req_count, 0);
}

/* The hole behind a marked folio that was not expected; false if there is none in reach. */
static bool window_at_hole(struct readahead_control *ractl, struct ra_request *req, pgoff_t index)
{
	struct file_ra_state *ra = ractl->ra;
	pgoff_t start = page_cache_next_miss(ractl->mapping, index + 1, req->max_pages);

	if (!start || start - index > req->max_pages) {
		req->rule = RULE_NO_HOLE;
		trace_window(ractl, req, index, 0, 0);
		return false;
	}
	req->rule = RULE_NOT_EXPECTED;
	ra->start = start;
	ra->size = start - index + req->req_count;
	ra->size = get_next_ra_size(ra, req->max_pages);
	return true;
}

/* ---- up to v6.10: one function for both ---- */

/* A read lands on the mark of the window it just set up: merge with the next one. */
static void merge_self_hit(struct file_ra_state *ra, pgoff_t index, unsigned long max_pages)
{
	unsigned long add;

	if (index != ra->start || ra->size != ra->async_size)
		return;
	add = get_next_ra_size(ra, max_pages);
	if (ra->size + add <= max_pages) {
		ra->async_size = add;
		ra->size += add;
	} else {
		ra->size = max_pages;
		ra->async_size = max_pages >> 1;
	}
}

/* Pages cached before @index in a row; tells a stream without a window. */
static bool window_from_history(struct readahead_control *ractl, struct ra_request *req,
				pgoff_t index)
{
	struct file_ra_state *ra = ractl->ra;
	pgoff_t head = page_cache_prev_miss(ractl->mapping, index - 1, req->max_pages);
	unsigned long contig = index - 1 - head;
	bool to_start =
		knob(mapping_machine(ractl->mapping), RA_SPLIT) ? head == ~0UL : contig >= index;

	if (contig <= req->req_count)
		return false;
	if (to_start)
		contig *= 2;
	req->rule = RULE_HISTORY;
	ra->start = index;
	ra->size = min(contig + req->req_count, req->max_pages);
	ra->async_size = 1;
	return true;
}

static bool ondemand_expected(const struct readahead_control *ractl, pgoff_t index,
			      const struct folio *folio, struct ra_request *req)
{
	const struct file_ra_state *ra = ractl->ra;
	const struct machine *m = mapping_machine(ractl->mapping);
	unsigned int order = folio ? folio_order(folio) : 0;

	if (index == round_mark(m, ra->start + ra->size - ra->async_size, order))
		req->rule = RULE_EXPECTED;
	else if (index == ra->start + ra->size)
		req->rule = RULE_NEXT_WINDOW;
	else
		return false;
	return true;
}

/* Which rule makes this a new stream, if any. */
static enum trace_rule initial_rule(const struct readahead_control *ractl, pgoff_t index,
				    const struct ra_request *req)
{
	if (!index)
		return RULE_INDEX0;
	if (req->req_count > req->max_pages)
		return RULE_OVERSIZE;
	return is_adjacent(ractl, index) ? RULE_ADJACENT : RULE_NONE;
}

static void ondemand_readahead(struct readahead_control *ractl, struct folio *folio,
			       unsigned long req_count)
{
	struct file_ra_state *ra = ractl->ra;
	struct machine *m = mapping_machine(ractl->mapping);
	unsigned int order = folio ? folio_order(folio) : 0;
	pgoff_t index = ractl->_index;
	struct ra_request req = {.req_count = req_count,
				 .max_pages = ra_max_pages(ractl, req_count)};

	if (index && ondemand_expected(ractl, index, folio, &req)) {
		ra->start += ra->size;
		ra->size = next_size(m, ra, req.max_pages);
		ra->async_size = ra->size;
	} else if (index && folio) {
		if (!window_at_hole(ractl, &req, index))
			return;
		ra->async_size = ra->size;
	} else if ((req.rule = initial_rule(ractl, index, &req)) != RULE_NONE) {
		set_initial_window(ra, index, &req, false);
	} else if (!window_from_history(ractl, &req, index)) {
		submit_request_only(ractl, &req);
		return;
	}
	merge_self_hit(ra, index, req.max_pages);
	submit_window(ractl, &req, order);
}

/* ---- since v6.11: sync and async apart ---- */

static void sync_window(struct readahead_control *ractl, unsigned long req_count)
{
	struct file_ra_state *ra = ractl->ra;
	pgoff_t index = ractl->_index;
	struct ra_request req = {.req_count = req_count,
				 .max_pages = ra_max_pages(ractl, req_count)};

	req.rule = initial_rule(ractl, index, &req);
	if (req.rule != RULE_NONE) {
		set_initial_window(ra, index, &req, true);
	} else if (!window_from_history(ractl, &req, index)) {
		submit_request_only(ractl, &req);
		return;
	}
	ra->order = 0;
	submit_window(ractl, &req, 0);
}

/* Round the window's end down so that the next one starts aligned. */
static void align_window_end(struct file_ra_state *ra, unsigned int order, unsigned long max_pages)
{
	unsigned int align = min(order, __ffs(max_pages));
	pgoff_t end = round_down(ra->start + ra->size, 1UL << align);

	if (end > ra->start)
		ra->size = end - ra->start;
}

/* The order handed on: remembered, or derived from the folio that was hit. */
static unsigned int async_order(const struct machine *m, struct file_ra_state *ra,
				const struct folio *folio)
{
	if (knob(m, RA_ORDER_FIELD)) {
		ra->order += 2;
		return ra->order;
	}
	return folio_order(folio) + (knob(m, HONOUR_NEW_ORDER) ? 2 : 0);
}

static void async_window(struct readahead_control *ractl, struct folio *folio,
			 unsigned long req_count)
{
	struct file_ra_state *ra = ractl->ra;
	struct machine *m = mapping_machine(ractl->mapping);
	pgoff_t index = ractl->_index;
	unsigned int order;
	struct ra_request req = {.req_count = req_count,
				 .max_pages = ra_max_pages(ractl, req_count)};

	if (index == round_mark(m, ra->start + ra->size - ra->async_size, folio_order(folio))) {
		req.rule = RULE_EXPECTED;
		ra->start += ra->size;
		ra->size = next_size(m, ra, req.max_pages);
	} else if (!window_at_hole(ractl, &req, index)) {
		return;
	}
	order = async_order(m, ra, folio);
	if (knob(m, END_ALIGN))
		align_window_end(ra, order, req.max_pages);
	ra->async_size = ra->size;
	submit_window(ractl, &req, order);
}

/* ---- a policy in place of the kernel (mm/ra_policy.h) ---- */

/* False: the kernel shall decide. */
static bool policy_readahead(struct readahead_control *ractl, const struct folio *folio,
			     unsigned long req_count)
{
	struct file_ra_state *ra = ractl->ra;
	const struct machine *m = mapping_machine(ractl->mapping);
	struct ra_request req = {.req_count = req_count,
				 .rule = RULE_POLICY,
				 .max_pages = ra_max_pages(ractl, req_count)};
	struct ra_window w;
	enum ra_verdict verdict = ra_policy_window(ractl, folio, req_count, req.max_pages, &w);

	if (verdict == RA_VERDICT_KERNEL)
		return false;
	if (verdict == RA_VERDICT_NOTHING) {
		if (!folio)
			submit_request_only(ractl, &req);
		return true;
	}
	ra->start = w.start;
	ra->size = w.size;
	ra->async_size = w.async_size;
	if (w.order >= 0) {
		ractl->order_given = true;
		ra->order = w.order;
	} else if (!folio) {
		ra->order = 0;
	} else {
		w.order = async_order(m, ra, folio);
	}
	submit_window(ractl, &req, max(w.order, 0));
	return true;
}

/* ---- entry points ---- */

/* Readahead is off, or the file was declared random: read what was asked. */
static bool sync_forced(struct readahead_control *ractl, unsigned long *req_count)
{
	bool do_forced_ra = ractl->file && ractl->file->f_mode & FMODE_RANDOM;

	if (!ractl->ra->ra_pages) {
		*req_count = ractl->file ? 1 : 0;
		do_forced_ra = true;
	}
	return do_forced_ra;
}

void page_cache_sync_ra(struct readahead_control *ractl, unsigned long req_count)
{
	struct machine *m = mapping_machine(ractl->mapping);
	u64 start_ps = m->clock_ps;

	trace_ra_call(EV_page_cache_sync_ra, ractl, ractl->ra, req_count);
	if (!ractl->provenance)
		ractl->provenance = PROVENANCE_SYNC;
	if (sync_forced(ractl, &req_count)) {
		struct ra_request req = {.req_count = req_count, .rule = RULE_FORCED};

		ractl->provenance = PROVENANCE_FORCED;
		trace_window(ractl, &req, ractl->_index, req_count, 0);
		force_page_cache_ra(ractl, req_count);
	} else if (unlikely(m->ra_policy) && policy_readahead(ractl, NULL, req_count)) {
		/* done */
	} else if (knob(m, RA_SPLIT)) {
		sync_window(ractl, req_count);
	} else {
		ondemand_readahead(ractl, NULL, req_count);
	}
	m->mm->ra_ps += m->clock_ps - start_ps;
}

void page_cache_async_ra(struct readahead_control *ractl, struct folio *folio,
			 unsigned long req_count)
{
	struct machine *m = mapping_machine(ractl->mapping);
	u64 start_ps = m->clock_ps;

	if (!ractl->ra->ra_pages || folio_test_writeback(folio))
		return;
	trace_ra_call(EV_page_cache_async_ra, ractl, ractl->ra, req_count);
	folio_clear_readahead(folio);
	trace_event(&m->trace, EV_fl_mark_hit, folio_order(folio), ractl->mapping->host->i_ino,
		    folio->index, 0, 0);
	ractl->provenance = PROVENANCE_ASYNC;
	if (unlikely(m->ra_policy) && policy_readahead(ractl, folio, req_count))
		; /* done */
	else if (knob(m, RA_SPLIT))
		async_window(ractl, folio, req_count);
	else
		ondemand_readahead(ractl, folio, req_count);
	m->mm->ra_ps += m->clock_ps - start_ps;
}

int ksys_readahead(struct file *file, loff_t offset, size_t count)
{
	if (!(file->f_mode & FMODE_READ))
		return -EBADF;
	return vfs_fadvise(file, offset, count, POSIX_FADV_WILLNEED_);
}

/* Insert one smallest folio outside the request; false where something is cached or memory is out.
 */
static bool expand_one(struct readahead_control *ractl, pgoff_t index)
{
	return !page_is_cached(ractl->mapping, index) && ra_insert_min(ractl, index) > 0;
}

void readahead_expand(struct readahead_control *ractl, loff_t new_start, size_t new_len)
{
	unsigned int shift = mapping_machine(ractl->mapping)->page_shift;
	unsigned long min_nrpages = mapping_min_folio_nrpages(ractl->mapping);
	pgoff_t new_index = new_start >> shift;
	unsigned long new_nr_pages;

	while (ractl->_index > new_index) {
		if (!expand_one(ractl, round_down(ractl->_index - 1, min_nrpages)))
			return;
		ractl->_nr_pages += min_nrpages;
		ractl->_index -= min_nrpages;
	}
	new_len += new_start - readahead_pos(ractl);
	new_nr_pages = DIV_ROUND_UP(new_len, 1UL << shift);
	while (ractl->_nr_pages < new_nr_pages) {
		if (!expand_one(ractl, round_down(ractl->_index + ractl->_nr_pages, min_nrpages)))
			return;
		ractl->_nr_pages += min_nrpages;
		if (ractl->ra) {
			ractl->ra->size += min_nrpages;
			ractl->ra->async_size += min_nrpages;
		}
	}
}
