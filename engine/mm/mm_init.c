/*
 * Bringing memory management up and down.
 *
 * Mirrors mm/mm_init.c in purpose.
 */
#include <errno.h>
#include <stdlib.h>

#include "mm/internal.h"

/* The array of struct folio fills what is left of the machine's reservation. */
static void folio_slab_init(struct machine *m, struct mm_state *mm)
{
	u64 offset = round_up(sizeof(*m), (u64)64);

	mm->folios = (struct folio *)((char *)m + offset);
	mm->nr_folios = min_t(u64, (m->span - offset) / sizeof(struct folio), m->max_pfn);
}

static int mm_cpus_init(struct machine *m, struct mm_state *mm)
{
	mm->cpus = calloc(m->nr_cpus + 1, sizeof(*mm->cpus));
	if (!mm->cpus)
		return -ENOMEM;
	for (unsigned int i = 0; i <= m->nr_cpus; i++) {
		struct cpu_fbatches *fbatches = &mm->cpus[i].fbatches;

		folio_batch_init(m, &fbatches->lru_add);
		folio_batch_init(m, &fbatches->lru_deactivate_file);
		folio_batch_init(m, &fbatches->lru_activate);
	}
	return 0;
}

int mm_init(struct machine *m)
{
	struct mm_state *mm = calloc(1, sizeof(*mm));
	int ret;

	if (!mm)
		return -ENOMEM;
	m->mm = mm;
	INIT_LIST_HEAD(&mm->mappings);
	INIT_LIST_HEAD(&mm->mms);
	for (unsigned int i = 0; i < NR_LRU_LISTS; i++)
		INIT_LIST_HEAD(&mm->lruvec.lists[i]);
	xa_cache_init(&mm->xa_nodes);
	folio_slab_init(m, mm);
	mm->stats.threshold =
		calculate_normal_threshold(m->nr_cpus, (u64)m->max_pfn << m->page_shift);
	mm->shmem.huge_shmem_orders_inherit = BIT(pmd_order(m));
	mm->fault_around_pages = max(FAULT_AROUND_BYTES >> m->page_shift, 1UL);
	mm->page_mapcount = calloc(m->max_pfn, sizeof(*mm->page_mapcount));
	ret = mm->page_mapcount ? mm_cpus_init(m, mm) : -ENOMEM;
	if (!ret)
		ret = zone_init(m);
	if (ret)
		mm_exit(m);
	return ret;
}

void mm_exit(struct machine *m)
{
	if (!m->mm)
		return;
	zone_exit(m);
	xa_cache_fini(&m->mm->xa_nodes);
	slab_fini(&m->mm->slab);
	free(m->mm->page_mapcount);
	free(m->mm->cpus);
	free(m->mm);
	m->mm = NULL;
}
