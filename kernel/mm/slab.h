/*
 * Functions of slab.c that mm.c calls, beyond <kernel/mm.h>.
 *
 * Context: thread.
 */
#ifndef KERNEL_SLAB_H
#define KERNEL_SLAB_H

#include <kernel/base.h>

void slab_init(void);
/* Give the empty slabs of all caches back to page.c. */
void slab_shrink(void);
/* Pages of all slabs, and live objects in them. */
void slab_get_counts(uint64_t *out_pages, uint64_t *out_objects);

#endif
