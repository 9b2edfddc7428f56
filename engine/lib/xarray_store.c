/* The writing half of lib/xarray.h: growing, storing, removing, shrinking, splitting. */
#include "lib/xarray.h"

#include <errno.h>
#include <string.h>

/* Highest index a store through @xas touches; at least 1 if it needs a node anyway. */
static unsigned long store_max(const struct xa_state *xas)
{
	unsigned long mask = ((xas->xa_sibs + 1UL) << xas->xa_shift) - 1;
	unsigned long last = xas->xa_index | mask;

	/* An entry of 64 slots at index 0 fills a tree but must not be the root: ask for more. */
	return mask && last == mask ? last + 1 : last;
}

/* A node at level @shift to hang below xa_node at xa_offset; NULL and -ENOMEM if there is none. */
static struct xa_node *new_node(struct xa_state *xas, unsigned int shift)
{
	struct xa_node *node = xa_cache_alloc(xas->xa->xa_cache);

	if (!node)
		return NULL;
	node->shift = shift;
	node->array = xas->xa;
	node->parent = xas->xa_node;
	if (node->parent) {
		node->offset = xas->xa_offset;
		node->parent->count++;
	}
	return node;
}

/* Drop roots whose only content is slot 0 with a node, or with an entry a leaf need not hold. */
static void shrink(struct xa_state *xas)
{
	struct xarray *xa = xas->xa;
	struct xa_node *node = xas->xa_node;

	for (;;) {
		void *entry = node->slots[0];

		if (node->count != 1 || !entry || (!xa_is_node(entry) && node->shift))
			return;
		xas->xa_node = XAS_BOUNDS;
		xa->xa_head = entry;
		node->slots[0] = NULL;
		xa_cache_free(xa->xa_cache, node);
		if (!xa_is_node(entry))
			return;
		node = xa_to_node(entry);
		node->parent = NULL;
	}
}

/* Free the current node if it is empty, then its parent if that made it empty, and so on. */
static void delete_empty(struct xa_state *xas)
{
	struct xa_node *node = xas->xa_node;

	while (!node->count) {
		struct xa_node *parent = node->parent;

		xas->xa_node = parent;
		xas->xa_offset = node->offset;
		xa_cache_free(xas->xa->xa_cache, node);
		if (!parent) {
			xas->xa->xa_head = NULL;
			xas->xa_node = XAS_BOUNDS;
			return;
		}
		parent->slots[xas->xa_offset] = NULL;
		parent->count--;
		node = parent;
	}
	if (!node->parent)
		shrink(xas);
}

/* Free @top and every node below it. */
static void free_subtree(struct xa_cache *cache, struct xa_node *top)
{
	for (unsigned int i = 0; top->shift && i < XA_CHUNK_SIZE; i++)
		if (xa_is_node(top->slots[i]))
			free_subtree(cache, xa_to_node(top->slots[i]));
	memset(top->slots, 0, sizeof(top->slots));
	xa_cache_free(cache, top);
}

/* Out of memory below @node: take back the empty nodes and needless roots made so far. */
static void undo_create(struct xa_state *xas, struct xa_node *node)
{
	xas->xa_node = node;
	if (node)
		delete_empty(xas);
	xas_set_err(xas, -ENOMEM);
}

/* Put a new root, at level @shift, above the head. */
static bool add_root(struct xa_state *xas, unsigned int shift)
{
	struct xarray *xa = xas->xa;
	void *head = xa->xa_head;
	struct xa_node *node;

	xas->xa_node = NULL;
	node = new_node(xas, shift);
	if (!node)
		return false;
	node->count = 1;
	node->nr_values = xa_is_value(head);
	node->slots[0] = head;
	for (xa_mark_t mark = 0; mark < XA_MAX_MARKS; mark++)
		node->marks[mark] = xa_marked(xa, mark);
	if (xa_is_node(head))
		xa_to_node(head)->parent = node;
	xa->xa_head = xa_mk_node(node);
	return true;
}

