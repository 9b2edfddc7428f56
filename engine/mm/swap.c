/*
 * LRU lists and the batches in front of them.
 *
 * Mirrors mm/swap.c, include/linux/mm_inline.h: the classic LRU with two file lists. Differs: one
 * node, no memory cgroups, no MGLRU.
 */
#include <string.h>

#include "mm/internal.h"

enum lru_list folio_lru_list(const struct folio *folio)
{
	enum lru_list lru;

	if (folio_test_unevictable(folio))
		return LRU_UNEVICTABLE;
	lru = folio_test_swapbacked(folio) ? LRU_INACTIVE_ANON : LRU_INACTIVE_FILE;
	return folio_test_active(folio) ? lru + LRU_ACTIVE : lru;
}

void lruvec_add_folio(struct lruvec *lruvec, struct folio *folio)
{
	enum lru_list lru = folio_lru_list(folio);

	lruvec->nr[lru] += folio_nr_pages(folio);
	list_add(&folio->lru, &lruvec->lists[lru]);
}

void lruvec_add_folio_tail(struct lruvec *lruvec, struct folio *folio)
{
	enum lru_list lru = folio_lru_list(folio);

	lruvec->nr[lru] += folio_nr_pages(folio);
	list_add_tail(&folio->lru, &lruvec->lists[lru]);
}

void lruvec_del_folio(struct lruvec *lruvec, struct folio *folio)
{
	list_del(&folio->lru);
	lruvec->nr[folio_lru_list(folio)] -= folio_nr_pages(folio);
}

typedef void (*move_fn_t)(struct lruvec *lruvec, struct folio *folio);

static void lru_add(struct lruvec *lruvec, struct folio *folio)
{
	lruvec_add_folio(lruvec, folio);
	folio_set_lru(folio);
	folio_trace(folio, EV_mm_lru_insertion, folio->_pfn, folio_lru_list(folio));
}

static void lru_activate(struct lruvec *lruvec, struct folio *folio)
{
	struct machine *m = folio_machine(folio);

	if (!folio_test_lru(folio) || folio_test_active(folio) || folio_test_unevictable(folio))
		return;
	folio_trace(folio, EV_mm_lru_activate, folio->_pfn, folio_lru_list(folio));
	lruvec_del_folio(lruvec, folio);
	folio_set_active(folio);
	lruvec_add_folio(lruvec, folio);
	m->mm->vm.pgactivate += folio_nr_pages(folio);
}

/* To the end of the inactive list where reclaim starts; writeback folios go to its head. */
static void lru_deactivate_file(struct lruvec *lruvec, struct folio *folio)
{
	struct machine *m = folio_machine(folio);

	if (!folio_test_lru(folio) || folio_test_unevictable(folio) || folio->_mapcount)
		return;
	folio_trace(folio, EV_fl_lru_deactivate, folio->_pfn, folio_lru_list(folio));
	lruvec_del_folio(lruvec, folio);
	folio_clear_active(folio);
	folio_clear_referenced(folio);
	if (folio_test_writeback(folio) || folio_test_dirty(folio))
		lruvec_add_folio(lruvec, folio);
	else
		lruvec_add_folio_tail(lruvec, folio);
	m->mm->vm.pgdeactivate += folio_nr_pages(folio);
}

/*
 * Cache lines of other CPUs that moving @nr folios writes to. Added ones, behind each other: the
 * list's head and the folio that was first. Others leave a list, too, each with two neighbours.
 */
static unsigned int move_lines(move_fn_t move_fn, unsigned int nr)
{
	return move_fn == lru_add ? 2 : 2 + 2 * nr;
}

static void folio_batch_move_lru(struct machine *m, struct folio_batch *waiting, move_fn_t move_fn)
{
	struct folio_batch taken, *fbatch = &taken;

	if (!waiting->nr)
		return;
	taken.nr = waiting->nr;
	memcpy(taken.folios, waiting->folios, taken.nr * sizeof(*taken.folios));
	waiting->nr = 0;
	lock_excl(m, LRU_LOCK, &m->mm->lruvec.lru_lock);
	charge_lines(m, &m->mm->lruvec.lru_lock, COST_LRU_LINE, move_lines(move_fn, fbatch->nr));
	for (unsigned int i = 0; i < fbatch->nr; i++)
		move_fn(&m->mm->lruvec, fbatch->folios[i]);
	unlock_excl(m, LRU_LOCK, &m->mm->lruvec.lru_lock);
	for (unsigned int i = 0; i < fbatch->nr; i++)
		folio_put(fbatch->folios[i]);
}

