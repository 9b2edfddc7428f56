/*
 * lib/xarray.h - a sparse array of pointers indexed by unsigned long: the page cache's index.
 *
 * Mirrors    include/linux/xarray.h and lib/xarray.c: names, entry encoding, node layout, what
 *            each function leaves in struct xa_state. That last point matters: after xas_load()
 *            in the middle of a multi-index entry xa_offset names the entry's first slot while
 *            xa_index stays, and xas_next()/xas_prev() then move both by one. The cursor drifts,
 *            and readahead decides on what it then finds (spec/readahead.md, 3.2).
 * Invariant  xa_check() below is the list: no empty node, counts right, an entry of order k
 *            sits naturally aligned in 2^(k % 6) slots at level k - k % 6, the slots after the
 *            first being siblings; a mark on a slot is the OR of the marks below it. A lone
 *            entry of order 0 at index 0 lives in xa_head without a node.
 * Owner      the tree owns its nodes, never what the entries point to. Nodes come from the
 *            xa_cache given to xa_init(), which must outlive the tree. Entries are pointers
 *            aligned to 4 or values (xa_mk_value()).
 * Errors     -ENOMEM only, kept in the xa_state (xas_error()); the tree is then as before. Every
 *            operation on a state in error does nothing and returns NULL.
 * Differs    no locks, RCU, retry, zero or reserved entries; nodes are allocated inside
 *            xas_store() and xas_split() rather than before them, so there is no gfp and no
 *            xas_nomem() loop; nr_values stays right when a smaller store replaces a larger
 *            entry; a split leaves the state reset and may cross any number of levels.
 */
#ifndef FL_LIB_XARRAY_H
#define FL_LIB_XARRAY_H

#include "lib/error.h"
#include "lib/types.h"
#include "lib/xa_cache.h"

typedef unsigned int xa_mark_t;

#define XA_MARK_0  0u
#define XA_MARK_1  1u
#define XA_MARK_2  2u
#define XA_PRESENT 8u /* filter for xa_find(): any entry */

struct xarray {
	void *xa_head;		   /* NULL, the entry at index 0, or the root node */
	struct xa_cache *xa_cache; /* where nodes come from */
	unsigned int xa_flags;	   /* bit m: some entry bears mark m */
};

struct xa_state {
	struct xarray *xa;
	unsigned long xa_index;	  /* where the caller stands */
	u8 xa_shift;		  /* level an entry is stored at: order rounded down to 6 */
	u8 xa_sibs;		  /* further slots the entry to store takes */
	u8 xa_offset;		  /* slot of xa_node we stand on; not always that of xa_index */
	struct xa_node *xa_node;  /* node, NULL (xa_head), XAS_RESTART, XAS_BOUNDS or an error */
	struct xa_node *xa_alloc; /* nodes reserved for a split, linked by parent */
};

/* -- What a slot holds: bits 0 and 1 are 00 pointer, x1 value, 10 internal -- */

/* A small integer (63 bits) as an entry, and back. */
static inline void *xa_mk_value(unsigned long v)
{
	return (void *)(v << 1 | 1);
}

static inline unsigned long xa_to_value(const void *entry)
{
	return (unsigned long)entry >> 1;
}

static inline bool xa_is_value(const void *entry)
{
	return (unsigned long)entry & 1;
}

static inline void *xa_mk_internal(unsigned long v)
{
	return (void *)(v << 2 | 2);
}

static inline unsigned long xa_to_internal(const void *entry)
{
	return (unsigned long)entry >> 2;
}

/* Sibling, node or error: nothing a caller stored. */
static inline bool xa_is_internal(const void *entry)
{
	return ((unsigned long)entry & 3) == 2;
}

/* "Look in slot @offset": the slots of an entry after its first. */
static inline void *xa_mk_sibling(unsigned int offset)
{
	return xa_mk_internal(offset);
}

