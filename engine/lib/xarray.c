/* Reading, walking and marks; what changes the shape of a tree is in xarray_store.c. */
#include "lib/xarray.h"

static void *set_bounds(struct xa_state *xas)
{
	xas->xa_node = XAS_BOUNDS;
	return NULL;
}

static void set_offset(struct xa_state *xas)
{
	xas->xa_offset = xa_slot_of(xas->xa_node, xas->xa_index);
}

/* Set xa_index to the first index of slot @offset (64: of the node after this one). */
static void move_index(struct xa_state *xas, unsigned long offset)
{
	unsigned int shift = xas->xa_node->shift;

	xas->xa_index &= ~XA_CHUNK_MASK << shift;
	xas->xa_index += offset << shift;
}

/* Leave the node for the slot @step (+1, -1) beside it in its parent. */
static void climb(struct xa_state *xas, int step)
{
	xas->xa_offset = xas->xa_node->offset + step;
	xas->xa_node = xas->xa_node->parent;
}

/* A valid state stays where it is and only looks again, at the slot of its index. */
static void *reload(const struct xa_state *xas)
{
	struct xa_node *node = xas->xa_node;
	void *entry;

	if (!node)
		return xas->xa->xa_head;
	entry = node->slots[xa_slot_of(node, xas->xa_index)];
	return xa_is_sibling(entry) ? node->slots[xa_to_sibling(entry)] : entry;
}

static inline void *start(struct xa_state *xas)
{
	void *head = xas->xa->xa_head;

	if (xas_valid(xas))
		return reload(xas);
	if (xas_error(xas))
		return NULL;
	if (xa_is_node(head) ? xas->xa_index >> xa_to_node(head)->shift > XA_CHUNK_MASK
			     : xas->xa_index != 0)
		return set_bounds(xas);
	xas->xa_node = NULL;
	return head;
}

/*
 * From @entry down on the way to xa_index, not into nodes below @level. A sibling leads to the
 * first slot of its entry. The position is written once, at the end. Levels are counted down
 * instead of read from the nodes, so that a slot's number does not wait for its node.
 */
static inline void *descend(struct xa_state *xas, void *entry, unsigned int level)
{
	struct xa_node *node = xas->xa_node;
	unsigned int offset = xas->xa_offset;
	int shift = xa_is_node(entry) ? xa_to_node(entry)->shift : -1;

	for (; shift >= (int)level && xa_is_node(entry); shift -= XA_CHUNK_SHIFT) {
		node = xa_to_node(entry);
		offset = xas->xa_index >> shift & XA_CHUNK_MASK;
		entry = node->slots[offset];
	}
	if (xa_is_sibling(entry)) {
		offset = xa_to_sibling(entry);
		entry = node->slots[offset];
	}
	xas->xa_node = node;
	xas->xa_offset = offset;
	return entry;
}

void *xas_load(struct xa_state *xas)
{
	return descend(xas, start(xas), xas->xa_shift);
}

/*
 * The step behind xas_next() and xas_prev(). Index and slot may have parted (a load inside a
 * multi-index entry): the slot moves only if it is not yet where the new index belongs, and on
 * the way down the index decides. Both are what makes the cursor drift as the kernel's does.
 */
static inline void *step_cursor(struct xa_state *xas, int step)
{
	void *entry;

	if (!((unsigned long)xas->xa_node & 2)) /* neither restart nor error */
		xas->xa_index += step;
	if (!xas->xa_node)
		return set_bounds(xas);
	if (xas_not_node(xas->xa_node))
		return xas_load(xas);
	if (xas->xa_offset != xa_slot_of(xas->xa_node, xas->xa_index))
		xas->xa_offset += step;
	while (xas->xa_offset >= XA_CHUNK_SIZE) { /* 64 going up, 255 going down */
		climb(xas, step);
		if (!xas->xa_node)
			return set_bounds(xas);
	}
	for (;;) {
		entry = xas->xa_node->slots[xas->xa_offset];
		if (!xa_is_node(entry))
			return entry;
		xas->xa_node = xa_to_node(entry);
		set_offset(xas);
	}
}

void *__xas_next(struct xa_state *xas)
{
	return step_cursor(xas, 1);
}

void *__xas_prev(struct xa_state *xas)
{
	return step_cursor(xas, -1);
}

static void next_offset(struct xa_state *xas)
{
	xas->xa_offset++;
	move_index(xas, xas->xa_offset);
}

/* Slots from the current one on, climbing and descending, until an entry or @max. */
static void *scan_entries(struct xa_state *xas, unsigned long max)
{
	while (xas->xa_node && xas->xa_index <= max) {
		void *entry;

		if (xas->xa_offset == XA_CHUNK_SIZE) {
			climb(xas, 1);
			continue;
		}
		entry = xas->xa_node->slots[xas->xa_offset];
		if (xa_is_node(entry)) {
			xas->xa_node = xa_to_node(entry);
			xas->xa_offset = 0;
			continue;
		}
		if (entry && !xa_is_sibling(entry))
			return entry;
		next_offset(xas);
	}
	if (!xas->xa_node)
		xas->xa_node = XAS_BOUNDS;
	return NULL;
}