/* Large folios do not wait in a batch. mm/swap.c folio_batch_add_and_move(). */
static void folio_batch_add_and_move(struct folio *folio, struct folio_batch *fbatch,
				     move_fn_t move_fn)
{
	folio_get(folio);
	if (folio_batch_add(fbatch, folio) && !folio_test_large(folio))
		return;
	folio_batch_move_lru(folio_machine(folio), fbatch, move_fn);
}

void folio_add_lru(struct folio *folio)
{
	struct machine *m = folio_machine(folio);

	charge(m, COST_LRU_ADD, 1);
	folio_batch_add_and_move(folio, &this_cpu(m)->fbatches.lru_add, lru_add);
}

void deactivate_file_folio(struct folio *folio)
{
	struct machine *m = folio_machine(folio);

	if (folio_test_unevictable(folio) || !folio_test_lru(folio))
		return;
	folio_batch_add_and_move(folio, &this_cpu(m)->fbatches.lru_deactivate_file,
				 lru_deactivate_file);
}

void folio_deactivate(struct folio *folio)
{
	struct machine *m = folio_machine(folio);
	struct lruvec *lruvec = &m->mm->lruvec;

	if (!folio_test_lru(folio) || !folio_test_active(folio) || folio_test_unevictable(folio))
		return;
	lock_excl(m, LRU_LOCK, &lruvec->lru_lock);
	if (!folio_test_lru(folio) || !folio_test_active(folio)) {
		unlock_excl(m, LRU_LOCK, &lruvec->lru_lock);
		return;
	}
	folio_trace(folio, EV_fl_lru_deactivate, folio->_pfn, folio_lru_list(folio));
	lruvec_del_folio(lruvec, folio);
	folio_clear_active(folio);
	folio_clear_referenced(folio);
	lruvec_add_folio(lruvec, folio);
	m->mm->vm.pgdeactivate += folio_nr_pages(folio);
	unlock_excl(m, LRU_LOCK, &lruvec->lru_lock);
}

static void lru_add_drain_cpu(struct machine *m, unsigned int cpu)
{
	struct cpu_fbatches *fbatches = &m->mm->cpus[cpu].fbatches;

	folio_batch_move_lru(m, &fbatches->lru_add, lru_add);
	folio_batch_move_lru(m, &fbatches->lru_deactivate_file, lru_deactivate_file);
	folio_batch_move_lru(m, &fbatches->lru_activate, lru_activate);
}

void lru_add_drain(struct machine *m)
{
	lru_add_drain_cpu(m, m->cpu);
}

void lru_add_drain_all(struct machine *m)
{
	for (unsigned int i = 0; i <= m->nr_cpus; i++)
		lru_add_drain_cpu(m, i);
}

/* Still waiting in the add batch: it will go to the active list from there. */
static void __lru_cache_activate_folio(struct machine *m, struct folio *folio)
{
	const struct folio_batch *fbatch = &this_cpu(m)->fbatches.lru_add;

	for (int i = fbatch->nr - 1; i >= 0; i--)
		if (fbatch->folios[i] == folio) {
			folio_set_active(folio);
			return;
		}
}

static void folio_activate(struct machine *m, struct folio *folio)
{
	if (folio_test_active(folio) || folio_test_unevictable(folio))
		return;
	folio_batch_add_and_move(folio, &this_cpu(m)->fbatches.lru_activate, lru_activate);
}

void folio_mark_accessed(struct folio *folio)
{
	struct machine *m = folio_machine(folio);

	charge(m, COST_MARK_ACCESSED, 1);
	if (folio_test_dropbehind(folio))
		return;
	if (!folio_test_referenced(folio)) {
		folio_set_referenced(folio);
		return;
	}
	if (folio_test_unevictable(folio) || folio_test_active(folio))
		return;
	if (folio_test_lru(folio))
		folio_activate(m, folio);
	else
		__lru_cache_activate_folio(m, folio);
	folio_clear_referenced(folio);
	workingset_activation(folio);
}

void __folio_put(struct folio *folio)
{
	struct machine *m = folio_machine(folio);

	if (folio_test_lru(folio)) {
		lock_excl(m, LRU_LOCK, &m->mm->lruvec.lru_lock);
		lruvec_del_folio(&m->mm->lruvec, folio);
		folio_clear_lru(folio);
		unlock_excl(m, LRU_LOCK, &m->mm->lruvec.lru_lock);
	}
	free_folio(folio);
}
