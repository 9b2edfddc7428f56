/*
 * Reclaim: from the tail of the inactive file list, feeding it from the active one.
 *
 * Mirrors mm/vmscan.c. Differs: file pages only, clean only (the read side dirties nothing), no
 * cgroups, no anon/file balance; with one task kswapd runs at once beside it instead of being
 * scheduled.
 */
#include "block/blkdev.h"
#include "mm/internal.h"
#include "mm/mm.h"
#include "mm/writeback.h"

#define SWAP_CLUSTER_MAX 32UL
#define DEF_PRIORITY	 12

struct scan_control {
	unsigned long nr_to_reclaim;
	unsigned long nr_scanned;
	unsigned long nr_reclaimed;
	int priority;
	bool kswapd;
};

/* Only what was reclaimed leaves a shadow; what was thrown away on request does not. */
static long __remove_mapping(struct address_space *mapping, struct folio *folio, bool reclaimed)
{
	struct machine *m = mapping_machine(mapping);
	long nr = folio_nr_pages(folio);
	void *shadow;

	if (folio_ref_count(folio) != 1 + nr || folio_test_dirty(folio))
		return 0;
	lock_excl(m, XA_LOCK, &mapping->xa_lock);
	if (folio_ref_count(folio) != 1 + nr || folio_test_dirty(folio)) {
		unlock_excl(m, XA_LOCK, &mapping->xa_lock);
		return 0;
	}
	shadow = reclaimed ? workingset_eviction(folio) : NULL;
	__filemap_remove_folio(folio, shadow);
	unlock_excl(m, XA_LOCK, &mapping->xa_lock);
	filemap_free_folio(mapping, folio);
	return nr;
}

long remove_mapping(struct address_space *mapping, struct folio *folio)
{
	return __remove_mapping(mapping, folio, false);
}

enum folio_references { FOLIOREF_RECLAIM, FOLIOREF_KEEP, FOLIOREF_ACTIVATE };

/*
 * A file folio that was referenced once is used-once data: reclaim it. Used through a mapping it
 * gets another round, and is activated if that happens again or it holds code.
 */
static enum folio_references folio_check_references(struct folio *folio)
{
	unsigned long vm_flags;
	unsigned int referenced_ptes = folio_referenced(folio, &vm_flags);
	bool referenced_folio = folio_test_clear_referenced(folio);

	if (vm_flags & VM_LOCKED)
		return FOLIOREF_ACTIVATE;
	if (!referenced_ptes)
		return FOLIOREF_RECLAIM;
	folio_set_referenced(folio);
	if (referenced_folio || referenced_ptes > 1 || vm_flags & VM_EXEC)
		return FOLIOREF_ACTIVATE;
	return FOLIOREF_KEEP;
}

/* Unmap and drop a locked, clean folio: pages freed. */
static long drop_folio(struct folio *folio)
{
	if (!folio->mapping || folio_test_writeback(folio))
		return 0;
	try_to_unmap(folio);
	if (folio_mapped(folio) || folio_test_dirty(folio) ||
	    !filemap_release_folio(folio, GFP_KERNEL))
		return 0;
	return __remove_mapping(folio->mapping, folio, true);
}

/* One isolated folio (our reference is the only one besides the cache's): pages freed, or 0. */
static long shrink_one(struct folio *folio)
{
	struct machine *m = folio_machine(folio);
	long freed = 0;

	charge(m, COST_SHRINK_FOLIO, 1);
	if (!folio_trylock(folio))
		return 0;
	switch (folio_check_references(folio)) {
	case FOLIOREF_ACTIVATE:
		folio_set_active(folio);
		break;
	case FOLIOREF_RECLAIM:
		freed = drop_folio(folio);
		break;
	case FOLIOREF_KEEP:
		break;
	}
	folio_unlock(folio);
	return freed;
}

long reclaim_folio(struct folio *folio)
{
	struct machine *m = folio_machine(folio);
	struct lruvec *lruvec = &m->mm->lruvec;
	long freed = 0;

	if (!folio_test_lru(folio) || !folio_trylock(folio))
		return 0;
	charge(m, COST_SHRINK_FOLIO, 1);
	lock_excl_smp(m, LRU_LOCK, &lruvec->lru_lock);
	if (!folio_test_lru(folio)) {
		unlock_excl(m, LRU_LOCK, &lruvec->lru_lock);
		folio_unlock(folio);
		return 0;
	}
	lruvec_del_folio(lruvec, folio);
	folio_clear_lru(folio);
	unlock_excl(m, LRU_LOCK, &lruvec->lru_lock);
	freed = drop_folio(folio);
	folio_unlock(folio);
	if (!freed) {
		lock_excl_smp(m, LRU_LOCK, &lruvec->lru_lock);
		lruvec_add_folio(lruvec, folio);
		folio_set_lru(folio);
		unlock_excl(m, LRU_LOCK, &lruvec->lru_lock);
	}
	return freed;
}

