/*
 * Splitting folios.
 *
 * Mirrors mm/huge_memory.c: __folio_split(), __split_unmapped_folio(). Differs: a piece gets a
 * struct folio from the slab instead of turning a tail page into a head.
 */
#include <errno.h>

#include "mm/internal.h"
#include "mm/mm.h"

/* What a piece inherits. The mark (PG_readahead) stays with the first one only. */
#define SPLIT_FLAGS                                                                                \
	(BIT(PG_referenced) | BIT(PG_uptodate) | BIT(PG_dirty) | BIT(PG_active) |                  \
	 BIT(PG_workingset) | BIT(PG_swapbacked) | BIT(PG_unevictable) | BIT(PG_dropbehind))

/* The pieces of a split: at most 2^order for a uniform one, so they are walked, not stored. */
struct split {
	struct folio *folio;	/* the one that is cut; keeps the first piece */
	pgoff_t page;		/* where the cut is wanted */
	unsigned int order;	/* before the split */
	unsigned int min_order; /* smallest piece */
	bool uniform;
};

/* Order of the piece that starts at @index (a start of a piece). */
static unsigned int piece_order(const struct split *s, pgoff_t index)
{
	pgoff_t base = s->folio->index;
	unsigned int order = s->order;

	if (s->uniform)
		return s->min_order;
	while (order > s->min_order) {
		pgoff_t half = 1UL << (order - 1);

		if (s->page < base + half) {
			if (index >= base + half)
				return order - 1;
		} else {
			if (index < base + half)
				return order - 1;
			base += half;
		}
		order--;
	}
	return order;
}

static void put_structs(struct machine *m, struct folio *list)
{
	while (list) {
		struct folio *next = (struct folio *)list->lru.next;

		list->lru.next = (struct list_head *)m->mm->free_folios;
		m->mm->free_folios = list;
		m->mm->live_folios--;
		list = next;
	}
}

/* All structs the pieces will need, linked through lru.next; false (and none) if there are not. */
static bool get_structs(struct machine *m, const struct split *s, struct folio **list)
{
	pgoff_t index = s->folio->index, end = index + (1UL << s->order);

	*list = NULL;
	for (index += 1UL << piece_order(s, index); index < end;
	     index += 1UL << piece_order(s, index)) {
		struct folio *folio = folio_struct_alloc(m);

		if (!folio) {
			put_structs(m, *list);
			return false;
		}
		folio->lru.next = (struct list_head *)*list;
		*list = folio;
	}
	return true;
}

static int split_xarray(struct address_space *mapping, const struct split *s)
{
	XA_STATE_ORDER(xas, &mapping->i_pages, s->page, s->min_order);

	if (s->uniform)
		xas_split(&xas, s->folio, s->order);
	else
		xas_try_split(&xas, s->folio, s->order);
	return xas_error(&xas);
}

static void make_piece(struct address_space *mapping, struct folio *piece, const struct folio *head,
		       pgoff_t index, unsigned int order)
{
	XA_STATE_ORDER(xas, &mapping->i_pages, index, order);
	struct lruvec *lruvec = &mapping_machine(mapping)->mm->lruvec;

	*piece = (struct folio){
		.flags = head->flags & SPLIT_FLAGS,
		.mapping = mapping,
		.index = index,
		._refcount = 1 << order,
		._pfn = head->_pfn + (index - head->index),
		._order = order,
	};
	xas_store(&xas, piece);
	if (folio_test_lru(head)) {
		lruvec_add_folio(lruvec, piece);
		folio_set_lru(piece);
	} else {
		folio_add_lru(piece);
	}
}

/* The head shrinks to its first piece; list counts follow. */
static void shrink_head(struct machine *m, struct folio *head, unsigned int order)
{
	unsigned long gone = folio_nr_pages(head) - (1UL << order);

	if (folio_test_lru(head))
		m->mm->lruvec.nr[folio_lru_list(head)] -= gone;
	head->_order = order;
	head->_refcount -= gone;
}

/* Each piece finds out whether it is bad; larger ones remember it only with KEEP_HAS_HWPOISONED. */
static void split_poison(struct machine *m, struct folio *folio)
{
	folio->flags &= ~(BIT(PG_hwpoison) | BIT(PG_has_hwpoisoned));
	folio->flags |= split_poison_flags(m, folio->_pfn, folio->_order);
}

