/*
 * Bytes that differ each time. They are no secret: the processor's counter is all that they come from.
 *
 * Context: any. Locking: none.
 */
#ifndef KERNEL_RANDOM_H
#define KERNEL_RANDOM_H

#include <stddef.h>
#include <stdint.h>

uint64_t random_u64(void);
void random_bytes(void *to, size_t bytes);

#endif
