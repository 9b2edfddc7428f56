/* xa_check() of lib/xarray.h: every structural invariant, verified node by node. */
#include "lib/xarray.h"

#include <errno.h>

#define BROKEN(err, node, fmt, ...)                                                                \
	fl_error_set(err, -EUCLEAN, "xarray", 0, "node at level %u, offset %u: " fmt,              \
		     (node)->shift, (node)->offset, ##__VA_ARGS__)

/* The entry in slot @head and its siblings up to @end: a naturally aligned power of two? */
static int check_run(const struct xa_node *node, unsigned int head, unsigned int end,
		     struct fl_error *err)
{
	unsigned int n = end - head;

	if (n & (n - 1) || head & (n - 1))
		return BROKEN(err, node, "%u slots from %u on, expected natural alignment", n,
			      head);
	for (unsigned int i = head + 1; i < end; i++)
		if (xa_to_sibling(node->slots[i]) != head)
			return BROKEN(err, node, "slot %u is a sibling of %lu, expected %u", i,
				      xa_to_sibling(node->slots[i]), head);
	return 0;
}

/* Entries and siblings, without looking below; counts what count and nr_values should say. */
static int check_slots(const struct xa_node *node, struct fl_error *err)
{
	unsigned int count = 0, values = 0, end;
	int ret = 0;

	for (unsigned int i = 0; i < XA_CHUNK_SIZE && !ret; i = end) {
		const void *entry = node->slots[i];

		for (end = i + 1; end < XA_CHUNK_SIZE && xa_is_sibling(node->slots[end]); end++)
			;
		count += entry ? end - i : 0;
		values += xa_is_value(entry) ? end - i : 0;
		if (end - i > 1 && (!entry || xa_is_internal(entry)))
			return BROKEN(err, node, "slot %u has siblings but no entry", i);
		if (xa_is_internal(entry) && !(xa_is_node(entry) && node->shift))
			return BROKEN(err, node, "slot %u: internal entry %p", i, entry);
		ret = check_run(node, i, end, err);
	}
	if (ret)
		return ret;
	if (!count || count != node->count)
		return BROKEN(err, node, "count %u, %u slots in use", node->count, count);
	if (values != node->nr_values)
		return BROKEN(err, node, "nr_values %u, expected %u", node->nr_values, values);
	return 0;
}

/* Marks may sit on entries only, and on nodes exactly where something below bears them. */
static int check_marks(const struct xa_node *node, struct fl_error *err)
{
	for (unsigned int i = 0; i < XA_CHUNK_SIZE; i++) {
		const void *entry = node->slots[i];

		for (xa_mark_t m = 0; m < XA_MAX_MARKS; m++) {
			bool set = node->marks[m] >> i & 1;

			if (xa_is_node(entry) && set != (xa_to_node(entry)->marks[m] != 0))
				return BROKEN(err, node, "slot %u, mark %u: not that below", i, m);
			if (set && (!entry || xa_is_sibling(entry)))
				return BROKEN(err, node, "slot %u, mark %u: no entry", i, m);
		}
	}
	return 0;
}

/* What the parent says about @child in slot @offset. */
static int check_link(const struct xa_node *node, const struct xa_node *child, unsigned int offset,
		      struct fl_error *err)
{
	if (child->parent != node || child->offset != offset || child->array != node->array)
		return BROKEN(err, child, "wrong parent, offset or array, expected slot %u",
			      offset);
	if (child->shift + XA_CHUNK_SHIFT != node->shift)
		return BROKEN(err, child, "below a node at level %u", node->shift);
	return 0;
}

static int check_node(const struct xa_node *node, struct fl_error *err)
{
	int ret = check_slots(node, err);

	for (unsigned int i = 0; i < XA_CHUNK_SIZE && !ret; i++) {
		const struct xa_node *child;

		if (!xa_is_node(node->slots[i]))
			continue;
		child = xa_to_node(node->slots[i]);
		ret = check_link(node, child, i, err);
		if (!ret)
			ret = check_node(child, err);
	}
	return ret ? ret : check_marks(node, err);
}

/* What only the root can get wrong. */
static int check_root(const struct xarray *xa, const struct xa_node *root, struct fl_error *err)
{
	const void *first = root->slots[0];

	if (root->parent || root->offset || root->array != xa)
		return BROKEN(err, root, "not a root");
	/* With a single child it may stay: a split makes one of the only entry, and shrinks
	 * nothing. */
	if (root->count == 1 && first && !xa_is_node(first) && !root->shift)
		return BROKEN(err, root, "a root the tree does not need");
	for (xa_mark_t m = 0; m < XA_MAX_MARKS; m++)
		if (xa_marked(xa, m) != (root->marks[m] != 0))
			return BROKEN(err, root, "mark %u of the tree differs", m);
	return check_node(root, err);
}

int xa_check(const struct xarray *xa, struct fl_error *err)
{
	const void *head = xa->xa_head;

	if (xa_is_node(head))
		return check_root(xa, xa_to_node(head), err);
	if (xa_is_internal(head))
		return fl_error_set(err, -EUCLEAN, "xarray", 0, "xa_head is %p, expected an entry",
				    head);
	if (!head && xa->xa_flags)
		return fl_error_set(err, -EUCLEAN, "xarray", 0, "an empty tree bears marks");
	return 0;
}
