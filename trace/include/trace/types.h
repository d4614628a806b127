/*
 * Types of the host's functions, for shells and tools.
 *
 * Context: any, NMI included; before trace_init() no types are known.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_TYPES_H
#define TRACE_TYPES_H

#include <stddef.h>
#include <trace/compiler.h>

TRACE_BEGIN_DECLS

/*
 * Write the declaration of function `name`, such as `void *kmalloc(size_t bytes)`, and a NUL into
 * the `size` bytes at `buf`, cut if it is longer. Returns its length there; -ENOENT, and writes
 * nothing, if its type is not known.
 */
int trace_function_prototype(const char *name, char *buf, size_t size);
/*
 * The name of argument number `nr` of the function, from 0, "" if it has none; NULL: there are
 * fewer, or they are not known. It is there for good.
 */
const char *trace_function_argument(const char *name, unsigned int nr);

TRACE_END_DECLS

#endif
