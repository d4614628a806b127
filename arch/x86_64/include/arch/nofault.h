/*
 * Reading from addresses that may be bad: the answer is false where a plain read would fault. One
 * word at a time: <trace/arch_read.h>.
 *
 * Context: any, NMI included. Not traced.
 */
#ifndef ARCH_NOFAULT_H
#define ARCH_NOFAULT_H

#include <stdbool.h>
#include <stddef.h>

/* Copy from kernel memory. False, with `to` partly written, when some of it cannot be read. */
bool arch_read_nofault(void *to, const void *from, size_t bytes);

#endif
