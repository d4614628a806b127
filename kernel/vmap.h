/*
 * What mm.c asks of vmap.c beyond <kernel/mm.h>.
 *
 * Context: thread.
 */
#ifndef KERNEL_VMAP_H
#define KERNEL_VMAP_H

#include <kernel/base.h>

/* Give spare stacks back. */
void stack_shrink(void);
uint64_t vmalloc_nr_pages(void);
uint64_t stack_nr_pages(void);

#endif