static void __split_unmapped_folio(struct address_space *mapping, const struct split *s,
				   struct folio *structs)
{
	struct folio *head = s->folio;
	struct machine *m = mapping_machine(mapping);
	pgoff_t index = head->index, end = index + (1UL << s->order);
	unsigned int first = piece_order(s, index);
	bool bad = folio_test_hwpoison(head) || folio_test_has_hwpoisoned(head);

	shrink_head(m, head, first);
	if (bad)
		split_poison(m, head);
	for (index += 1UL << first; index < end;) {
		unsigned int order = piece_order(s, index);
		struct folio *piece = structs;

		structs = (struct folio *)piece->lru.next;
		make_piece(mapping, piece, head, index, order);
		if (bad)
			split_poison(m, piece);
		index += 1UL << order;
	}
}

static void trace_split(const struct address_space *mapping, const struct split *s)
{
	const struct trace_event ev = {
		.id = EV_fl_folio_split,
		.order = s->order,
		.ino = mapping->host->i_ino,
		.index = s->folio->index,
		.a = s->folio->_pfn,
		.b = s->min_order,
		.c = s->page,
		.d = s->uniform,
	};

	trace_event2(&mapping_machine(mapping)->trace, &ev);
}

/* Pieces past the end of the file leave the cache, except in what tmpfs has fallocated. */
static void drop_beyond_eof(struct address_space *mapping, const struct split *s)
{
	const struct inode *inode = mapping->host;
	pgoff_t end = DIV_ROUND_UP((u64)i_size_read(inode), mapping_machine(mapping)->page_size);
	pgoff_t index = folio_next_index(s->folio), last;

	last = round_down(s->folio->index, BIT(s->order)) + BIT(s->order) - 1;
	if (shmem_mapping(mapping))
		end = shmem_fallocend(inode, end);
	if (end <= last)
		truncate_whole_folios(mapping, max(index, end), last, false);
}

/* Nobody holds it but the cache, its mappings and the caller. */
static bool can_split_folio(const struct folio *folio)
{
	int extra = folio_machine(folio)->mm->mf.split_fails;

	return folio_ref_count(folio) + extra - folio->_mapcount == 1 + (int)folio_nr_pages(folio);
}

/*
 * The cut itself. With several tasks under xa_lock and lru_lock; a folio that is on no list then
 * would have to queue its pieces for one, and waits for its time.
 */
static int split_unmapped(struct address_space *mapping, const struct split *s)
{
	struct machine *m = mapping_machine(mapping);
	struct folio *folio = s->folio, *structs;
	int ret;

	if (!can_split_folio(folio) || folio->_mapcount || (m->sched && !folio_test_lru(folio)))
		return -EAGAIN;
	if (!get_structs(m, s, &structs))
		return -ENOMEM;
	ret = split_xarray(mapping, s);
	if (ret) {
		put_structs(m, structs);
		return ret;
	}
	trace_split(mapping, s);
	__split_unmapped_folio(mapping, s, structs);
	return 0;
}

static int __folio_split(struct folio *folio, pgoff_t page, bool uniform)
{
	struct address_space *mapping = folio->mapping;
	struct machine *m = folio_machine(folio);
	struct split s = {
		.folio = folio,
		.page = page,
		.order = folio_order(folio),
		.min_order = mapping_min_folio_order(mapping),
		.uniform = uniform,
	};
	int ret;

	if (s.order <= s.min_order)
		return 0;
	if (folio_test_writeback(folio) || !filemap_release_folio(folio, GFP_KERNEL))
		return -EBUSY;
	lru_add_drain(m);
	if (!can_split_folio(folio))
		return -EAGAIN;
	try_to_unmap(folio);
	lru_add_drain(m);
	lock_excl_smp(m, XA_LOCK, &mapping->xa_lock);
	lock_excl_smp(m, LRU_LOCK, &m->mm->lruvec.lru_lock);
	ret = split_unmapped(mapping, &s);
	unlock_excl(m, LRU_LOCK, &m->mm->lruvec.lru_lock);
	unlock_excl(m, XA_LOCK, &mapping->xa_lock);
	if (!ret)
		drop_beyond_eof(mapping, &s);
	return ret;
}

int split_folio_at(struct folio *folio, pgoff_t page)
{
	return __folio_split(folio, page, !knob(folio_machine(folio), SPLIT_NONUNIFORM));
}

int split_folio(struct folio *folio)
{
	return __folio_split(folio, folio->index, true);
}