static inline unsigned long xa_to_sibling(const void *entry)
{
	return xa_to_internal(entry);
}

static inline bool xa_is_sibling(const void *entry)
{
	return xa_is_internal(entry) && entry < xa_mk_sibling(XA_CHUNK_SIZE - 1);
}

static inline void *xa_mk_node(const struct xa_node *node)
{
	return (void *)((unsigned long)node | 2);
}

static inline struct xa_node *xa_to_node(const void *entry)
{
	return (struct xa_node *)((unsigned long)entry - 2);
}

static inline bool xa_is_node(const void *entry)
{
	return xa_is_internal(entry) && (unsigned long)entry > 4096;
}

/* A negative errno as an entry (what xa_store() returns), the test for it, and back (else 0). */
static inline void *xa_mk_err(int err)
{
	return xa_mk_internal((unsigned long)(long)err);
}

static inline bool xa_is_err(const void *entry)
{
	return xa_is_internal(entry) && entry >= xa_mk_err(-4095);
}

static inline int xa_err(const void *entry)
{
	return xa_is_err(entry) ? (int)((long)entry >> 2) : 0;
}

/* -- Where a state stands -- */

#define XAS_BOUNDS  ((struct xa_node *)1UL) /* ran off the tree; stays there until it moves */
#define XAS_RESTART ((struct xa_node *)3UL) /* next use walks from the root to xa_index */

/* A state at @index for entries of order 0, and one for entries of 2^@order indices. */
#define XA_STATE(name, array, index)                                                               \
	struct xa_state name = {.xa = (array), .xa_index = (index), .xa_node = XAS_RESTART}

#define XA_STATE_ORDER(name, array, index, order)                                                  \
	struct xa_state name = {                                                                   \
		.xa = (array),                                                                     \
		.xa_index = (unsigned long)(index) >> (order) << (order),                          \
		.xa_shift = (order) - (order) % XA_CHUNK_SHIFT,                                    \
		.xa_sibs = (1U << (order) % XA_CHUNK_SHIFT) - 1,                                   \
		.xa_node = XAS_RESTART,                                                            \
	}

/* The state's negative errno, or 0. */
static inline int xas_error(const struct xa_state *xas)
{
	return xa_err(xas->xa_node);
}

/* Put the state in error @err (negative errno); only xas_reset() and xas_set() leave it. */
static inline void xas_set_err(struct xa_state *xas, int err)
{
	xas->xa_node = xa_mk_err(err);
}

/* Neither a node nor xa_head: restart, bounds or error. */
static inline bool xas_invalid(const struct xa_state *xas)
{
	return (unsigned long)xas->xa_node & 3;
}

static inline bool xas_valid(const struct xa_state *xas)
{
	return !xas_invalid(xas);
}

/* No node: one of the above, or xa_head. */
static inline bool xas_not_node(const struct xa_node *node)
{
	return ((unsigned long)node & 3) || !node;
}

static inline bool xas_is_node(const struct xa_state *xas)
{
	return !xas_not_node(xas->xa_node);
}

/* Restart, bounds or xa_head: an operation begins at the root. */
static inline bool xas_top(const struct xa_node *node)
{
	return node <= XAS_RESTART;
}

/* Forget the position (and any error), keep the index. */
static inline void xas_reset(struct xa_state *xas)
{
	xas->xa_node = XAS_RESTART;
}

/* Move to @index, keep the order. */
static inline void xas_set(struct xa_state *xas, unsigned long index)
{
	xas->xa_index = index;
	xas_reset(xas);
}

/* Move to the entry of @order (< 64) that covers @index: xa_index is rounded down. */
static inline void xas_set_order(struct xa_state *xas, unsigned long index, unsigned int order)
{
	xas->xa_index = index >> order << order;
	xas->xa_shift = order - order % XA_CHUNK_SHIFT;
	xas->xa_sibs = (1U << order % XA_CHUNK_SHIFT) - 1;
	xas_reset(xas);
}

