/*
 * Doubly linked list: a ring of links. Each element has a struct list in it, and one more, which
 * belongs to no element, is the head.
 *
 * Context: any. Locking: the caller's.
 */
#ifndef KERNEL_LIST_H
#define KERNEL_LIST_H

#include <kernel/base.h>

struct list {
	struct list *next;
	struct list *prev;
};

#define LIST_INIT(name)                                                                            \
	{                                                                                          \
		&(name), &(name)                                                                   \
	}

#define list_entry(link, type, member) container_of(link, type, member)
#define list_for_each(pos, head)       for ((pos) = (head)->next; (pos) != (head); (pos) = (pos)->next)
/* `following`, a second variable, keeps the place, so that `pos` may be removed in the loop. */
#define list_for_each_safe(pos, following, head)                                                   \
	for ((pos) = (head)->next, (following) = (pos)->next; (pos) != (head);                     \
	     (pos) = (following), (following) = (pos)->next)

static inline void list_init(struct list *head)
{
	head->next = head;
	head->prev = head;
}

static inline bool list_empty(const struct list *head)
{
	return head->next == head;
}

/* Put `link` behind `head`: first in the list, or behind the element whose link `head` is. */
static inline void list_add(struct list *head, struct list *link)
{
	link->next = head->next;
	link->prev = head;
	head->next->prev = link;
	head->next = link;
}

/* Put `link` before `head`: last in the list, or before the element whose link `head` is. */
static inline void list_add_tail(struct list *head, struct list *link)
{
	link->next = head;
	link->prev = head->prev;
	head->prev->next = link;
	head->prev = link;
}

/* Take `link` out and make it a ring of its own, so that list_empty(link) tells "not queued". */
static inline void list_remove(struct list *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
	list_init(link);
}

#endif
