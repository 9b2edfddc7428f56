/*
 * Hard memory errors.
 *
 * Mirrors mm/memory-failure.c: memory_failure() and its handlers for page-cache pages. Soft
 * offlining and unpoisoning are in memory-failure_soft.c.
 */
#include "mm/memory-failure.h"

#include <errno.h>

#include "mm/internal.h"
#include "mm/mm.h"
#include "mm/writeback.h"

static const char *const action_texts[] = {
	[MF_MSG_UNMAP_FAILED] = "unmapping failed page",
	[MF_MSG_DIRTY_LRU] = "dirty LRU page",
	[MF_MSG_CLEAN_LRU] = "clean LRU page",
	[MF_MSG_TRUNCATED_LRU] = "already truncated LRU page",
	[MF_MSG_BUDDY] = "free buddy page",
	[MF_MSG_UNSPLIT_THP] = "unsplit thp",
	[MF_MSG_UNKNOWN] = "unknown page",
};

static const char *const result_texts[] = {
	[MF_IGNORED] = "Ignored",
	[MF_FAILED] = "Failed",
	[MF_DELAYED] = "Delayed",
	[MF_RECOVERED] = "Recovered",
};

const char *mf_action_text(enum mf_action_page_type type)
{
	return action_texts[type];
}

const char *mf_result_text(enum mf_result result)
{
	return result_texts[result];
}

/* ---- pages and folios ---- */

struct folio *pfn_folio(struct machine *m, unsigned long pfn)
{
	for (u64 i = 0; i < m->mm->next_folio; i++) {
		struct folio *folio = &m->mm->folios[i];

		if (folio->_refcount > 0 && pfn - folio->_pfn < folio_nr_pages(folio))
			return folio;
	}
	return NULL;
}

bool page_hwpoison(const struct machine *m, unsigned long pfn)
{
	return m->page_state[pfn] & PAGE_HWPOISON;
}

static void change_page_hwpoison(struct machine *m, unsigned long pfn, bool bad)
{
	struct folio *folio = pfn_folio(m, pfn);
	bool cached = folio && folio->mapping;

	if (bad)
		m->page_state[pfn] |= PAGE_HWPOISON;
	else
		m->page_state[pfn] &= ~PAGE_HWPOISON;
	if (folio && folio->_pfn == pfn && bad)
		folio_set_hwpoison(folio);
	if (folio && folio->_pfn == pfn && !bad)
		folio_clear_hwpoison(folio);
	trace_event(&m->trace, EV_fl_hwpoison, folio ? folio->_order : 0,
		    cached ? folio->mapping->host->i_ino : 0,
		    cached ? folio->index + (pfn - folio->_pfn) : 0, pfn, bad);
}

void set_page_hwpoison(struct machine *m, unsigned long pfn)
{
	change_page_hwpoison(m, pfn, true);
}

void clear_page_hwpoison(struct machine *m, unsigned long pfn)
{
	change_page_hwpoison(m, pfn, false);
}

unsigned long count_poisoned(const struct machine *m, unsigned long pfn, unsigned int order)
{
	unsigned long nr = 0;

	for (unsigned long i = 0; i < BIT(order); i++)
		nr += page_hwpoison(m, pfn + i);
	return nr;
}

unsigned long split_poison_flags(const struct machine *m, unsigned long pfn, unsigned int order)
{
	unsigned long flags = page_hwpoison(m, pfn) ? BIT(PG_hwpoison) : 0;

	if (order && knob(m, KEEP_HAS_HWPOISONED) && count_poisoned(m, pfn, order))
		flags |= BIT(PG_has_hwpoisoned);
	return flags;
}

int try_to_split_thp_page(struct machine *m, unsigned long pfn, struct folio **foliop)
{
	struct folio *folio = *foliop, *piece;
	int ret;

	lru_add_drain(m);
	folio_lock(folio);
	ret = folio->mapping ? split_folio(folio) : -EBUSY;
	folio_unlock(folio);
	if (ret)
		return -EBUSY;
	piece = pfn_folio(m, pfn);
	if (piece != folio) {
		folio_get(piece);
		folio_put(folio);
	}
	*foliop = piece;
	return folio_test_large(piece) ? -EBUSY : 0;
}

/* ---- signals ---- */

static void send_sig_mceerr(struct mm_struct *mm, int code, unsigned long addr, unsigned int lsb)
{
	mm->mce.si_code = code;
	mm->mce.si_addr = addr;
	mm->mce.si_addr_lsb = lsb;
	mm->mce.count++;
}

/* Is the page at @addr mapped there, as a page of @folio? */
static bool maps_folio(const struct vm_area_struct *vma, unsigned long addr,
		       const struct folio *folio)
{
	struct pmd *pmd = pmd_offset(vma->vm_mm, addr);

	if (!pmd)
		return false;
	if (pmd->huge)
		return pte_folio(pmd->huge) == folio;
	return pmd->pte && pte_folio(pmd->pte[pte_index(vma->vm_mm->machine, addr)]) == folio;
}

/*
 * Does the task want to know, and how? 0: not at all. task_early_kill() and kill_proc(): who
 * consumed the error is always told, the others if they, or else the machine, ask for it.
 */