/*
 * Grow the tree until it can hold the range of @xas. Returns the level above its root (0: the
 * entry goes to xa_head) or -ENOMEM.
 */
static int expand(struct xa_state *xas)
{
	struct xarray *xa = xas->xa;
	unsigned long last = store_max(xas);
	int shift = 0;

	if (!xa->xa_head) {
		if (!last)
			return 0;
		while (last >> shift >= XA_CHUNK_SIZE)
			shift += XA_CHUNK_SHIFT;
		return shift + XA_CHUNK_SHIFT;
	}
	if (xa_is_node(xa->xa_head))
		shift = xa_to_node(xa->xa_head)->shift + XA_CHUNK_SHIFT;
	for (; last > xa_max_index(xa->xa_head); shift += XA_CHUNK_SHIFT) {
		if (!add_root(xas, shift)) {
			void *head = xa->xa_head;

			undo_create(xas, xa_is_node(head) ? xa_to_node(head) : NULL);
			return -ENOMEM;
		}
	}
	return shift;
}

/* From an entry at level @shift down to the level of @xas, making nodes where there are none. */
static void *create_path(struct xa_state *xas, void *entry, void **slot, unsigned int shift)
{
	while (shift > xas->xa_shift) {
		struct xa_node *parent = xas->xa_node, *node;

		shift -= XA_CHUNK_SHIFT;
		if (!entry) {
			node = new_node(xas, shift);
			if (!node) {
				undo_create(xas, parent);
				return NULL;
			}
			*slot = xa_mk_node(node);
		} else if (xa_is_node(entry)) {
			node = xa_to_node(entry);
		} else {
			break;
		}
		xas->xa_node = node;
		xas->xa_offset = xa_slot_of(node, xas->xa_index);
		if (xa_is_sibling(node->slots[xas->xa_offset]))
			xas->xa_offset = xa_to_sibling(node->slots[xas->xa_offset]);
		slot = &node->slots[xas->xa_offset];
		entry = *slot;
	}
	return entry;
}

/* Make the slot a store needs and stand on it. Returns what is there now; error: see @xas. */
static void *create(struct xa_state *xas)
{
	struct xarray *xa = xas->xa;
	struct xa_node *node = xas->xa_node;
	int shift;

	if (xas_error(xas))
		return NULL;
	if (!xas_top(node))
		return create_path(xas, node->slots[xas->xa_offset], &node->slots[xas->xa_offset],
				   node->shift);
	shift = expand(xas);
	if (shift < 0)
		return NULL;
	xas->xa_node = NULL;
	return create_path(xas, xa->xa_head, &xa->xa_head, shift);
}

/* Slots @from .. @last become one entry: its first slot takes over all their marks. */
static void squash_marks(struct xa_node *node, unsigned int from, unsigned int last)
{
	u64 rest = (~0ULL >> (XA_CHUNK_MASK - last)) & ~1ULL << from;

	for (xa_mark_t mark = 0; mark < XA_MAX_MARKS; mark++) {
		if (!(node->marks[mark] & rest))
			continue;
		node->marks[mark] &= ~rest;
		node->marks[mark] |= 1ULL << from;
	}
}

/* Store into xa_head, where there is no node (or one that goes). */
static void store_head(struct xa_state *xas, void *entry)
{
	void *old = xas->xa->xa_head;

	xas->xa->xa_head = entry;
	if (xa_is_node(old))
		free_subtree(xas->xa->xa_cache, xa_to_node(old));
}

/* Last slot of the range: at least xa_sibs further on, and to the end of a larger entry. */
static unsigned int last_slot(const struct xa_state *xas)
{
	unsigned int last = xas->xa_offset + xas->xa_sibs;

	while (last < XA_CHUNK_MASK && xa_is_sibling(xas->xa_node->slots[last + 1]))
		last++;
	return last;
}

static bool slots_empty(const struct xa_node *node, unsigned int first, unsigned int last)
{
	unsigned long any = 0;

	for (unsigned int i = first; i <= last; i++)
		any |= (unsigned long)node->slots[i];
	return !any;
}

