/*
 * Memory for the library out of regions that the host hands over, for a host that has no allocator,
 * or none that this can use yet. The defaults of trace_plat_alloc() and trace_plat_free() take from
 * it.
 *
 *   region   | in use | hole | in use | in use | hole ............. |
 *                        '-----------------------'  ascending; a hole begins with its size and the
 *                                                   next one
 *
 * Memory is taken from the first hole that is large enough. Freed memory joins the holes beside it.
 * The caller passes the size of freed memory, so blocks need no header.
 *
 * Context:   thread.
 * Locking:   a lock of its own, by trace_plat_lock().
 * Ownership: a region belongs to the library for good.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_HEAP_H
#define TRACE_HEAP_H

#include <stddef.h>
#include <trace/compiler.h>

TRACE_BEGIN_DECLS

/*
 * Hand over `bytes` bytes of memory that can be read and written: at the start, or later if more is
 * needed.
 */
void trace_heap_give(void *memory, size_t bytes);
/* As trace_plat_alloc() and trace_plat_free(), for a host that wraps them. */
void *trace_heap_alloc(size_t bytes);
void trace_heap_free(void *memory, size_t bytes);
/* The number of bytes not in use: for tests that look for leaks. */
size_t trace_heap_left(void);

TRACE_END_DECLS

#endif
