#include "mm/mapscene.h"

#include <inttypes.h>
#include <stdio.h>

#include "mm/internal.h"

struct run *map_open(const char *kernel, const char *fs, s64 size)
{
	struct run_config config = scene_config(kernel);

	config.machine.memory = 4ULL << 30;
	config.size = size;
	config.fs = fs;
	return scene_open(&config);
}

void fill_cache(struct run *run, pgoff_t first, u64 nr, unsigned int order)
{
	struct address_space *mapping = run->inode->i_mapping;

	for (pgoff_t i = first; i < first + nr; i += 1UL << order) {
		struct folio *folio = filemap_alloc_folio(run->machine, GFP_KERNEL, order);

		assert_non_null(folio);
		assert_int_equal(filemap_add_folio(mapping, folio, i, GFP_KERNEL, PROVENANCE_SYNC),
				 0);
		folio_set_uptodate(folio);
		folio_unlock(folio);
		folio_put(folio);
	}
	lru_add_drain(run->machine);
}

void map_at(struct run *run, unsigned long index)
{
	unsigned long addr = 0x7f0000000000UL + (index << run->machine->page_shift);

	assert_null(run->vma);
	assert_int_equal(do_mmap(run->mm, run_file(run), addr, run->inode->i_size,
				 VM_READ | VM_WRITE, 0, &run->vma),
			 0);
}

void unmap(struct run *run)
{
	do_munmap(run->vma);
	run->vma = NULL;
}

void scene_close_mapped(struct run *run)
{
	scene_check(run);
	unmap(run);
	scene_close(run);
}

struct map_counts map_counts(const struct run *run)
{
	const struct machine *m = run->machine;
	const u64 *u = m->cost_units[CONTEXT_TASK];

	return (struct map_counts){
		.faults = u[COST_PAGE_FAULT],
		.fault_arounds = u[COST_FAULT_AROUND],
		.map_events = trace_total(&m->trace, EV_mm_filemap_map_pages),
		.filemap_faults = trace_total(&m->trace, EV_mm_filemap_fault),
		.visits = u[COST_NEXT_FOLIO],
		.lookups = u[COST_XAS_STEP],
		.set_pte = u[COST_SET_PTE],
		.pte_stores = u[COST_PTE_STORE],
		.stat_add = u[COST_STAT_MAP],
		.stat_sub = u[COST_STAT_UNMAP],
		.rmw_map = u[COST_RMW_LOOKUP] + u[COST_RMW_REFS] + u[COST_RMW_RMAP],
		.rmw_unmap = u[COST_RMW_UNMAP] + u[COST_RMW_PUT],
		.slots = u[COST_GATHER_SLOT],
		.flushes = u[COST_TLB_FLUSH],
		.node_flushes = u[COST_NODE_FLUSH],
		.memcg_flushes = u[COST_MEMCG_FLUSH],
		.mark_accessed = u[COST_MARK_ACCESSED],
		.buffer_visits = u[COST_BUFFER_VISIT] + u[COST_BUFFER_DIRTY],
		.windows = trace_total(&m->trace, EV_page_cache_ra_order),
		.added = trace_total(&m->trace, EV_mm_filemap_add_to_page_cache),
		.majors = m->mm->vm.pgmajfault,
	};
}

struct map_counts map_counts_since(const struct run *run, const struct map_counts *before)
{
	struct map_counts now = map_counts(run);
	u64 *n = (u64 *)&now;
	const u64 *b = (const u64 *)before;

	for (size_t i = 0; i < sizeof(now) / sizeof(*n); i++)
		n[i] -= b[i];
	return now;
}

void expect_count(const char *what, const char *column, u64 got, u64 want)
{
	if (got != want)
		fail_msg("%s: %s %" PRIu64 ", expected %" PRIu64, what, column, got, want);
}
