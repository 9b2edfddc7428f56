/*
 * Faults on the page cache: reading what is missing, mapping what is there.
 *
 * Mirrors the mmap side of mm/filemap.c: filemap_fault(), do_sync_mmap_readahead(),
 * do_async_mmap_readahead(), next_uptodate_folio(), filemap_map_pages().
 */
#include <errno.h>

#include "mm/internal.h"
#include "mm/mm.h"
#include "mm/writeback.h"

/* Misses after which reading around a miss is given up. */
#define MMAP_LOTSAMISS 100

const struct vm_operations_struct generic_file_vm_ops = {
	.fault = filemap_fault,
	.map_pages = filemap_map_pages,
	.page_mkwrite = filemap_page_mkwrite,
};

/* ---- readahead ---- */

/* May a fault wait, so that it is repeated? include/linux/mm.h fault_flag_allow_retry_first(). */
static bool maybe_unlock_mmap_for_io(const struct vm_fault *vmf)
{
	return vmf->flags & FAULT_FLAG_ALLOW_RETRY && !(vmf->flags & FAULT_FLAG_TRIED);
}

/* Accesses that say nothing about missed read-around: MISS_SYM. */
static bool misses_do_not_count(const struct machine *m, unsigned long vm_flags)
{
	return knob(m, MISS_SYM) && vm_flags & (VM_SEQ_READ | VM_EXEC);
}

static void submit_mmap_window(struct readahead_control *ractl, struct file_ra_state *ra,
			       enum trace_rule rule)
{
	struct machine *m = mapping_machine(ractl->mapping);
	struct trace_event ev = {
		.id = EV_fl_window,
		.ino = ractl->mapping->host->i_ino,
		.index = ractl->_index,
		.a = ra->size,
		.b = ra->async_size,
		.c = ra->ra_pages,
		.d = ra->ra_pages,
		.e = rule,
	};
	u64 start_ps = m->clock_ps;

	trace_event2(&m->trace, &ev);
	page_cache_ra_order(ractl, ra, ra->order);
	m->mm->ra_ps += m->clock_ps - start_ps;
}

/* The order of forced huge windows, 0 if the mapping gets none. */
static unsigned int huge_order(const struct vm_area_struct *vma)
{
	const struct address_space *mapping = vma->vm_file->f_mapping;
	const struct machine *m = vma->vm_mm->machine;
	unsigned int order = pmd_order(m);

	if (!(vma->vm_flags & VM_HUGEPAGE))
		return 0;
	if (knob(m, HUGE_NEEDS_LARGE) && !mapping_large_folio_support(mapping))
		return 0;
	if (knob(m, THP_2M_CAP))
		return min(mapping_max_folio_order(mapping), 21 - m->page_shift);
	return order <= m->max_pagecache_order ? order : 0;
}

/* A whole huge folio around the fault, and the next one too unless access is random. */
static void read_huge(struct readahead_control *ractl, struct file_ra_state *ra, unsigned int order,
		      unsigned long vm_flags)
{
	ractl->_index = round_down(ractl->_index, 1UL << order);
	ra->size = 1U << order;
	ra->async_size = ra->size;
	if (!(vm_flags & VM_RAND_READ))
		ra->size *= 2;
	ra->order = order;
	submit_mmap_window(ractl, ra, RULE_MMAP_HUGE);
}

/* Forward only, inside the mapping, aligned to what the processor likes for code (x86: a page). */
static void read_exec(struct readahead_control *ractl, struct file_ra_state *ra,
		      const struct vm_area_struct *vma)
{
	pgoff_t end = vma->vm_pgoff + vma_pages(vma);

	ra->order = 0;
	ra->start = max(ractl->_index, vma->vm_pgoff);
	ra->size = min(ra->start + ra->ra_pages, end) - ra->start;
	ra->async_size = 0;
	ractl->_index = ra->start;
	submit_mmap_window(ractl, ra, RULE_MMAP_EXEC);
}

static void read_around(struct readahead_control *ractl, struct file_ra_state *ra)
{
	pgoff_t half = ra->ra_pages / 2;

	ra->start = ractl->_index > half ? ractl->_index - half : 0;
	ra->size = ra->ra_pages;
	ra->async_size = ra->ra_pages / 4;
	ra->order = 0;
	ractl->_index = ra->start;
	submit_mmap_window(ractl, ra, RULE_MMAP_AROUND);
}

