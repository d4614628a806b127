/*
 * Memory for code that is made at run time, in units. The host provides it: <trace/arch_host.h>.
 *
 * Context:   alloc, free: thread. The others: any, not traced.
 * Locking:   alloc, free: the text lock.
 * Ownership: allocated memory belongs to the caller until it is freed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_ARCH_EXEC_H
#define TRACE_ARCH_EXEC_H

#include <trace/arch_host.h>

TRACE_BEGIN_DECLS

/*
 * Allocate `bytes` bytes for code, aligned to TRACE_EXEC_UNIT. Returns the address, or 0 when there
 * is no room. The memory is not initialised; it is written with trace_text_write().
 */
uintptr_t trace_exec_alloc(size_t bytes);
void trace_exec_free(uintptr_t addr, size_t bytes);
/* The number of allocated bytes; for tests that look for leaks. */
size_t trace_exec_used(void);

/* Is the address in this memory, allocated or not? */
static TRACE_ALWAYS_INLINE bool trace_exec_contains(uintptr_t addr)
{
	return addr - trace_arch_exec_start() < trace_arch_exec_bytes();
}
/* The number of units of the memory. */
static TRACE_ALWAYS_INLINE size_t trace_exec_units(void)
{
	size_t bytes = trace_arch_exec_bytes();

	return (bytes < TRACE_EXEC_MAX ? bytes : TRACE_EXEC_MAX) / TRACE_EXEC_UNIT;
}

TRACE_END_DECLS

#endif
