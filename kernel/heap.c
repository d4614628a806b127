/* See <kernel/heap.h>. */
#include <kernel/heap.h>

/* Join two heaps: the root with the larger key becomes the first child of the other. */
static struct heap_node *heap_meld(struct heap_node *a, struct heap_node *b)
{
	if (!a)
		return b;
	if (!b)
		return a;
	if (b->key < a->key) {
		struct heap_node *t = a;

		a = b;
		b = t;
	}
	b->next = a->child;
	if (a->child)
		a->child->prev = b;
	b->prev = a;
	a->child = b;
	a->next = NULL;
	a->prev = NULL;
	return a;
}

/* Join a list of siblings into one heap: first in pairs, left to right, then the pairs. */
static struct heap_node *heap_pair_siblings(struct heap_node *first)
{
	struct heap_node *pairs = NULL, *root = NULL;

	while (first) {
		struct heap_node *a = first, *b = first->next;

		first = b ? b->next : NULL;
		a->next = NULL;
		if (b)
			b->next = NULL;
		a = heap_meld(a, b);
		a->next = pairs; /* a stack: the second pass goes right to left */
		pairs = a;
	}
	while (pairs) {
		struct heap_node *following = pairs->next;

		pairs->next = NULL;
		root = heap_meld(root, pairs);
		pairs = following;
	}
	if (root) {
		root->next = NULL;
		root->prev = NULL;
	}
	return root;
}

void heap_insert(struct heap *heap, struct heap_node *node)
{
	node->child = NULL;
	node->next = NULL;
	node->prev = NULL;
	heap->root = heap_meld(heap->root, node);
}

void heap_remove(struct heap *heap, struct heap_node *node)
{
	struct heap_node *rest = heap_pair_siblings(node->child);

	if (node == heap->root) {
		heap->root = rest;
	} else {
		if (node->prev->child == node)
			node->prev->child = node->next;
		else
			node->prev->next = node->next;
		if (node->next)
			node->next->prev = node->prev;
		heap->root = heap_meld(heap->root, rest);
	}
	node->child = NULL;
	node->next = NULL;
	node->prev = NULL;
}