static int signal_code(const struct machine *m, const struct mm_struct *mm, int flags)
{
	const bool early[] = {
		[MCE_KILL_DEFAULT] = m->mm->mf.early_kill,
		[MCE_KILL_EARLY] = true,
		[MCE_KILL_LATE] = false,
	};

	if (flags & MF_ACTION_REQUIRED && mm == m->mm->mf.current_mm)
		return BUS_MCEERR_AR;
	return early[mm->mce.kill] ? BUS_MCEERR_AO : 0;
}

/*
 * Tasks to be told, each once: a VMA that covers the page is enough, it need not be mapped there.
 * They are remembered in mce.pending. collect_procs_file()
 */
static void collect_procs(struct machine *m, const struct folio *folio, pgoff_t index, int flags)
{
	struct vm_area_struct *vma;

	list_for_each_entry(vma, &folio->mapping->i_mmap, shared) {
		struct mm_struct *mm = vma->vm_mm;

		if (index < vma->vm_pgoff || index >= vma->vm_pgoff + vma_pages(vma))
			continue;
		if (mm->mce.pending)
			continue;
		mm->mce.pending = signal_code(m, mm, flags);
		mm->mce.pending_addr = vma_address(vma, index);
	}
}

/* Tell them, or forget them. */
static void kill_procs(struct machine *m, bool forcekill, unsigned int lsb)
{
	struct mm_struct *mm;

	list_for_each_entry(mm, &m->mm->mms, mmlist) {
		if (mm->mce.pending && forcekill)
			send_sig_mceerr(mm, mm->mce.pending, mm->mce.pending_addr, lsb);
		mm->mce.pending = 0;
	}
}

void mm_sigbus_hwpoison(struct mm_struct *mm, unsigned long address)
{
	struct machine *m = mm->machine;

	send_sig_mceerr(mm, BUS_MCEERR_AR, round_down(address, m->page_size), m->page_shift);
}

/* Already bad, consumed again: one signal, for the first mapping found. */
static void kill_accessing_process(struct machine *m, unsigned long pfn)
{
	struct mm_struct *mm = m->mm->mf.current_mm;
	const struct folio *folio = pfn_folio(m, pfn);
	struct vm_area_struct *vma;

	if (!mm || !folio || !folio->mapping)
		return;
	list_for_each_entry(vma, &folio->mapping->i_mmap, shared) {
		pgoff_t index = folio->index + (pfn - folio->_pfn);

		if (vma->vm_mm != mm || index < vma->vm_pgoff ||
		    index >= vma->vm_pgoff + vma_pages(vma))
			continue;
		if (!maps_folio(vma, vma_address(vma, index), folio))
			continue;
		mm_sigbus_hwpoison(mm, vma_address(vma, index));
		return;
	}
}

/* ---- unmapping ---- */

static bool can_writeback(const struct folio *folio)
{
	return inode_to_bdi(folio->mapping->host)->capabilities & BDI_CAP_WRITEBACK;
}

/* Was any PTE that maps the single page stored through? */
static bool mapped_dirty(const struct folio *folio)
{
	struct vm_area_struct *vma;

	list_for_each_entry(vma, &folio->mapping->i_mmap, shared) {
		unsigned long addr = vma_address(vma, folio->index);
		struct pmd *pmd;

		if (folio->index < vma->vm_pgoff ||
		    folio->index >= vma->vm_pgoff + vma_pages(vma) || !maps_folio(vma, addr, folio))
			continue;
		pmd = pmd_offset(vma->vm_mm, addr);
		if (pmd->pte[pte_index(vma->vm_mm->machine, addr)] & PTE_DIRTY)
			return true;
	}
	return false;
}

/* Unmap the single page everywhere; @marker: whoever comes back gets SIGBUS. TTU_HWPOISON. */
static void unmap_poisoned(struct folio *folio, bool marker)
{
	struct machine *m = folio_machine(folio);
	struct vm_area_struct *vma;

	lock_acquire(m, LOCK_I_MMAP_RWSEM);
	list_for_each_entry(vma, &folio->mapping->i_mmap, shared) {
		unsigned long addr = vma_address(vma, folio->index);
		struct pmd *pmd;

		if (folio->index < vma->vm_pgoff ||
		    folio->index >= vma->vm_pgoff + vma_pages(vma) || !maps_folio(vma, addr, folio))
			continue;
		unmap_folio_range(vma, addr, addr + m->page_size);
		pmd = pmd_offset(vma->vm_mm, addr);
		if (!marker || !pmd->pte)
			continue;
		pmd->pte[pte_index(m, addr)] = PTE_MARKER_POISONED;
		pmd->present++;
	}
}

/* Clean pages with a place on disk are just read again. False: somebody still maps it. */
static bool hwpoison_user_mappings(struct machine *m, struct folio *folio, int flags)
{
	bool marker = true;

	if (!folio_mapped(folio))
		return true;
	if (!folio_test_dirty(folio) && can_writeback(folio)) {
		marker = mapped_dirty(folio);
		if (marker)
			folio_mark_dirty(folio);
	}
	if (marker)
		collect_procs(m, folio, folio->index, flags);
	unmap_poisoned(folio, marker);
	kill_procs(m, folio_test_dirty(folio) || flags & MF_MUST_KILL || folio_mapped(folio),
		   m->page_shift);
	return !folio_mapped(folio);
}

