/*
 * The buddy allocator and struct folio.
 *
 * Mirrors mm/page_alloc.c. Differs: free blocks are bits instead of lists, so the lowest fitting
 * block is taken where the kernel takes the one freed last; per-CPU lists only say how often
 * zone->lock is due; no zones or compaction.
 */
#include <errno.h>
#ifdef FL_DEBUG
#include <sanitizer/asan_interface.h>
#endif

#include "block/blkdev.h"
#include "mm/internal.h"

/* Tries of a task that may not fail before it gives up. mm/page_alloc.c MAX_RECLAIM_RETRIES. */
#define MAX_RECLAIM_RETRIES 16

u64 mm_span_wanted(u64 pages)
{
	return pages * sizeof(struct folio) + 4096;
}

/* mm/page_alloc.c calculate_min_free_kbytes(), __setup_per_zone_wmarks(). */
static void setup_watermarks(struct machine *m, struct zone *zone)
{
	u64 kbytes = (u64)zone->managed_pages << m->page_shift >> 10, root = 0;
	unsigned long low;

	while ((root + 1) * (root + 1) <= kbytes * 16)
		root++;
	root = min_t(u64, max_t(u64, root, 128), 262144);
	low = min_t(u64, (root << 10) >> m->page_shift, zone->managed_pages / 8);
	zone->_watermark[WMARK_MIN] = low;
	zone->_watermark[WMARK_LOW] = low + max(low / 4, 1UL);
	zone->_watermark[WMARK_HIGH] = low + max(low / 2, 2UL);
}

static void free_block(struct zone *zone, unsigned long pfn, unsigned int order)
{
	hbitmap_set(&zone->free_area[order], pfn >> order);
	zone->nr_free += 1UL << order;
}

/* Hold the first page of every block of @order + 1 in [pfn, pfn + 2^max_order). */
static void fragment_block(struct machine *m, struct zone *zone, unsigned long pfn)
{
	unsigned int order = m->fragment_order;
	unsigned long step = 1UL << (order + 1), end = pfn + (1UL << m->max_page_order);

	for (; pfn < end; pfn += step) {
		zone->pinned++;
		for (unsigned int o = 0; o <= order; o++)
			free_block(zone, pfn + (1UL << o), o);
	}
}

static void free_range_at_boot(struct machine *m, struct zone *zone)
{
	unsigned long pfn = 0, left;
	struct prng prng;

	prng_seed(&prng, m->seed ^ 0x62756464);
	while ((left = m->max_pfn - pfn)) {
		unsigned int order = min(m->max_page_order, ilog2(left));

		if (order == m->max_page_order && m->fragment_order >= 0 &&
		    m->fragment_order < (int)order && prng_below(&prng, 100) < m->fragment_percent)
			fragment_block(m, zone, pfn);
		else
			free_block(zone, pfn, order);
		pfn += 1UL << order;
	}
}

int zone_init(struct machine *m)
{
	struct zone *zone = &m->mm->zone;

	for (unsigned int o = 0; o <= m->max_page_order; o++) {
		int ret = hbitmap_init(&zone->free_area[o], (m->max_pfn >> o) + 1);

		if (ret)
			return ret;
	}
	zone->managed_pages = m->max_pfn;
	setup_watermarks(m, zone);
	free_range_at_boot(m, zone);
	return 0;
}

void zone_exit(struct machine *m)
{
	for (unsigned int o = 0; o <= m->max_page_order; o++)
		hbitmap_fini(&m->mm->zone.free_area[o]);
}

/* Take a block of at least @order (*@from says which) and give back what is too much of it. */
static unsigned long __rmqueue_smallest(struct machine *m, struct zone *zone, unsigned int order,
					unsigned int *from)
{
	for (unsigned int o = order; o <= m->max_page_order; o++) {
		u64 block = hbitmap_next(&zone->free_area[o], 0);
		unsigned long pfn;

		if (block == HBITMAP_NONE)
			continue;
		hbitmap_clear(&zone->free_area[o], block);
		pfn = block << o;
		*from = o;
		while (o-- > order)
			hbitmap_set(&zone->free_area[o], (pfn >> o) + 1);
		zone->nr_free -= 1UL << order;
		return pfn;
	}
	return PFN_NONE;
}

/*
 * A block with bad pages in it was taken off the lists. True: it may be handed out nevertheless;
 * kernels that check new pages let it go for ever. mm/page_alloc.c check_new_pages().
 */