/* A miss: too many of them in a row make further reading around pointless. */
static bool count_miss(struct file_ra_state *ra)
{
	if (ra->mmap_miss < MMAP_LOTSAMISS * 10)
		ra->mmap_miss++;
	return ra->mmap_miss <= MMAP_LOTSAMISS;
}

static bool random_read(const struct machine *m, unsigned long vm_flags)
{
	return vm_flags & VM_RAND_READ && !(knob(m, EXEC_OVER_RAND) && vm_flags & VM_EXEC);
}

/* The page is not there. True if I/O was started and the fault has to be repeated for it. */
static bool do_sync_mmap_readahead(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct file *file = vma->vm_file;
	struct file_ra_state *ra = &file->f_ra;
	struct machine *m = vma->vm_mm->machine;
	unsigned int huge = huge_order(vma);
	DEFINE_READAHEAD(ractl, file, ra, file->f_mapping, vmf->pgoff);

	ractl.provenance = PROVENANCE_FAULT;
	if (huge && !knob(m, HUGE_MISS_GATE)) {
		read_huge(&ractl, ra, huge, vma->vm_flags);
		return maybe_unlock_mmap_for_io(vmf);
	}
	if (!huge && (random_read(m, vma->vm_flags) || !ra->ra_pages))
		return false;
	if (!huge && vma->vm_flags & VM_SEQ_READ) {
		page_cache_sync_ra(&ractl, ra->ra_pages);
		return maybe_unlock_mmap_for_io(vmf);
	}
	if (!misses_do_not_count(m, vma->vm_flags) && !count_miss(ra))
		return false;
	if (huge)
		read_huge(&ractl, ra, huge, vma->vm_flags);
	else if (vma->vm_flags & VM_EXEC && knob(m, EXEC_RA))
		read_exec(&ractl, ra, vma);
	else
		read_around(&ractl, ra);
	return maybe_unlock_mmap_for_io(vmf);
}

/* The page is there. True if its folio bore the mark, so that the fault waited for a window. */
static bool do_async_mmap_readahead(struct vm_fault *vmf, struct folio *folio)
{
	struct vm_area_struct *vma = vmf->vma;
	struct file *file = vma->vm_file;
	struct file_ra_state *ra = &file->f_ra;
	struct machine *m = vma->vm_mm->machine;
	DEFINE_READAHEAD(ractl, file, ra, file->f_mapping, vmf->pgoff);

	if (vma->vm_flags & VM_RAND_READ || !ra->ra_pages)
		return false;
	if (ra->mmap_miss && !misses_do_not_count(m, vma->vm_flags) &&
	    !(knob(m, MISS_SKIP_LOCKED) && folio_test_locked(folio)))
		ra->mmap_miss--;
	if (!folio_test_readahead(folio))
		return false;
	page_cache_async_ra(&ractl, folio, ra->ra_pages);
	return maybe_unlock_mmap_for_io(vmf);
}

/* ---- the fault itself ---- */

/* The folio over the page, made if it is not there: a reference, or NULL without memory. */
static struct folio *__find_or_create(struct vm_fault *vmf)
{
	struct address_space *mapping = vmf->vma->vm_file->f_mapping;
	struct machine *m = mapping_machine(mapping);
	unsigned int min_order = mapping_min_folio_order(mapping);
	struct folio *folio;
	int err;

	while (!(folio = filemap_get_folio(mapping, vmf->pgoff))) {
		folio = filemap_alloc_folio(m, mapping_gfp_mask(mapping), min_order);
		if (!folio)
			return NULL;
		err = filemap_add_folio(mapping, folio, round_down(vmf->pgoff, 1UL << min_order),
					mapping_gfp_mask(mapping), PROVENANCE_FAULT);
		if (!err) {
			folio_unlock(folio);
			return folio;
		}
		folio_put(folio);
		if (err != -EEXIST) /* else another CPU was faster */
			return NULL;
	}
	return folio;
}

static struct folio *find_or_create(struct vm_fault *vmf)
{
	struct address_space *mapping = vmf->vma->vm_file->f_mapping;
	struct machine *m = mapping_machine(mapping);
	struct folio *folio;