/* Take up to @nr pages from the tail of @list onto @dst with a reference each; pages taken. */
static unsigned long isolate_lru_folios(struct machine *m, enum lru_list lru, unsigned long nr,
					struct list_head *dst)
{
	struct lruvec *lruvec = &m->mm->lruvec;
	unsigned long taken = 0, skipped = 0;

	lock_excl(m, LRU_LOCK, &lruvec->lru_lock);
	charge_lines(m, &lruvec->lru_lock, COST_ISOLATE_LINE, 1);
	while (taken < nr && skipped < nr && !list_empty(&lruvec->lists[lru])) {
		struct folio *folio = list_last_entry(&lruvec->lists[lru], struct folio, lru);

		if (!folio_ref_count(folio)) { /* another CPU is about to free it */
			list_del(&folio->lru);
			list_add(&folio->lru, &lruvec->lists[lru]);
			skipped++;
			continue;
		}
		folio_get(folio);
		lruvec_del_folio(lruvec, folio);
		folio_clear_lru(folio);
		list_add(&folio->lru, dst);
		taken += folio_nr_pages(folio);
		charge_lines(m, &lruvec->lru_lock, COST_ISOLATE_LINE, 1);
	}
	unlock_excl(m, LRU_LOCK, &lruvec->lru_lock);
	return taken;
}

/* Back from @from to the list it belongs on now. */
static void putback_folio(struct folio *folio, enum lru_list from)
{
	struct lruvec *lruvec = &folio_machine(folio)->mm->lruvec;
	enum lru_list to = folio_lru_list(folio);

	if (to != from)
		folio_trace(folio, EV_fl_lru_move, folio->_pfn, from | to << 8);
	lruvec_add_folio(lruvec, folio);
	folio_set_lru(folio);
	folio_put(folio);
}

/*
 * The same for all of @kept under one lru_lock; a folio that has only our reference left by now is
 * freed instead. mm/vmscan.c move_folios_to_lru().
 */
static void move_folios_to_lru(struct machine *m, struct list_head *kept, enum lru_list from)
{
	struct lock *lru_lock = &m->mm->lruvec.lru_lock;
	struct folio *folio, *next;
	struct list_head dead;

	INIT_LIST_HEAD(&dead);
	lock_excl_smp(m, LRU_LOCK, lru_lock);
	list_for_each_entry_safe(folio, next, kept, lru) {
		list_del(&folio->lru);
		charge_lines(m, lru_lock, COST_PUTBACK_LINE, 1);
		if (folio_ref_count(folio) == 1)
			list_add(&folio->lru, &dead);
		else
			putback_folio(folio, from);
	}
	unlock_excl(m, LRU_LOCK, lru_lock);
	list_for_each_entry_safe(folio, next, &dead, lru)
		folio_put(folio);
}

/* What reclaim keeps goes back at once, or with several tasks when the list is through. */
static void keep_folio(struct folio *folio, enum lru_list from, struct list_head *kept)
{
	if (folio_machine(folio)->sched)
		list_add_tail(&folio->lru, kept);
	else
		putback_folio(folio, from);
}

static unsigned long shrink_inactive_list(struct machine *m, unsigned long nr_to_scan,
					  struct scan_control *sc)
{
	struct list_head isolated, kept;
	struct folio *folio, *next;
	unsigned long scanned, reclaimed = 0;

	INIT_LIST_HEAD(&isolated);
	INIT_LIST_HEAD(&kept);
	scanned = isolate_lru_folios(m, LRU_INACTIVE_FILE, nr_to_scan, &isolated);
	list_for_each_entry_safe_reverse(folio, next, &isolated, lru)
	{
		list_del(&folio->lru);
		reclaimed += shrink_one(folio);
		if (folio->mapping)
			keep_folio(folio, LRU_INACTIVE_FILE, &kept);
		else
			folio_put(folio);
	}
	if (m->sched)
		move_folios_to_lru(m, &kept, LRU_INACTIVE_FILE);
	if (sc->kswapd) {
		m->mm->vm.pgscan_kswapd += scanned;
		m->mm->vm.pgsteal_kswapd += reclaimed;
	} else {
		m->mm->vm.pgscan_direct += scanned;
		m->mm->vm.pgsteal_direct += reclaimed;
	}
	trace_event(&m->trace, EV_mm_vmscan_lru_shrink_inactive, 0, 0, 0, scanned, reclaimed);
	sc->nr_scanned += scanned;
	sc->nr_reclaimed += reclaimed;
	return reclaimed;
}