static bool bad_block_allowed(struct machine *m, unsigned long pfn, unsigned int order)
{
	struct mf_state *mf = &m->mm->mf;
	unsigned long bad = count_poisoned(m, pfn, order);

	mf->in_buddy -= bad;
	if (!bad || !knob(m, MF_CHECK_NEW_PAGES))
		return true;
	mf->off_buddy += 1UL << order;
	return false;
}

/* Debug builds: the bytes of free pages are out of bounds. */
static void forbid_bytes(struct machine *m, unsigned long pfn, unsigned int order, bool forbid)
{
#ifdef FL_DEBUG
	if (m->arena && forbid) {
		ASAN_POISON_MEMORY_REGION(page_address(m, pfn), m->page_size << order);
		m->forbidden_end = max(m->forbidden_end, pfn + (1UL << order));
	} else if (m->arena)
		ASAN_UNPOISON_MEMORY_REGION(page_address(m, pfn), m->page_size << order);
#endif
	(void)m, (void)pfn, (void)order, (void)forbid;
}

/* mm/page_alloc.c zone_batchsize(), zone_highsize() of any large machine. */
#define PCP_BATCH		63
#define PCP_HIGH		(4 * PCP_BATCH)
#define PAGE_ALLOC_COSTLY_ORDER 3

/* Does this CPU have the pages at hand? Otherwise zone->lock is due for a batch of them. */
static bool pcp_take(struct machine *m, unsigned int order)
{
	struct per_cpu_pages *pcp = &this_cpu(m)->pcp;
	bool had = pcp->count >= 1U << order;

	if (!m->sched || order > PAGE_ALLOC_COSTLY_ORDER)
		return false;
	if (!had)
		pcp->count += max(PCP_BATCH >> order, 2) << order;
	pcp->count -= 1U << order;
	return had;
}

/* May this CPU keep the pages for itself? Otherwise zone->lock is due to give a batch back. */
static bool pcp_give(struct machine *m, unsigned int order)
{
	struct per_cpu_pages *pcp = &this_cpu(m)->pcp;

	if (!m->sched || order > PAGE_ALLOC_COSTLY_ORDER)
		return false;
	pcp->count += 1U << order;
	if (pcp->count <= PCP_HIGH)
		return true;
	pcp->count -= PCP_BATCH;
	return false;
}

/* Not taken for pages at hand, but counted with one task, which has none. */
static void zone_lock(struct machine *m)
{
	lock_excl(m, ZONE_LOCK, &m->mm->zone.lock);
	charge_lines(m, &m->mm->zone.lock, COST_BUDDY_LINE, 2);
}

static unsigned long rmqueue(struct machine *m, unsigned int order)
{
	bool at_hand = pcp_take(m, order);
	unsigned long pfn;
	unsigned int from = 0;

	if (!at_hand)
		zone_lock(m);
	do {
		pfn = __rmqueue_smallest(m, &m->mm->zone, order, &from);
	} while (unlikely(m->mm->mf.in_buddy) && pfn != PFN_NONE &&
		 !bad_block_allowed(m, pfn, order));
	if (!at_hand)
		unlock_excl(m, ZONE_LOCK, &m->mm->zone.lock);
	if (pfn == PFN_NONE)
		return pfn;
	forbid_bytes(m, pfn, order, false);
	trace_event(&m->trace, EV_fl_buddy_alloc, order, 0, 0, pfn, from);
	return pfn;
}

void __free_frozen_pages(struct machine *m, unsigned long pfn, unsigned int order)
{
	struct zone *zone = &m->mm->zone;
	unsigned long first = pfn;
	unsigned int freed = order;
	bool keep = pcp_give(m, order);

	if (!keep)
		zone_lock(m);
	forbid_bytes(m, pfn, order, true);
	zone->nr_free += 1UL << order;
	while (order < m->max_page_order) {
		u64 buddy = (pfn >> order) ^ 1;

		if (!hbitmap_test(&zone->free_area[order], buddy))
			break;
		hbitmap_clear(&zone->free_area[order], buddy);
		pfn &= ~(1UL << order);
		order++;
	}
	hbitmap_set(&zone->free_area[order], pfn >> order);
	trace_event(&m->trace, EV_fl_buddy_free, freed, 0, 0, first, order);
	if (!keep)
		unlock_excl(m, ZONE_LOCK, &zone->lock);
}

bool take_page_off_buddy(struct machine *m, unsigned long pfn)
{
	struct zone *zone = &m->mm->zone;
	unsigned int order = 0;

	while (order <= m->max_page_order && !hbitmap_test(&zone->free_area[order], pfn >> order))
		order++;
	if (order > m->max_page_order)
		return false;
	hbitmap_clear(&zone->free_area[order], pfn >> order);
	while (order--)
		hbitmap_set(&zone->free_area[order], (pfn >> order) ^ 1);
	zone->nr_free--;
	m->mm->mf.off_buddy++;
	return true;
}

