#include "lab/run_poison.h"

#include <errno.h>
#include <stdlib.h>

#include "mm/internal.h"
#include "mm/mm.h"

static int remember(struct run *run, s64 off, unsigned long pfn)
{
	struct run_bad_page *v = realloc(run->bad_pages, (run->nr_bad_pages + 1) * sizeof(*v));

	if (!v)
		return -ENOMEM;
	run->bad_pages = v;
	v[run->nr_bad_pages++] = (struct run_bad_page){ .off = off, .pfn = pfn };
	return 0;
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
static int inject(struct run *run, struct vm_area_struct *vma, s64 off, bool soft)
{
	unsigned long addr = vma->vm_start + off, page_size = run->machine->page_size;
	int ret = populate_range(vma, addr, addr + page_size, false);
	s64 pfn;

	if (ret)
		return ret;
	pfn = cached_pfn(run, off);
	if (pfn < 0)
		return -EFAULT;
	ret = remember(run, off, pfn);
	return ret ? ret : do_madvise(vma, addr, addr + page_size,
				      soft ? MADV_SOFT_OFFLINE_ : MADV_HWPOISON_);
}

int run_poison(struct run *run, s64 off, bool soft)
{
	struct vm_area_struct *vma;
	int ret;

	if (off & (run->machine->page_size - 1))
		return -EINVAL;
	if (off >= i_size_read(run->inode))
		return -EFAULT;
	ret = do_mmap(run->mm, run_file(run), 0, i_size_read(run->inode), VM_READ | VM_WRITE, 0,
		      &vma);
	if (ret)
		return ret;
	ret = inject(run, vma, off, soft);
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
