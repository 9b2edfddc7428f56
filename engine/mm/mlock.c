/*
 * mlock(2) in its simplest form: a VMA as a whole, its pages faulted in and kept off reclaim.
 *
 * Mirrors mm/mlock.c. Differs: no mlock_count; a folio is unevictable while a locked VMA maps it.
 */
#include "mm/internal.h"
#include "mm/mm.h"

static void move_lru(struct folio *folio, bool unevictable)
{
	enum lru_list from;
	struct machine *m = folio_machine(folio);
	struct lruvec *lruvec = &m->mm->lruvec;

	if (folio_test_unevictable(folio) == unevictable || !folio_test_lru(folio))
		return;
	lock_excl(m, LRU_LOCK, &lruvec->lru_lock);
	from = folio_lru_list(folio);
	lruvec_del_folio(lruvec, folio);
	if (unevictable) {
		folio_clear_active(folio);
		folio_set_unevictable(folio);
	} else {
		folio_clear_unevictable(folio);
	}
	lruvec_add_folio(lruvec, folio);
	folio_trace(folio, EV_fl_lru_move, folio->_pfn, from | folio_lru_list(folio) << 8);
	unlock_excl(m, LRU_LOCK, &lruvec->lru_lock);
}

void mlock_vma_folio(struct folio *folio, unsigned int nr)
{
	const struct machine *m = folio_machine(folio);

	if (!folio_test_large(folio) || (knob(m, MLOCK_AT_MAP) && nr == folio_nr_pages(folio)))
		move_lru(folio, true);
}

/* All folios of the VMA's pages, as far as they lie wholly inside. */
static void mlock_vma_folios(struct vm_area_struct *vma, bool lock)
{
	struct machine *m = vma->vm_mm->machine;
	pgoff_t index = vma->vm_pgoff, end = index + vma_pages(vma);

	lru_add_drain(m);
	while (index < end) {
		struct folio *folio = filemap_get_folio(vma->vm_file->f_mapping, index);

		if (!folio) {
			index++;
			continue;
		}
		index = folio_next_index(folio);
		if (!lock || (folio_mapped(folio) && index <= end && folio->index >= vma->vm_pgoff))
			move_lru(folio, lock);
		folio_put(folio);
	}
}

int do_mlock(struct vm_area_struct *vma)
{
	int ret;

	vma->vm_flags |= VM_LOCKED;
	ret = populate_range(vma, vma->vm_start, vma->vm_end, false);
	if (!ret)
		mlock_vma_folios(vma, true);
	return ret;
}

void do_munlock(struct vm_area_struct *vma)
{
	vma->vm_flags &= ~VM_LOCKED;
	mlock_vma_folios(vma, false);
}
