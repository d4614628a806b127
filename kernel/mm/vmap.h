/*
 * Mapping and unmapping of pages in the vmap area, and the functions of its users, stack.c and
 * vmap.c, that mm.c calls.
 *
 * Unmapping interrupts every CPU, so pages are collected and given back together:
 *
 *   struct vmap_batch batch = { 0 };
 *   vmap_unmap(&batch, start, nr); ...          the pages stay allocated, linked through themselves
 *   vmap_release(&batch);                       one flush of all TLBs, then they are free
 *
 * Context: thread, interrupts on.
 */
#ifndef KERNEL_VMAP_H
#define KERNEL_VMAP_H

#include <kernel/base.h>

struct vmap_batch {
	void *pages;	 /* first page; each holds the address of the next */
	uintptr_t start; /* range that was unmapped; empty when both are 0 */
	uintptr_t end;
};

/* Map `nr` zeroed pages from address `start` on. 0; -ENOMEM: nothing is mapped then. */
int vmap_map(uintptr_t start, size_t nr);
/* Unmap `nr` pages and add them to the batch. */
void vmap_unmap(struct vmap_batch *batch, uintptr_t start, size_t nr);
/* Flush the TLBs and free the pages of the batch, which is empty then. */
void vmap_release(struct vmap_batch *batch);

/* stack.c. Decide from the memory there is how many spare stacks to keep. */
void stack_init(uint64_t nr_free_pages);
/* Give back all spare stacks. */
void stack_shrink(void);
/* Pages of all stacks, spare ones included. */
uint64_t stack_nr_pages(void);
/* vmap.c. Pages that vmalloc() has given out. */
uint64_t vmalloc_nr_pages(void);

#endif
