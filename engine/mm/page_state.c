#include "mm/page_state.h"

#include <string.h>

#include "mm/internal.h"

static const char *const provenance_names[PROVENANCE_NR] = {
	[PROVENANCE_NONE] = "none",	     [PROVENANCE_SYNC] = "sync window",
	[PROVENANCE_ASYNC] = "async window", [PROVENANCE_FORCED] = "forced",
	[PROVENANCE_WILLNEED] = "willneed",  [PROVENANCE_WRITE] = "write",
	[PROVENANCE_FAULT] = "fault",
};

const char *page_provenance_name(unsigned int provenance)
{
	return provenance < PROVENANCE_NR ? provenance_names[provenance] : "";
}

void page_state_insert(struct folio *folio, enum page_provenance provenance)
{
	struct machine *m = folio_machine(folio);

	if (unlikely(m->mm->mf.num_poisoned_pages))
		for (unsigned long i = 0; i < folio_nr_pages(folio); i++)
			m->page_state[folio->_pfn + i] =
				provenance | (m->page_state[folio->_pfn + i] & PAGE_HWPOISON);
	else
		memset(m->page_state + folio->_pfn, provenance, folio_nr_pages(folio));
	m->mm->pages.brought[provenance] += folio_nr_pages(folio);
}

unsigned int page_state_remove(struct folio *folio)
{
	struct machine *m = folio_machine(folio);
	u8 *state = m->page_state + folio->_pfn;
	unsigned int nr = folio_nr_pages(folio), used = 0;

	for (unsigned int i = 0; i < nr; i++) {
		used += !!(state[i] & PAGE_USED);
		state[i] &= PAGE_HWPOISON;
	}
	m->mm->pages.evicted += nr;
	m->mm->pages.evicted_unused += nr - used;
	return used;
}