/* Skip to @index inside the node the state stands on (include/linux/xarray.h xas_advance()). */
static inline void xas_advance(struct xa_state *xas, unsigned long index)
{
	unsigned int shift = xas_is_node(xas) ? xas->xa_node->shift : 0;

	xas->xa_index = index;
	xas->xa_offset = index >> shift & XA_CHUNK_MASK;
}

/* Slot of @node on the way to @index. */
static inline unsigned int xa_slot_of(const struct xa_node *node, unsigned long index)
{
	return index >> node->shift & XA_CHUNK_MASK;
}

/* Highest index the tree with head entry @head can hold without growing. */
static inline unsigned long xa_max_index(const void *head)
{
	return xa_is_node(head) ? (XA_CHUNK_SIZE << xa_to_node(head)->shift) - 1 : 0;
}

/* -- Reading: lib/xarray.c functions of the same names -- */

/*
 * The entry that covers xa_index, or NULL. Stops early at a node (an internal entry is returned)
 * if the state's order is above that node's level. Leaves xa_offset at the entry's first slot.
 */
void *xas_load(struct xa_state *xas);

/* What xas_next() and xas_prev() do beyond the inside of a leaf. */
void *__xas_next(struct xa_state *xas);
void *__xas_prev(struct xa_state *xas);

/*
 * Move index and slot one up and return the raw slot: NULL, an entry, or a sibling (internal,
 * "present"). From XAS_RESTART: load without moving. NULL beyond the tree.
 */
static inline void *xas_next(struct xa_state *xas)
{
	struct xa_node *node = xas->xa_node;

	if (unlikely(xas_not_node(node) || node->shift || xas->xa_offset == XA_CHUNK_MASK))
		return __xas_next(xas);
	xas->xa_index++;
	return node->slots[++xas->xa_offset];
}

/* The same, one down. */
static inline void *xas_prev(struct xa_state *xas)
{
	struct xa_node *node = xas->xa_node;

	if (unlikely(xas_not_node(node) || node->shift || !xas->xa_offset))
		return __xas_prev(xas);
	xas->xa_index--;
	return node->slots[--xas->xa_offset];
}

/*
 * First entry at or after xa_index (after a hit: after that entry) with index <= @max, NULL if
 * there is none. xa_index becomes the entry's own index, except that a first hit in the middle
 * of an entry leaves it.
 */
void *xas_find(struct xa_state *xas, unsigned long max);

/*
 * The same among entries that bear @mark. A first hit in the middle of an entry moves xa_index
 * back to the entry's start, unless it is within the entry's first slot (of 2^6 indices or more).
 */
void *xas_find_marked(struct xa_state *xas, unsigned long max, xa_mark_t mark);

/* Next entry that overlaps the range of the state's order at xa_index, NULL if none is left. */
void *xas_find_conflict(struct xa_state *xas);

/*
 * Leave the walk so that the tree may change; it goes on after the current entry. Paused d slots
 * into an entry (a first hit of xas_find()) it skips d slots after that entry, as Linux does;
 * index bits below the slot are masked ("xarray: move forward index correctly in xas_pause()").
 */
void xas_pause(struct xa_state *xas);

/* Order of the entry the state stands on (it must be valid); 0 for xa_head. */
unsigned int xas_get_order(const struct xa_state *xas);

/* xas_find() with the common step inside a leaf done here. */
static inline void *xas_next_entry(struct xa_state *xas, unsigned long max)
{
	struct xa_node *node = xas->xa_node;
	void *entry;

	if (unlikely(xas_not_node(node) || node->shift ||
		     xas->xa_offset != (xas->xa_index & XA_CHUNK_MASK)))
		return xas_find(xas, max);
	do {
		if (xas->xa_index >= max || xas->xa_offset == XA_CHUNK_MASK)
			return xas_find(xas, max);
		entry = node->slots[xas->xa_offset + 1];
		if (xa_is_internal(entry))
			return xas_find(xas, max);
		xas->xa_offset++;
		xas->xa_index++;
	} while (!entry);
	return entry;
}