/* ---- handlers ---- */

static int action_result(struct machine *m, unsigned long pfn, enum mf_action_page_type type,
			 enum mf_result result)
{
	struct mf_state *mf = &m->mm->mf;

	mf->num_poisoned_pages++;
	mf->last_type = type;
	mf->last_result = result;
	if (knob(m, MF_NODE_STATS)) {
		mf->stats.total++;
		mf->stats.ignored += result == MF_IGNORED;
		mf->stats.failed += result == MF_FAILED;
		mf->stats.delayed += result == MF_DELAYED;
		mf->stats.recovered += result == MF_RECOVERED;
	}
	trace_event(&m->trace, EV_fl_memory_failure, 0, 0, 0, pfn, result);
	return result == MF_RECOVERED || result == MF_DELAYED ? 0 : -EBUSY;
}

static void delete_from_lru_cache(struct folio *folio)
{
	struct machine *m = folio_machine(folio);

	if (!folio_test_lru(folio))
		return;
	lock_acquire(m, LOCK_LRU_LOCK);
	lruvec_del_folio(&m->mm->lruvec, folio);
	folio_clear_lru(folio);
	folio_clear_active(folio);
	folio_clear_unevictable(folio);
}

/* References besides ours and, where the page stays cached, the cache's own. */
static bool has_extra_refcount(const struct folio *folio, bool cached)
{
	return folio_ref_count(folio) - 1 - cached > 0;
}

/*
 * tmpfs keeps the page, so that whoever reads it gets an error; elsewhere it goes, with what was
 * not written yet: that is what the error on the mapping is for.
 */
static enum mf_result me_pagecache(struct folio *folio)
{
	struct address_space *mapping = folio->mapping;

	if (folio_test_dirty(folio))
		mapping_set_error(mapping, -EIO);
	delete_from_lru_cache(folio);
	if (!shmem_mapping(mapping))
		generic_error_remove_folio(mapping, folio);
	return has_extra_refcount(folio, folio->mapping != NULL) ? MF_FAILED : MF_RECOVERED;
}

static int unsplit_thp(struct machine *m, unsigned long pfn, struct folio *folio, int flags)
{
	if (knob(m, MF_SPLIT_SIGBUS) && folio->mapping) {
		collect_procs(m, folio, folio->index + (pfn - folio->_pfn), flags);
		kill_procs(m, true, folio_shift(folio));
	}
	action_result(m, pfn, MF_MSG_UNSPLIT_THP,
		      knob(m, MF_SPLIT_SIGBUS) ? MF_FAILED : MF_IGNORED);
	folio_put(folio);
	return knob(m, MF_SPLIT_SIGBUS) ? -EHWPOISON : -EBUSY;
}

static int locked_page(struct machine *m, unsigned long pfn, struct folio *folio, int flags)
{
	enum mf_action_page_type type;

	if (!folio->mapping)
		return action_result(m, pfn, MF_MSG_TRUNCATED_LRU, MF_IGNORED);
	folio_wait_writeback(folio);
	if (!hwpoison_user_mappings(m, folio, flags))
		return action_result(m, pfn, MF_MSG_UNMAP_FAILED, MF_FAILED);
	type = folio_test_dirty(folio) ? MF_MSG_DIRTY_LRU : MF_MSG_CLEAN_LRU;
	return action_result(m, pfn, type, me_pagecache(folio));
}

static int already_poisoned(struct machine *m, unsigned long pfn, int flags)
{
	struct folio *folio = pfn_folio(m, pfn);

	if (flags & MF_ACTION_REQUIRED)
		kill_accessing_process(m, pfn);
	if (flags & MF_COUNT_INCREASED && folio)
		folio_put(folio);
	return -EHWPOISON;
}

int memory_failure(struct machine *m, unsigned long pfn, int flags)
{
	struct folio *folio;
	int ret;

	if (pfn >= m->max_pfn)
		return -ENXIO;
	if (!(flags & MF_SW_SIMULATED))
		m->mm->mf.hw_memory_failure = true;
	if (page_hwpoison(m, pfn))
		return already_poisoned(m, pfn, flags);
	lru_add_drain(m);
	set_page_hwpoison(m, pfn);
	folio = pfn_folio(m, pfn);
	if (!folio)
		return action_result(m, pfn, MF_MSG_BUDDY,
				     take_page_off_buddy(m, pfn) ? MF_RECOVERED : MF_FAILED);
	if (!(flags & MF_COUNT_INCREASED))
		folio_get(folio);
	if (folio_test_large(folio)) {
		folio_set_has_hwpoisoned(folio);
		if (try_to_split_thp_page(m, pfn, &folio))
			return unsplit_thp(m, pfn, folio, flags);
	}
	folio_lock(folio);
	ret = locked_page(m, pfn, folio, flags);
	folio_unlock(folio);
	return ret;
}
