/* Which events are about which page. */
#include "view/scene_internal.h"

/* How an event names pages. */
enum names {
	NAMES_NOTHING,
	NAMES_FOLIO,
	NAMES_PAGE,
	NAMES_BYTES,
	NAMES_A_PAGES,
	NAMES_B_PAGES,
	NAMES_TO_LAST,
	NAMES_C_PAGES
};

static const u8 names_of[EV_NR] = {
	[EV_mm_filemap_add_to_page_cache] = NAMES_FOLIO,
	[EV_mm_filemap_delete_from_page_cache] = NAMES_FOLIO,
	[EV_mm_filemap_get_pages] = NAMES_TO_LAST,
	[EV_mm_filemap_map_pages] = NAMES_TO_LAST,
	[EV_mm_filemap_fault] = NAMES_PAGE,
	[EV_page_cache_sync_ra] = NAMES_A_PAGES,
	[EV_page_cache_async_ra] = NAMES_A_PAGES,
	[EV_page_cache_ra_order] = NAMES_B_PAGES,
	[EV_page_cache_ra_unbounded] = NAMES_C_PAGES,
	[EV_fl_read] = NAMES_BYTES,
	[EV_fl_write] = NAMES_BYTES,
	[EV_fl_touch] = NAMES_BYTES,
	[EV_fl_window] = NAMES_A_PAGES,
	[EV_fl_read_pages] = NAMES_A_PAGES,
	[EV_fl_add_failed] = NAMES_FOLIO,
	[EV_fl_mark] = NAMES_FOLIO,
	[EV_fl_mark_hit] = NAMES_FOLIO,
	[EV_fl_uptodate] = NAMES_FOLIO,
	[EV_mm_lru_insertion] = NAMES_FOLIO,
	[EV_mm_lru_activate] = NAMES_FOLIO,
	[EV_fl_lru_deactivate] = NAMES_FOLIO,
	[EV_fl_lru_move] = NAMES_FOLIO,
	[EV_fl_workingset_refault] = NAMES_FOLIO,
	[EV_writeback_dirty_folio] = NAMES_FOLIO,
	[EV_fl_clean] = NAMES_FOLIO,
	[EV_fl_dirty] = NAMES_FOLIO,
	[EV_fl_writeback_start] = NAMES_FOLIO,
	[EV_fl_writeback_end] = NAMES_FOLIO,
	[EV_fl_folio_wait] = NAMES_FOLIO,
	[EV_fl_folio_split] = NAMES_FOLIO,
	[EV_fl_hwpoison] = NAMES_PAGE,
	[EV_fl_page_fault] = NAMES_PAGE,
	[EV_fl_set_pte_range] = NAMES_A_PAGES,
	[EV_fl_map_pmd] = NAMES_A_PAGES,
	[EV_fl_unmap] = NAMES_A_PAGES,
	[EV_fl_unmap_pmd] = NAMES_A_PAGES,
	[EV_fl_page_mkwrite] = NAMES_FOLIO,
};

static u64 pages_named(const struct scene *s, const struct trace_event *ev)
{
	switch (names_of[ev->id]) {
	case NAMES_FOLIO:
		return 1ull << ev->order;
	case NAMES_PAGE:
		return 1;
	case NAMES_BYTES:
		return ev->a ? ((ev->index + ev->a - 1) >> s->page_shift) -
				       (ev->index >> s->page_shift) + 1
			     : 0;
	case NAMES_A_PAGES:
		return ev->a;
	case NAMES_B_PAGES:
		return ev->b;
	case NAMES_C_PAGES:
		return ev->c;
	case NAMES_TO_LAST:
		return ev->c >= ev->index ? ev->c - ev->index + 1 : 0;
	default:
		return 0;
	}
}

bool scene_event_pages(const struct scene *s, const struct trace_event *ev, u64 *first, u64 *nr)
{
	*first = names_of[ev->id] == NAMES_BYTES ? ev->index >> s->page_shift : ev->index;
	*nr = pages_named(s, ev);
	return *nr;
}

bool scene_concerns(const struct scene *s, const struct trace_event *ev, u32 ino, u64 page)
{
	u64 first, nr;

	if (ev->ino && ev->ino != ino)
		return false;
	return scene_event_pages(s, ev, &first, &nr) && page >= first && page - first < nr;
}

size_t scene_history(const struct scene *s, u32 ino, u64 page, u64 *nrs, size_t max)
{
	const struct trace_record *rec;
	struct trace_event ev;
	size_t found = 0;
	u64 nr = s->pos, last = nr > SCENE_HISTORY_MAX ? nr - SCENE_HISTORY_MAX : 0;

	if (!nr)
		return 0;
	rec = tape_record(s->tape, nr - 1);
	while (nr-- > last && found < max) {
		trace_record_unpack(rec, s->tape->records + s->tape->slots - rec, &ev);
		if (scene_concerns(s, &ev, ino, page)) {
			nrs[found++] = nr;
			if (ev.id == EV_mm_filemap_add_to_page_cache)
				break;
		}
		if (nr && (--rec)->id == EV_CONTINUATION)
			rec--;
	}
	return found;
}
