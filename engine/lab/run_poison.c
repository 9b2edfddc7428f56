#include "lab/run_poison.h"

#include <errno.h>
#include <stdlib.h>

#include "mm/internal.h"
#include "mm/mm.h"

/* One more page on the list, or NULL without memory. */
static struct run_bad_page *remember(struct run *run, const struct wl_op *op, bool soft)
{
	struct run_bad_page *v = realloc(run->bad_pages, (run->nr_bad_pages + 1) * sizeof(*v));

	if (!v)
		return NULL;
	run->bad_pages = v;
	v += run->nr_bad_pages++;
	*v = (struct run_bad_page){.off = op->off, .line = op->line, .soft = soft};
	return v;
}

/* The frame that caches @off, or -ENXIO. */
static s64 cached_pfn(const struct run *run, s64 off)
{
	pgoff_t index = off >> run->machine->page_shift;
	struct folio *folio = filemap_get_folio(run->inode->i_mapping, index);
	s64 pfn;

	if (!folio)
		return -ENXIO;
	pfn = folio->_pfn + (index - folio->index);
	folio_put(folio);
	return pfn;
}

/* Fault the page in, note its frame, and let it go bad. */
static int inject(struct run *run, struct vm_area_struct *vma, const struct wl_op *op, bool soft)
{
	unsigned long addr = vma->vm_start + op->off, page_size = run->machine->page_size;
	const struct mf_state *mf = &run->machine->mm->mf;
	unsigned long bad = mf->num_poisoned_pages;
	int ret = populate_range(vma, addr, addr + page_size, false);
	struct run_bad_page *page;
	s64 pfn;

	if (ret)
		return ret;
	pfn = cached_pfn(run, op->off);
	if (pfn < 0)
		return -EFAULT;
	page = remember(run, op, soft);
	if (!page)
		return -ENOMEM;
	page->pfn = pfn;
	page->error =
		do_madvise(vma, addr, addr + page_size, soft ? MADV_SOFT_OFFLINE_ : MADV_HWPOISON_);
	if (!soft && mf->num_poisoned_pages > bad) {
		page->type = mf_action_text(mf->last_type);
		page->result = mf_result_text(mf->last_result);
	}
	return page->error;
}

void run_note_signals(struct run *run, const struct wl_op *op, s64 off)
{
	const struct mm_mce *mce = &run->mm->mce;

	if (likely(mce->count == run->nr_signals))
		return;
	if (run->nr_signals < RUN_SIGNALS)
		run->signals[run->nr_signals] = (struct run_signal){
			.line = op->line,
			.op = op->type,
			.addr_lsb = mce->si_addr_lsb,
			.off = round_down(off, (s64)run->machine->page_size),
			.action_required = mce->si_code == BUS_MCEERR_AR,
		};
	run->nr_signals = mce->count;
}

int run_poison(struct run *run, const struct wl_op *op, bool soft)
{
	struct vm_area_struct *vma;
	int ret;

	if (op->off & (run->machine->page_size - 1))
		return -EINVAL;
	if (op->off >= i_size_read(run->inode))
		return -EFAULT;
	ret = do_mmap(run->mm, run_file(run), 0, i_size_read(run->inode), VM_READ | VM_WRITE, 0,
		      &vma);
	if (ret)
		return ret;
	ret = inject(run, vma, op, soft);
	run_note_signals(run, op, op->off);
	do_munmap(vma);
	return ret;
}

int run_unpoison(struct run *run, s64 off)
{
	s64 pfn = cached_pfn(run, off);

	off = round_down(off, (s64)run->machine->page_size);
	for (size_t i = run->nr_bad_pages; i--;)
		if (run->bad_pages[i].off == off) {
			pfn = run->bad_pages[i].pfn;
			break;
		}
	return pfn < 0 ? pfn : unpoison_memory(run->machine, pfn);
}

void run_poison_fini(struct run *run)
{
	free(run->bad_pages);
	run->bad_pages = NULL;
	run->nr_bad_pages = 0;
}
