/*
 * lib/list.h - circular doubly linked lists whose links sit inside the elements.
 *
 * Mirrors    include/linux/list.h: names, argument order and results.
 * Invariant  p->next->prev == p and p->prev->next == p for the head and every element; an
 *            empty list is a head that points at itself.
 * Owner      the caller owns head and elements; the list never allocates.
 * Errors     none.
 * Differs    list_del() leaves NULL links instead of the poison addresses.
 */
#ifndef FL_LIB_LIST_H
#define FL_LIB_LIST_H

#include "lib/types.h"

struct list_head {
	struct list_head *next; /* first element, or the head itself */
	struct list_head *prev; /* last element, or the head itself */
};

/* Static initialiser of the head @name. */
#define LIST_HEAD_INIT(name)                                                                       \
	{                                                                                          \
		&(name), &(name)                                                                   \
	}

/* Make @list an empty head (or an element that is on no list). */
static inline void INIT_LIST_HEAD(struct list_head *list)
{
	list->next = list;
	list->prev = list;
}

/* Link @item between two neighbours; for the functions below only. */
static inline void __list_add(struct list_head *item, struct list_head *prev,
			      struct list_head *next)
{
	next->prev = item;
	item->next = next;
	item->prev = prev;
	prev->next = item;
}

/* Insert @item, which is on no list, as the first element of @head. */
static inline void list_add(struct list_head *item, struct list_head *head)
{
	__list_add(item, head, head->next);
}

/* Insert @item, which is on no list, as the last element of @head. */
static inline void list_add_tail(struct list_head *item, struct list_head *head)
{
	__list_add(item, head->prev, head);
}

/* Make two elements neighbours; for the functions below only. */
static inline void __list_del(struct list_head *prev, struct list_head *next)
{
	next->prev = prev;
	prev->next = next;
}

/* Take @item off its list. Its links become NULL: list_empty() on it is undefined. */
static inline void list_del(struct list_head *item)
{
	__list_del(item->prev, item->next);
	item->next = NULL;
	item->prev = NULL;
}

/* Take @item off its list and leave it empty, ready for list_empty() and list_del_init(). */
static inline void list_del_init(struct list_head *item)
{
	__list_del(item->prev, item->next);
	INIT_LIST_HEAD(item);
}

/* Move @item from the list it is on to the front of @head. */
static inline void list_move(struct list_head *item, struct list_head *head)
{
	__list_del(item->prev, item->next);
	list_add(item, head);
}

/* Move @item from the list it is on to the end of @head. */
static inline void list_move_tail(struct list_head *item, struct list_head *head)
{
	__list_del(item->prev, item->next);
	list_add_tail(item, head);
}

/* True if @head has no element. */
static inline bool list_empty(const struct list_head *head)
{
	return head->next == head;
}

/* Move all elements of @list, in order, to the front of @head; @list ends up empty. */
static inline void list_splice_init(struct list_head *list, struct list_head *head)
{
	if (list_empty(list))
		return;
	list->prev->next = head->next;
	head->next->prev = list->prev;
	head->next = list->next;
	list->next->prev = head;
	INIT_LIST_HEAD(list);
}

/* The struct of type @type whose member @member is *@ptr. */
#define list_entry(ptr, type, member) container_of(ptr, type, member)

/* First and last element; the list must not be empty. */
#define list_first_entry(head, type, member) list_entry((head)->next, type, member)
#define list_last_entry(head, type, member)  list_entry((head)->prev, type, member)

/* Neighbours of @pos; at the end of the list they lie around the head. */
#define list_next_entry(pos, member) list_entry((pos)->member.next, __typeof__(*(pos)), member)
#define list_prev_entry(pos, member) list_entry((pos)->member.prev, __typeof__(*(pos)), member)

/* True once @pos has run past the last (or first) element. */
#define list_entry_is_head(pos, head, member) (&(pos)->member == (head))

/* Visit all elements from first to last; the body must not remove @pos. */
#define list_for_each_entry(pos, head, member)                                                     \
	for (pos = list_first_entry(head, __typeof__(*(pos)), member);                             \
	     !list_entry_is_head(pos, head, member); pos = list_next_entry(pos, member))

/* The same from last to first. */
#define list_for_each_entry_reverse(pos, head, member)                                             \
	for (pos = list_last_entry(head, __typeof__(*(pos)), member);                              \
	     !list_entry_is_head(pos, head, member); pos = list_prev_entry(pos, member))

/* Visit all elements; the body may remove @pos (but not @n, the one after it). */
#define list_for_each_entry_safe(pos, n, head, member)                                             \
	for (pos = list_first_entry(head, __typeof__(*(pos)), member),                             \
	    n = list_next_entry(pos, member);                                                      \
	     !list_entry_is_head(pos, head, member); pos = n, n = list_next_entry(n, member))

/* The same from last to first; @n is the one before @pos. */
#define list_for_each_entry_safe_reverse(pos, n, head, member)                                     \
	for (pos = list_last_entry(head, __typeof__(*(pos)), member),                              \
	    n = list_prev_entry(pos, member);                                                      \
	     !list_entry_is_head(pos, head, member); pos = n, n = list_prev_entry(n, member))

#endif