	lock_shared_smp(m, INVALIDATE_LOCK, &mapping->invalidate_lock);
	folio = __find_or_create(vmf);
	unlock_shared(m, INVALIDATE_LOCK, &mapping->invalidate_lock);
	return folio;
}

static bool beyond_eof(const struct vm_fault *vmf)
{
	const struct inode *inode = vmf->vma->vm_file->f_inode;
	const struct machine *m = vmf->vma->vm_mm->machine;

	return vmf->pgoff >= DIV_ROUND_UP((u64)i_size_read(inode), m->page_size);
}

/* Lock the folio; *fpin is set if that meant to sleep. */
static void lock_folio_maybe_drop_mmap(struct vm_fault *vmf, struct folio *folio, bool *fpin)
{
	if (folio_trylock(folio))
		return;
	*fpin |= maybe_unlock_mmap_for_io(vmf);
	folio_lock(folio);
}

/* Get hold of a readable folio: 0 with it locked in vmf->folio, or what the fault returns. */
static vm_fault_t lock_uptodate_folio(struct vm_fault *vmf, struct folio *folio, bool fpin)
{
	struct file *file = vmf->vma->vm_file;

	for (; folio; folio = find_or_create(vmf)) {
		int err;

		vmf->folio = folio;
		lock_folio_maybe_drop_mmap(vmf, folio, &fpin);
		if (folio->mapping != file->f_mapping) {
			folio_unlock(folio);
			folio_put(folio);
			continue;
		}
		if (folio_test_uptodate(folio)) {
			if (!fpin)
				return 0;
			folio_unlock(folio);
			folio_put(folio);
			return VM_FAULT_RETRY;
		}
		fpin |= maybe_unlock_mmap_for_io(vmf);
		err = filemap_read_folio(file, folio);
		folio_put(folio);
		if (fpin)
			return VM_FAULT_RETRY;
		if (err < 0)
			return VM_FAULT_SIGBUS;
	}
	return fpin ? VM_FAULT_RETRY : VM_FAULT_OOM;
}

vm_fault_t filemap_fault(struct vm_fault *vmf)
{
	struct address_space *mapping = vmf->vma->vm_file->f_mapping;
	struct machine *m = mapping_machine(mapping);
	vm_fault_t ret = 0, error;
	struct folio *folio;
	bool fpin = false;

	charge(m, COST_FILEMAP_FAULT, 1);
	if (beyond_eof(vmf))
		return VM_FAULT_SIGBUS;
	trace_event(&m->trace, EV_mm_filemap_fault, 0, mapping->host->i_ino, vmf->pgoff, 0, 0);
	folio = filemap_get_folio(mapping, vmf->pgoff);
	if (folio) {
		if (!(vmf->flags & FAULT_FLAG_TRIED))
			fpin = do_async_mmap_readahead(vmf, folio);
	} else {
		m->mm->vm.pgmajfault++;
		ret = VM_FAULT_MAJOR;
		fpin = do_sync_mmap_readahead(vmf);
		folio = find_or_create(vmf);
	}
	error = lock_uptodate_folio(vmf, folio, fpin);
	if (error)
		return ret | error;
	if (beyond_eof(vmf)) {
		folio_unlock(vmf->folio);
		folio_put(vmf->folio);
		return VM_FAULT_SIGBUS;
	}
	return ret | VM_FAULT_LOCKED;
}

vm_fault_t filemap_page_mkwrite(struct vm_fault *vmf)
{
	struct folio *folio = vmf->folio;

	folio_lock(folio);
	if (folio->mapping != vmf->vma->vm_file->f_mapping) {
		folio_unlock(folio);
		return VM_FAULT_NOPAGE;
	}
	folio_mark_dirty(folio);
	return VM_FAULT_LOCKED;
}

/* ---- mapping around a fault ---- */

/* One window of fault-around. */
struct map_window {
	struct vm_fault *vmf;
	struct address_space *mapping;
	struct machine *m;
	pgoff_t start, end;  /* file pages, inclusive */
	pgoff_t file_end;    /* last page of the file */
	unsigned int misses; /* to be uncounted */
	bool mapped;	     /* the faulting page */
	pgoff_t next;	     /* page behind the folio found last */
	u64 switches;	     /* of the machine when it was found; ~0: none was */
};

