/*
 * Pairing heap of embedded nodes, smallest key first; equal keys leave in no set order. Inserting
 * takes O(1), removing O(log n) on average over many calls.
 *
 * Context: any. Locking: the caller's.
 */
#ifndef KERNEL_HEAP_H
#define KERNEL_HEAP_H

#include <kernel/base.h>

struct heap_node {
	uint64_t key;
	struct heap_node *child; /* first child */
	struct heap_node *next;	 /* next sibling */
	struct heap_node *prev; /* previous sibling; the parent for a first child; NULL: the root */
};

struct heap {
	struct heap_node *root; /* NULL when empty */
};

void heap_insert(struct heap *heap, struct heap_node *node);
/* `node` must be in `heap`. */
void heap_remove(struct heap *heap, struct heap_node *node);

static inline struct heap_node *heap_first(const struct heap *heap)
{
	return heap->root;
}

#endif