/* Take what is in the range out of the counts, free its nodes. Returns the last entry there. */
static void *release_slots(struct xa_cache *cache, struct xa_node *node, unsigned int first,
			   unsigned int last)
{
	void *old = NULL;

	for (unsigned int i = first, end; i <= last; i = end) {
		old = node->slots[i];
		for (end = i + 1; end <= last && xa_is_sibling(node->slots[end]); end++)
			;
		node->count -= old ? end - i : 0;
		node->nr_values -= xa_is_value(old) ? end - i : 0;
		if (node->shift && xa_is_node(old))
			free_subtree(cache, xa_to_node(old));
	}
	return old;
}

/* Fill the range with @entry and siblings, or NULL. Returns the last entry that was there. */
static void *store_slots(struct xa_state *xas, void *entry)
{
	struct xa_node *node = xas->xa_node;
	unsigned int first = xas->xa_offset, last = last_slot(xas);
	void *rest = entry ? xa_mk_sibling(first) : NULL;
	void *old = NULL;

	if (!slots_empty(node, first, last))
		old = release_slots(xas->xa->xa_cache, node, first, last);
	node->count += entry ? last - first + 1 : 0;
	node->nr_values += xa_is_value(entry) ? last - first + 1 : 0;
	node->slots[first] = entry;
	for (unsigned int i = first + 1; i <= last; i++)
		node->slots[i] = rest;
	return old;
}

void *xas_store(struct xa_state *xas, void *entry)
{
	void *old = entry ? create(xas) : xas_load(xas);
	struct xa_node *node = xas->xa_node;

	if (xas_invalid(xas))
		return old;
	if (node && xas->xa_shift < node->shift)
		xas->xa_sibs = 0;
	if (old == entry && !xas->xa_sibs)
		return old;
	if (node && xas->xa_sibs)
		squash_marks(node, xas->xa_offset, xas->xa_offset + xas->xa_sibs);
	if (!entry)
		xas_init_marks(xas);
	if (!node) {
		store_head(xas, entry);
		return old;
	}
	old = store_slots(xas, entry);
	if (!entry)
		delete_empty(xas);
	return old;
}

void xa_destroy(struct xarray *xa)
{
	void *head = xa->xa_head;

	xa->xa_head = NULL;
	xa->xa_flags = 0;
	if (xa_is_node(head))
		free_subtree(xa->xa_cache, xa_to_node(head));
}

/* -- Splitting -- */

/* Take @n nodes aside so that what follows cannot fail; false (-ENOMEM): none taken. */
static bool reserve(struct xa_state *xas, unsigned long n)
{
	struct xa_cache *cache = xas->xa->xa_cache;
	struct xa_node *node;

	while (n--) {
		node = xa_cache_alloc(cache);
		if (node) {
			node->parent = xas->xa_alloc;
			xas->xa_alloc = node;
			continue;
		}
		while ((node = xas->xa_alloc)) {
			xas->xa_alloc = node->parent;
			xa_cache_free(cache, node);
		}
		xas_set_err(xas, -ENOMEM);
		return false;
	}
	return true;
}

/* What a split writes: the new entries and the marks (bit m: mark m) each of them bears. */
struct piece {
	void *entry;
	unsigned int marks;
};

static void split_slots(struct xa_state *xas, struct xa_node *node, unsigned int from,
			unsigned int last, const struct piece *piece);

/* Let the reserved node take the place of slot @offset of @parent, filled with pieces. */
static void split_into_child(struct xa_state *xas, struct xa_node *parent, unsigned int offset,
			     const struct piece *piece)
{
	struct xa_node *child = xas->xa_alloc;

	xas->xa_alloc = child->parent;
	child->parent = parent;
	child->array = xas->xa;
	child->offset = offset;
	child->shift = parent->shift - XA_CHUNK_SHIFT;
	child->count = XA_CHUNK_SIZE;
	split_slots(xas, child, 0, XA_CHUNK_MASK, piece);
	parent->slots[offset] = xa_mk_node(child);
}