#define xas_for_each(xas, entry, max)                                                              \
	for (entry = xas_find(xas, max); entry; entry = xas_next_entry(xas, max))

#define xas_for_each_marked(xas, entry, max, mark) while ((entry = xas_find_marked(xas, max, mark)))

#define xas_for_each_conflict(xas, entry) while ((entry = xas_find_conflict(xas)))

/* -- Writing: lib/xarray.c functions of the same names -- */

/*
 * Store @entry (NULL: remove) over the range of the state's order at xa_index. Smaller entries
 * and nodes in the range go; a larger entry that covers the range is replaced as a whole and
 * keeps its size. Marks of what goes stay with the entry; NULL clears them. Returns what was
 * there: the last entry of the range if there were several, an internal entry (a node, already
 * freed) if there were smaller ones. On -ENOMEM the tree is unchanged.
 */
void *xas_store(struct xa_state *xas, void *entry);

/* Marks of the entry the state stands on. On an invalid state: false, or nothing happens. */
bool xas_get_mark(const struct xa_state *xas, xa_mark_t mark);
void xas_set_mark(const struct xa_state *xas, xa_mark_t mark);
void xas_clear_mark(const struct xa_state *xas, xa_mark_t mark);

/* Clear all marks of the entry. */
void xas_init_marks(const struct xa_state *xas);

/*
 * Cut the entry of order @order at xa_index into entries of the state's order, each holding
 * @entry (a pointer or a value) and the marks of the old one. -ENOMEM: nothing is cut. -EINVAL:
 * the entry there has another order, or one not above the state's. No entry: nothing happens.
 * Resets the state. Mirrors xas_split_alloc() and xas_split().
 */
void xas_split(struct xa_state *xas, void *entry, unsigned int order);

/*
 * Halve the entry of order @order again and again, each time only the half with xa_index, until
 * that one has the state's order: 8 pages cut to order 0 at page 5 become 4 1 1 2. For a state one
 * order below this is xas_try_split(); the kernel's __split_unmapped_folio() runs the loop. Errors
 * as xas_split(); all or nothing.
 */
void xas_try_split(struct xa_state *xas, void *entry, unsigned int order);

/* -- One-shot functions -- */

/* An empty tree. */
void xa_init(struct xarray *xa, struct xa_cache *cache);

/* Free all nodes; @xa is empty and usable afterwards. */
void xa_destroy(struct xarray *xa);

static inline bool xa_empty(const struct xarray *xa)
{
	return !xa->xa_head;
}

/* Does any entry bear @mark? */
static inline bool xa_marked(const struct xarray *xa, xa_mark_t mark)
{
	return xa->xa_flags >> mark & 1;
}

/* The entry that covers @index, or NULL. */
void *xa_load(const struct xarray *xa, unsigned long index);

/* Store at @index (order 0, or @order there): the old entry, or xa_mk_err(-ENOMEM). */
void *xa_store(struct xarray *xa, unsigned long index, void *entry);
void *xa_store_order(struct xarray *xa, unsigned long index, unsigned int order, void *entry);

/* Remove the whole entry that covers @index and return it. */
void *xa_erase(struct xarray *xa, unsigned long index);

/*
 * First entry in *@indexp .. @max that bears mark @filter (XA_PRESENT: any); its index (as
 * xas_find() reports it) goes to *@indexp, which stays as it is if the answer is NULL.
 */
void *xa_find(struct xarray *xa, unsigned long *indexp, unsigned long max, xa_mark_t filter);

/*
 * Walk the tree and verify its invariants (see the top). 0, or -EUCLEAN with the first breach
 * described in @err (may be NULL). For debug builds: costs a visit to every node.
 */
int xa_check(const struct xarray *xa, struct fl_error *err);

#endif
