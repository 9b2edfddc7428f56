/*
 * Shadow entries: what an evicted folio leaves behind, and what its return means.
 *
 * Mirrors mm/workingset.c. Differs: one lruvec, so the shadow holds just the age and the
 * workingset flag; buckets are not needed.
 */
#include "mm/internal.h"

#define WORKINGSET_SHIFT 1
#define EVICTION_MASK	 ((1UL << 62) - 1)

static void *pack_shadow(unsigned long eviction, bool workingset)
{
	return xa_mk_value((eviction << WORKINGSET_SHIFT | workingset) & EVICTION_MASK);
}

void *workingset_eviction(struct folio *folio)
{
	struct lruvec *lruvec = &folio_machine(folio)->mm->lruvec;
	unsigned long eviction = lruvec->nonresident_age;

	lruvec->nonresident_age += folio_nr_pages(folio);
	return pack_shadow(eviction, folio_test_workingset(folio));
}

/* Did the folio leave so recently that a larger inactive list would have kept it? */
static bool workingset_test_recent(const struct lruvec *lruvec, unsigned long value)
{
	unsigned long eviction = value >> WORKINGSET_SHIFT;
	unsigned long mask = EVICTION_MASK >> WORKINGSET_SHIFT;
	unsigned long distance = (lruvec->nonresident_age - eviction) & mask;

	return distance <= lruvec->nr[LRU_ACTIVE_FILE] + lruvec->nr[LRU_INACTIVE_ANON] +
				   lruvec->nr[LRU_ACTIVE_ANON];
}

void workingset_refault(struct folio *folio, void *shadow)
{
	struct machine *m = folio_machine(folio);
	unsigned long value = xa_to_value(shadow);
	bool recent = workingset_test_recent(&m->mm->lruvec, value);

	m->mm->vm.workingset_refault_file += folio_nr_pages(folio);
	trace_event(&m->trace, EV_fl_workingset_refault, folio->_order, folio->mapping->host->i_ino,
		    folio->index, folio->_pfn, recent);
	if (!recent)
		return;
	folio_set_active(folio);
	workingset_activation(folio);
	m->mm->vm.workingset_activate_file += folio_nr_pages(folio);
	if (value & 1)
		folio_set_workingset(folio);
}

void workingset_activation(struct folio *folio)
{
	folio_machine(folio)->mm->lruvec.nonresident_age += folio_nr_pages(folio);
}
