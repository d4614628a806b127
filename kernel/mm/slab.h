/*
 * What mm.c asks of slab.c beyond <kernel/mm.h>.
 *
 * Context: thread.
 */
#ifndef KERNEL_SLAB_H
#define KERNEL_SLAB_H

#include <kernel/base.h>

void slab_init(void);
/* Give empty slabs back. */
void slab_shrink(void);
void slab_get_counts(uint64_t *out_pages, uint64_t *out_objects);

#endif