void *xas_find(struct xa_state *xas, unsigned long max)
{
	if (xas_error(xas) || xas->xa_node == XAS_BOUNDS)
		return NULL;
	if (xas->xa_index > max)
		return set_bounds(xas);
	if (!xas->xa_node) {
		xas->xa_index = 1;
		return set_bounds(xas);
	}
	if (xas->xa_node == XAS_RESTART) {
		void *entry = xas_load(xas);

		if (entry || xas_not_node(xas->xa_node))
			return entry;
	} else if (!xas->xa_node->shift && xas->xa_offset != (xas->xa_index & XA_CHUNK_MASK)) {
		/* Index and slot have parted: the caller advanced the index. */
		xas->xa_offset = ((xas->xa_index - 1) & XA_CHUNK_MASK) + 1;
	}
	next_offset(xas);
	return scan_entries(xas, max);
}

/* First slot >= @from of the current node that bears @mark, 64 if there is none. */
static unsigned int find_mark(const struct xa_state *xas, unsigned int from, xa_mark_t mark)
{
	u64 left;

	if (from >= XA_CHUNK_SIZE)
		return XA_CHUNK_SIZE;
	left = xas->xa_node->marks[mark] & ~0ULL << from;
	return left ? __ffs(left) : XA_CHUNK_SIZE;
}

/* If we stand on a sibling, go back to the first slot of its entry. */
static void canonicalise(struct xa_state *xas)
{
	void *entry = xas->xa_node->slots[xas->xa_offset];

	if (!xa_is_sibling(entry))
		return;
	xas->xa_offset = xa_to_sibling(entry);
	move_index(xas, xas->xa_offset);
}

/* No entry (any more): where xas_find_marked() leaves the state. */
static void *marked_end(struct xa_state *xas, unsigned long max)
{
	xas->xa_node = xas->xa_index > max ? XAS_RESTART : XAS_BOUNDS;
	return NULL;
}

/* Marked slots from the current one (@advance: the one after) on until an entry or @max. */
static void *scan_marked(struct xa_state *xas, unsigned long max, xa_mark_t mark, bool advance)
{
	while (xas->xa_index <= max) {
		unsigned int offset;
		void *entry;

		if (xas->xa_offset == XA_CHUNK_SIZE) {
			climb(xas, 1);
			if (!xas->xa_node)
				break;
			advance = false;
			continue;
		}
		if (!advance)
			canonicalise(xas);
		offset = find_mark(xas, xas->xa_offset + advance, mark);
		if (offset > xas->xa_offset) {
			advance = false;
			move_index(xas, offset);
			xas->xa_offset = offset;
			if (xas->xa_index - 1 >= max) { /* also after a wrap to 0 */
				xas->xa_node = XAS_RESTART;
				return NULL;
			}
			if (offset == XA_CHUNK_SIZE)
				continue;
		}
		entry = xas->xa_node->slots[xas->xa_offset];
		if (!xa_is_node(entry))
			return entry;
		xas->xa_node = xa_to_node(entry);
		set_offset(xas);
	}
	return marked_end(xas, max);
}

/* The head as the only entry: found if it bears the mark, else the search is over. */
static void *find_marked_head(struct xa_state *xas, unsigned long max, xa_mark_t mark)
{
	if (xa_marked(xas->xa, mark))
		return xas->xa->xa_head;
	xas->xa_index = 1;
	return marked_end(xas, max);
}

void *xas_find_marked(struct xa_state *xas, unsigned long max, xa_mark_t mark)
{
	void *head = xas->xa->xa_head;

	if (xas_error(xas))
		return NULL;
	if (xas->xa_index > max)
		return marked_end(xas, max);
	if (!xas->xa_node) {
		xas->xa_index = 1;
		return marked_end(xas, max);
	}
	if (!xas_top(xas->xa_node))
		return scan_marked(xas, max, mark, true);
	xas->xa_node = NULL;
	if (xas->xa_index > xa_max_index(head))
		return marked_end(xas, max);
	if (!xa_is_node(head))
		return find_marked_head(xas, max, mark);
	xas->xa_node = xa_to_node(head);
	set_offset(xas);
	return scan_marked(xas, max, mark, false);
}

/* Step to the next slot of the range; false once the range ends. Skips climb over siblings. */
static bool next_conflict_slot(struct xa_state *xas)
{
	while (xas->xa_node->shift != xas->xa_shift && xas->xa_offset == XA_CHUNK_MASK) {
		climb(xas, 0);
		if (!xas->xa_node)
			return false;
	}
	if (xas->xa_node->shift == xas->xa_shift && (xas->xa_offset & xas->xa_sibs) == xas->xa_sibs)
		return false;
	xas->xa_offset++;
	return true;
}