static bool folio_usable(struct map_window *w, struct folio *folio)
{
	if (folio_test_readahead(folio) || !folio_test_uptodate(folio) || folio_test_locked(folio))
		return false;
	return folio->index <= w->file_end;
}

/* The next folio that can be mapped as it is, locked and with a reference. */
static struct folio *next_uptodate_folio(struct map_window *w, struct xa_state *xas)
{
	bool stands = w->switches == w->m->switches;
	struct folio *folio;

	if (!stands)
		xas_set(xas, w->next);
	folio = stands ? xas_next_entry(xas, w->end) : xas_find(xas, w->end);
	w->switches = w->m->switches;

	for (; folio; folio = xas_next_entry(xas, w->end)) {
		if (xa_is_value(folio) || !folio_usable(w, folio))
			continue;
		w->next = folio_next_index(folio);
		folio_get(folio);
		folio_set_locked(folio); /* folio_usable() has found it unlocked */
		lock_acquire(w->m, LOCK_FOLIO_LOCK);
		charge(w->m, COST_XAS_STEP, 1);
		charge2(w->m, COST_NEXT_FOLIO, 1, COST_RMW_LOOKUP, 2);
		return folio;
	}
	charge(w->m, COST_XAS_STEP, 1);
	return NULL;
}

/* May fault-around map the whole folio although its window ends inside? */
static bool map_whole_folio(const struct map_window *w, const struct folio *folio,
			    unsigned long idx, unsigned long t)
{
	const struct vm_area_struct *vma = w->vmf->vma;
	unsigned long nr = folio_nr_pages(folio);

	if (!knob(w->m, WHOLE_FOLIO_AROUND) || nr == 1 || w->file_end < folio_next_index(folio))
		return false;
	if (folio->index < vma->vm_pgoff ||
	    folio_next_index(folio) > vma->vm_pgoff + vma_pages(vma))
		return false;
	return t >= idx && t - idx + nr <= ptrs_per_pte(w->m);
}

/*
 * Locked operations for the references of one visit with @runs runs of together @mapped pages.
 * v6.1 took one a page; 617c28ecab22 one a run and dropped its own; 0faa77afe72b hands its own on.
 */
static unsigned int ref_operations(const struct machine *m, const struct folio *folio,
				   unsigned int runs, unsigned int mapped)
{
	if (!mapped)
		return 1;
	if (!knob(m, MAP_BATCH))
		return mapped - 1;
	if (!knob(m, MAP_RMW_ORDER0))
		return runs + 1;
	return folio_test_large(folio) ? runs : 0;
}

static bool page_poisoned(const struct map_window *w, const struct folio *folio, unsigned long idx)
{
	return w->m->page_state[folio->_pfn + idx] & PAGE_HWPOISON;
}

/* Map what is not mapped of pages [idx, idx + nr) of a folio, in runs; PTE @t belongs to @idx. */
static void map_folio_range(struct map_window *w, struct folio *folio, unsigned long idx,
			    unsigned long t, unsigned long nr)
{
	const pte_t *pte = w->vmf->pmd->pte;
	unsigned long fault = pte_index(w->m, w->vmf->address);
	unsigned int runs = 0, mapped = 0, visited = 0;
	bool hit = false;

	for (unsigned long i = 0; i < nr;) {
		unsigned long run = 0;

		if (page_poisoned(w, folio, idx + i)) {
			i++;
			continue;
		}
		for (; i + run < nr && !pte[t + i + run]; run++)
			if (page_poisoned(w, folio, idx + i + run))
				break;
		visited += max(run, 1UL);
		if (run) {
			hit |= fault >= t + i && fault < t + i + run;
			set_pte_range(w->vmf, folio, idx + i, run, t + i);
			mapped += run;
			runs++;
		}
		i += max(run, 1UL);
	}
	charge(w->m, COST_RMW_REFS, ref_operations(w->m, folio, runs, mapped));
	folio_ref_add(folio, mapped);
	w->mapped |= hit;
	if (knob(w->m, MISS_WORKINGSET) && folio_test_workingset(folio))
		return;
	w->misses += knob(w->m, MISS_DEC_UNIT) ? hit : visited;
}

