/*
 * tests/mm/mapscene.h - a mapped file in the cache, and what touching it cost in counts.
 *
 * The columns are those of the specification of mapped faults, section 8; a count is the number of
 * units charged to a primitive since map_counts_begin().
 *
 * Owner      as in scene.h.
 */
#ifndef FL_TESTS_MM_MAPSCENE_H
#define FL_TESTS_MM_MAPSCENE_H

#include "mm/mm.h"
#include "mm/scene.h"

struct map_counts {
	u64 faults, fault_arounds, map_events, filemap_faults;
	u64 visits, lookups, set_pte, pte_stores;
	u64 stat_add, stat_sub, rmw_map, rmw_unmap, slots, flushes;
	u64 node_flushes, memcg_flushes, mark_accessed, buffer_visits, windows, added, majors;
};

/* A scene of @size bytes on @fs with memory for all of it and more. */
struct run *map_open(const char *kernel, const char *fs, s64 size);
/* Fill pages [first, first + nr) with uptodate folios of @order, as writes of that size do. */
void fill_cache(struct run *run, pgoff_t first, u64 nr, unsigned int order);
/* Map the whole file so that it starts at page table index @index. */
void map_at(struct run *run, unsigned long index);
void unmap(struct run *run);
/* Check, unmap, and scene_close(). */
void scene_close_mapped(struct run *run);

/* Counts since the machine was booted. */
struct map_counts map_counts(const struct run *run);
/* What was added since @before. */
struct map_counts map_counts_since(const struct run *run, const struct map_counts *before);

/* Fail the test with a name, ours and the wanted number if they differ. */
void expect_count(const char *what, const char *column, u64 got, u64 want);

#endif