/* The new first slots of @piece entries get its marks, all other slots of the range none. */
static void split_marks(struct xa_node *node, unsigned int from, unsigned int last,
			unsigned int stride, unsigned int marks)
{
	u64 range = (~0ULL >> (XA_CHUNK_MASK - last)) & ~0ULL << from, heads = 0;

	for (unsigned int i = from; i <= last; i += stride)
		heads |= 1ULL << i;
	for (xa_mark_t mark = 0; mark < XA_MAX_MARKS; mark++) {
		node->marks[mark] &= ~range;
		if (marks >> mark & 1)
			node->marks[mark] |= heads;
	}
}

/* Slots @from .. @last of @node, held by one entry so far, become pieces of the state's order. */
static void split_slots(struct xa_state *xas, struct xa_node *node, unsigned int from,
			unsigned int last, const struct piece *piece)
{
	bool below = xas->xa_shift < node->shift;
	unsigned int stride = below ? 1 : xas->xa_sibs + 1U;

	for (unsigned int i = from; i <= last; i++) {
		unsigned int head = i - (i - from) % stride;

		if (below)
			split_into_child(xas, node, i, piece);
		else
			node->slots[i] = i == head ? piece->entry : xa_mk_sibling(head);
	}
	if (!below && xa_is_value(piece->entry))
		node->nr_values += last - from + 1;
	split_marks(node, from, last, stride, piece->marks);
}

/* Cut the entry the state stands on, which takes the slots of order @order. */
static void split_here(struct xa_state *xas, void *entry, unsigned int order)
{
	struct xa_node *node = xas->xa_node;
	unsigned int from = xas->xa_offset;
	unsigned int last = from + (1U << order % XA_CHUNK_SHIFT) - 1;
	struct piece piece = {.entry = entry};

	for (xa_mark_t mark = 0; mark < XA_MAX_MARKS; mark++)
		piece.marks |= (unsigned int)xas_get_mark(xas, mark) << mark;
	if (xa_is_value(node->slots[from]))
		node->nr_values -= last - from + 1;
	split_slots(xas, node, from, last, &piece);
}

static unsigned int state_order(const struct xa_state *xas)
{
	return xas->xa_shift + ilog2(xas->xa_sibs + 1U);
}

/* Stand on the entry to cut. False: nothing there, or (-EINVAL) not of order @order. */
static bool split_begin(struct xa_state *xas, unsigned int order)
{
	void *old = xas_load(xas);

	if (xas_invalid(xas) || !xas->xa_node || !old)
		return false;
	if (!xa_is_internal(old) && xas_get_order(xas) == order && state_order(xas) < order)
		return true;
	xas_set_err(xas, -EINVAL);
	return false;
}

/* Nodes it takes to cut an entry of order @order into pieces stored at level @shift. */
static unsigned long split_nodes(unsigned int order, unsigned int shift)
{
	unsigned long slots = 1UL << order % XA_CHUNK_SHIFT, nodes = 0;

	for (unsigned int level = order - order % XA_CHUNK_SHIFT; level > shift;
	     level -= XA_CHUNK_SHIFT) {
		nodes += slots;
		slots <<= XA_CHUNK_SHIFT;
	}
	return nodes;
}

void xas_split(struct xa_state *xas, void *entry, unsigned int order)
{
	if (!split_begin(xas, order) || !reserve(xas, split_nodes(order, xas->xa_shift)))
		return;
	split_here(xas, entry, order);
	xas_reset(xas);
}

void xas_try_split(struct xa_state *xas, void *entry, unsigned int order)
{
	unsigned long index = xas->xa_index;
	unsigned int target = state_order(xas);

	/* Each level boundary crossed costs one node: only one half goes further down. */
	if (!split_begin(xas, order) ||
	    !reserve(xas, order / XA_CHUNK_SHIFT - target / XA_CHUNK_SHIFT))
		return;
	for (; order > target; order--) {
		xas_set_order(xas, index, order - 1);
		xas_load(xas);
		split_here(xas, entry, order);
	}
	xas_reset(xas);
}
