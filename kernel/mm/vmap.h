/*
 * Mapping and unmapping of pages in the vmap area, and what mm.c asks of its two users.
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

/* Zeroed pages at [start, start + nr pages). -ENOMEM with nothing mapped. */
int vmap_map(uintptr_t start, size_t nr);
void vmap_unmap(struct vmap_batch *batch, uintptr_t start, size_t nr);
void vmap_release(struct vmap_batch *batch);

/* stack.c: the number of spare stacks to keep depends on the memory there is; give them back. */
void stack_init(uint64_t nr_free_pages);
void stack_shrink(void);
uint64_t stack_nr_pages(void);
/* vmap.c */
uint64_t vmalloc_nr_pages(void);

#endif
