/*
 * Accesses that may fault, and say so instead.
 *
 * Context: any, NMI included. Not traced.
 */
#ifndef ARCH_NOFAULT_H
#define ARCH_NOFAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copy kernel memory; false, `to` partly written, when some of it is not mapped. */
bool arch_read_nofault(void *to, const void *from, size_t bytes);
/* Write to kernel memory; false, perhaps partly done, when some of it cannot be written. */
bool arch_write_nofault(void *to, const void *from, size_t bytes);

#endif