static void shrink_active_list(struct machine *m, unsigned long nr_to_scan)
{
	struct list_head isolated, kept;
	struct folio *folio, *next;
	unsigned long taken;

	INIT_LIST_HEAD(&isolated);
	INIT_LIST_HEAD(&kept);
	taken = isolate_lru_folios(m, LRU_ACTIVE_FILE, nr_to_scan, &isolated);
	list_for_each_entry_safe_reverse(folio, next, &isolated, lru)
	{
		list_del(&folio->lru);
		folio_clear_active(folio);
		folio_set_workingset(folio);
		m->mm->vm.pgdeactivate += folio_nr_pages(folio);
		keep_folio(folio, LRU_ACTIVE_FILE, &kept);
	}
	if (m->sched)
		move_folios_to_lru(m, &kept, LRU_ACTIVE_FILE);
	trace_event(&m->trace, EV_mm_vmscan_lru_shrink_active, 0, 0, 0, taken, taken);
}

/* The larger memory is, the smaller a share the inactive list needs. mm/vmscan.c. */
static bool inactive_is_low(const struct machine *m)
{
	const struct lruvec *lruvec = &m->mm->lruvec;
	unsigned long inactive = lruvec->nr[LRU_INACTIVE_FILE];
	unsigned long active = lruvec->nr[LRU_ACTIVE_FILE];
	unsigned long gb = (inactive + active) >> (30 - m->page_shift), ratio = 1;

	while (gb && (ratio + 1) * (ratio + 1) <= 10 * gb)
		ratio++;
	return inactive * ratio < active;
}

/* One pass at this priority: a share of each list, at least a cluster. */
static void shrink_lruvec(struct machine *m, struct scan_control *sc)
{
	struct lruvec *lruvec = &m->mm->lruvec;
	unsigned long nr = lruvec->nr[LRU_INACTIVE_FILE] >> sc->priority;

	nr = max(nr, min(lruvec->nr[LRU_INACTIVE_FILE], SWAP_CLUSTER_MAX));
	while (nr && sc->nr_reclaimed < sc->nr_to_reclaim) {
		unsigned long n = min(nr, SWAP_CLUSTER_MAX);

		shrink_inactive_list(m, n, sc);
		nr -= n;
	}
	if (inactive_is_low(m))
		shrink_active_list(
			m, max(SWAP_CLUSTER_MAX, lruvec->nr[LRU_ACTIVE_FILE] >> sc->priority));
}

unsigned long try_to_free_pages(struct machine *m, unsigned int order, gfp_t gfp)
{
	struct scan_control sc = {
		.nr_to_reclaim = max(SWAP_CLUSTER_MAX, 1UL << order),
		.priority = DEF_PRIORITY,
	};

	(void)gfp;
	if (this_cpu(m)->memalloc)
		return 0;
	lru_add_drain(m);
	for (; sc.priority >= 0 && sc.nr_reclaimed < sc.nr_to_reclaim; sc.priority--)
		shrink_lruvec(m, &sc);
	if (!sc.nr_reclaimed && m->mm->vm.nr_dirty)
		wakeup_flusher_threads(m);
	return sc.nr_reclaimed;
}

static unsigned long pages_below_high(const struct zone *zone)
{
	unsigned long high = zone->_watermark[WMARK_HIGH];

	return zone->nr_free > high ? 0 : high - zone->nr_free + 1;
}

/* Returns pages freed. */
static unsigned long balance_pgdat(struct machine *m)
{
	struct scan_control sc = {.priority = DEF_PRIORITY, .kswapd = true};

	lru_add_drain(m);
	for (; sc.priority >= 1; sc.priority--) {
		unsigned long want = pages_below_high(&m->mm->zone);

		if (!want)
			break;
		sc.nr_to_reclaim = sc.nr_reclaimed + max(want, SWAP_CLUSTER_MAX);
		shrink_lruvec(m, &sc);
	}
	return sc.nr_reclaimed;
}

/* Beside the one task there is. */
static void kswapd_inline(struct machine *m)
{
	struct mm_cpu *cpu = this_cpu(m);
	enum machine_context context = m->context;

	if (!cpu->memalloc++) {
		m->context = CONTEXT_KSWAPD;
		balance_pgdat(m);
		m->context = context;
	}
	cpu->memalloc--;
}

void kswapd_run(struct machine *m)
{
	if (m->sched)
		sched_wake(m, &m->mm->zone);
	else
		kswapd_inline(m);
}

/* The daemon: sleeps until an allocation meets the low watermark. */
static void kswapd(void *arg)
{
	struct machine *m = arg;
	const struct zone *zone = &m->mm->zone;
	bool progress = true;

	m->context = CONTEXT_KSWAPD;
	this_cpu(m)->memalloc++;
	while (!sched_should_stop(m)) {
		if (!progress || zone_watermark_ok(zone, 0, zone->_watermark[WMARK_LOW]))
			sched_wait(m, zone);
		sched_op_begin(m);
		progress = balance_pgdat(m) != 0;
		sched_point(m);
	}
	lru_add_drain(m);
	this_cpu(m)->memalloc--;
	m->context = CONTEXT_TASK;
}

int kswapd_spawn(struct machine *m, struct sched *s)
{
	return sched_spawn(s, "kswapd0", true, kswapd, m);
}