/* @xas stands on @folio; map the part of it that lies in the window, or all of it. */
static void map_folio(struct map_window *w, struct folio *folio)
{
	struct vm_fault *vmf = w->vmf;
	pgoff_t index = max(folio->index, w->start);
	unsigned long idx = index - folio->index;
	unsigned long t = pte_index(w->m, vmf->address) + index - vmf->pgoff;
	unsigned long nr = min(folio_next_index(folio) - 1, w->end) - index + 1;

	if (map_whole_folio(w, folio, idx, t)) {
		t -= idx;
		idx = 0;
		nr = folio_nr_pages(folio);
	}
	map_folio_range(w, folio, idx, t, nr);
	charge(w->m, COST_RMW_REFS, 1);
	folio_unlock(folio);
	folio_put(folio);
}

/* Map the folio by the PMD; true if the fault is done with. mm/filemap.c filemap_map_pmd(). */
static bool filemap_map_pmd(struct vm_fault *vmf, struct folio *folio)
{
	if (vmf->pmd->huge)
		return true;
	if (!pmd_none(vmf->pmd))
		return false;
	return folio_order(folio) >= pmd_order(folio_machine(folio)) && !do_set_pmd(vmf, folio);
}

/* The first folio decides how the region is mapped. True: no PTEs are wanted or possible. */
static bool map_first_folio(struct map_window *w, struct folio *folio)
{
	struct vm_fault *vmf = w->vmf;
	bool guarded = knob(w->m, MAP_EOF_GUARD) && w->file_end < folio_next_index(folio);
	bool pmd = !guarded && filemap_map_pmd(vmf, folio);

	if (pmd) {
		w->mapped = true;
		charge(w->m, COST_RMW_REFS, 1);
		folio_unlock(folio);
		return true;
	}
	if (!vmf->pmd->pte && !guarded && !pte_alloc(vmf->vma->vm_mm, vmf->pmd))
		vmf->prealloc_pte = false;
	if (vmf->pmd->pte)
		return false;
	charge(w->m, COST_RMW_REFS, 2);
	folio_unlock(folio);
	folio_put(folio);
	return true;
}

static void uncount_misses(struct map_window *w)
{
	struct file_ra_state *ra = &w->vmf->vma->vm_file->f_ra;

	if (knob(w->m, MISS_DEC_UNIT) && w->vmf->flags & FAULT_FLAG_TRIED)
		return;
	if (!misses_do_not_count(w->m, w->vmf->vma->vm_flags))
		ra->mmap_miss -= min_t(unsigned int, w->misses, ra->mmap_miss);
}

vm_fault_t filemap_map_pages(struct vm_fault *vmf, pgoff_t start_pgoff, pgoff_t end_pgoff)
{
	struct address_space *mapping = vmf->vma->vm_file->f_mapping;
	struct map_window w = {.vmf = vmf,
			       .mapping = mapping,
			       .m = mapping_machine(mapping),
			       .start = start_pgoff,
			       .next = start_pgoff,
			       .switches = ~0ULL};
	XA_STATE(xas, &mapping->i_pages, start_pgoff);
	struct folio *folio;

	w.file_end = DIV_ROUND_UP((u64)i_size_read(mapping->host), w.m->page_size) - 1;
	w.end = min(end_pgoff, w.file_end);
	folio = i_size_read(mapping->host) ? next_uptodate_folio(&w, &xas) : NULL;
	if (!folio)
		return 0;
	if (map_first_folio(&w, folio))
		return w.mapped ? VM_FAULT_NOPAGE : 0;
	lock_excl(w.m, PTL, &vmf->pmd->ptl);
	do {
		map_folio(&w, folio);
	} while ((folio = next_uptodate_folio(&w, &xas)));
	unlock_excl(w.m, PTL, &vmf->pmd->ptl);
	if (knob(w.m, RSS_UNIT))
		charge(w.m, COST_RSS, 1);
	uncount_misses(&w);
	trace_event2(&w.m->trace, &(struct trace_event){.id = EV_mm_filemap_map_pages,
							.ino = mapping->host->i_ino,
							.index = start_pgoff,
							.c = w.end});
	return w.mapped ? VM_FAULT_NOPAGE : 0;
}