void put_page_back_buddy(struct machine *m, unsigned long pfn)
{
	m->mm->mf.off_buddy--;
	__free_frozen_pages(m, pfn, 0);
}

bool zone_watermark_ok(const struct zone *zone, unsigned int order, unsigned long mark)
{
	unsigned long need = (1UL << order) - 1 + mark;

	return zone->nr_free > need;
}

static unsigned long get_page_from_freelist(struct machine *m, unsigned int order,
					    enum zone_watermarks wmark)
{
	const struct zone *zone = &m->mm->zone;

	if (!zone_watermark_ok(zone, order, zone->_watermark[wmark]))
		return PFN_NONE;
	return rmqueue(m, order);
}

/* Order 0 for somebody who has to go on: reclaim, wait for I/O, in the end use the reserve. */
static unsigned long alloc_pages_slowpath(struct machine *m, gfp_t gfp, unsigned int order)
{
	unsigned int tries = gfp & __GFP_NORETRY ? 1 : MAX_RECLAIM_RETRIES;

	for (unsigned int i = 0; i < tries; i++) {
		unsigned long pfn;

		m->mm->vm.allocstall++;
		try_to_free_pages(m, order, gfp);
		pfn = get_page_from_freelist(m, order, WMARK_MIN);
		if (pfn != PFN_NONE)
			return pfn;
		if (!(gfp & __GFP_NORETRY) && !blk_wait_next(m))
			break;
	}
	return gfp & __GFP_NORETRY ? PFN_NONE : rmqueue(m, order);
}

unsigned long __alloc_frozen_pages(struct machine *m, gfp_t gfp, unsigned int order)
{
	unsigned long pfn = get_page_from_freelist(m, order, WMARK_LOW);

	if (likely(pfn != PFN_NONE))
		return pfn;
	kswapd_run(m);
	pfn = get_page_from_freelist(m, order, WMARK_MIN);
	if (pfn != PFN_NONE)
		return pfn;
	/* A lone task's kswapd has done already what could be done. */
	if (order && gfp & __GFP_NORETRY && !m->sched)
		return PFN_NONE;
	return alloc_pages_slowpath(m, gfp, order);
}

struct folio *folio_struct_alloc(struct machine *m)
{
	struct mm_state *mm = m->mm;
	struct folio *folio = mm->free_folios;

	if (folio)
		mm->free_folios = (struct folio *)folio->lru.next;
	else if (mm->next_folio < mm->nr_folios)
		folio = &mm->folios[mm->next_folio++];
	else
		return NULL;
	mm->live_folios++;
	return folio;
}

static void folio_struct_free(struct machine *m, struct folio *folio)
{
	folio->_refcount = 0;
	folio->lru.next = (struct list_head *)m->mm->free_folios;
	m->mm->free_folios = folio;
	m->mm->live_folios--;
}

struct folio *folio_alloc(struct machine *m, gfp_t gfp, unsigned int order)
{
	unsigned long pfn;
	struct folio *folio;

	if (m->fail_folio_alloc_in && --m->fail_folio_alloc_in == 0)
		return NULL;
	pfn = __alloc_frozen_pages(m, gfp, order);
	if (pfn == PFN_NONE)
		return NULL;
	folio = folio_struct_alloc(m);
	if (!folio) {
		__free_frozen_pages(m, pfn, order);
		return NULL;
	}
	*folio = (struct folio){._refcount = 1, ._pfn = pfn, ._order = order};
	if (unlikely(page_hwpoison(m, pfn)))
		folio_set_hwpoison(folio);
	m->mm->live_pages += 1UL << order;
	return folio;
}

/* Single bad pages never reach the free lists; inside of larger blocks they do, unnoticed. */
static bool keep_bad_page(struct machine *m, const struct folio *folio)
{
	unsigned long bad = count_poisoned(m, folio->_pfn, folio->_order);

	if (!folio->_order && bad) {
		m->mm->mf.off_buddy++;
		return true;
	}
	m->mm->mf.in_buddy += bad;
	return false;
}

void free_folio(struct folio *folio)
{
	struct machine *m = folio_machine(folio);

	charge(m, COST_FREE_FOLIO, 1);
	m->mm->live_pages -= folio_nr_pages(folio);
	if (likely(!m->mm->mf.num_poisoned_pages) || !keep_bad_page(m, folio))
		__free_frozen_pages(m, folio->_pfn, folio->_order);
	folio_struct_free(m, folio);
}