void *xas_find_conflict(struct xa_state *xas)
{
	void *entry;

	if (xas_error(xas) || !xas->xa_node)
		return NULL;
	if (xas_top(xas->xa_node)) {
		entry = descend(xas, start(xas), 0); /* whatever the state's order */
		if (entry || xas_not_node(xas->xa_node))
			return entry;
	}
	if (xas->xa_node->shift > xas->xa_shift)
		return NULL;
	while (next_conflict_slot(xas)) {
		entry = xas->xa_node->slots[xas->xa_offset];
		while (xa_is_node(entry)) {
			xas->xa_node = xa_to_node(entry);
			xas->xa_offset = 0;
			entry = xas->xa_node->slots[0];
		}
		if (entry && !xa_is_sibling(entry))
			return entry;
	}
	xas->xa_offset -= xas->xa_sibs;
	return NULL;
}

void xas_pause(struct xa_state *xas)
{
	struct xa_node *node = xas->xa_node;
	unsigned int offset = xas->xa_offset;

	if (xas_invalid(xas))
		return;
	xas->xa_node = XAS_RESTART;
	if (!node) {
		xas->xa_index++;
		return;
	}
	while (++offset < XA_CHUNK_SIZE && xa_is_sibling(node->slots[offset]))
		;
	xas->xa_index &= ~0UL << node->shift;
	xas->xa_index += (unsigned long)(offset - xas->xa_offset) << node->shift;
	if (!xas->xa_index)
		xas->xa_node = XAS_BOUNDS;
}

unsigned int xas_get_order(const struct xa_state *xas)
{
	const struct xa_node *node = xas->xa_node;
	unsigned int order = 0;

	if (!node)
		return 0;
	for (;; order++) {
		unsigned int slot = xas->xa_offset + (1U << order);

		if (slot >= XA_CHUNK_SIZE || !xa_is_sibling(node->slots[slot]))
			return node->shift + order;
	}
}

bool xas_get_mark(const struct xa_state *xas, xa_mark_t mark)
{
	if (xas_invalid(xas))
		return false;
	if (!xas->xa_node)
		return xa_marked(xas->xa, mark);
	return xas->xa_node->marks[mark] >> xas->xa_offset & 1;
}

void xas_set_mark(const struct xa_state *xas, xa_mark_t mark)
{
	unsigned int offset = xas->xa_offset;

	if (xas_invalid(xas))
		return;
	for (struct xa_node *node = xas->xa_node; node; node = node->parent) {
		if (node->marks[mark] >> offset & 1)
			return;
		node->marks[mark] |= 1ULL << offset;
		offset = node->offset;
	}
	xas->xa->xa_flags |= 1U << mark;
}

void xas_clear_mark(const struct xa_state *xas, xa_mark_t mark)
{
	unsigned int offset = xas->xa_offset;

	if (xas_invalid(xas))
		return;
	for (struct xa_node *node = xas->xa_node; node; node = node->parent) {
		if (!(node->marks[mark] >> offset & 1))
			return;
		node->marks[mark] &= ~(1ULL << offset);
		if (node->marks[mark])
			return;
		offset = node->offset;
	}
	xas->xa->xa_flags &= ~(1U << mark);
}

void xas_init_marks(const struct xa_state *xas)
{
	for (xa_mark_t mark = 0; mark < XA_MAX_MARKS; mark++)
		xas_clear_mark(xas, mark);
}

void xa_init(struct xarray *xa, struct xa_cache *cache)
{
	*xa = (struct xarray){.xa_cache = cache};
}

static void *result(const struct xa_state *xas, void *old)
{
	return xas_error(xas) ? xa_mk_err(xas_error(xas)) : old;
}

/* xas_load() without a state: the busiest function of all. */
void *xa_load(const struct xarray *xa, unsigned long index)
{
	void *entry = xa->xa_head;
	const struct xa_node *node = NULL;
	int shift = xa_is_node(entry) ? xa_to_node(entry)->shift : -1;

	if (index > xa_max_index(entry))
		return NULL;
	for (; shift >= 0 && xa_is_node(entry); shift -= XA_CHUNK_SHIFT) {
		node = xa_to_node(entry);
		entry = node->slots[index >> shift & XA_CHUNK_MASK];
	}
	if (xa_is_sibling(entry))
		entry = node->slots[xa_to_sibling(entry)];
	return entry;
}

void *xa_store(struct xarray *xa, unsigned long index, void *entry)
{
	XA_STATE(xas, xa, index);
	void *old = xas_store(&xas, entry);

	return result(&xas, old);
}

void *xa_store_order(struct xarray *xa, unsigned long index, unsigned int order, void *entry)
{
	XA_STATE_ORDER(xas, xa, index, order);
	void *old = xas_store(&xas, entry);

	return result(&xas, old);
}

void *xa_erase(struct xarray *xa, unsigned long index)
{
	return xa_store(xa, index, NULL);
}

void *xa_find(struct xarray *xa, unsigned long *indexp, unsigned long max, xa_mark_t filter)
{
	XA_STATE(xas, xa, *indexp);
	void *entry;

	if (filter < XA_MAX_MARKS)
		entry = xas_find_marked(&xas, max, filter);
	else
		entry = xas_find(&xas, max);
	if (entry)
		*indexp = xas.xa_index;
	return entry;
}
