/*
 * Which addresses belong to an ftrace trampoline: code whose frame is pushed before the traced
 * function made its own, so that two return addresses lie above it.
 */
#ifndef TRAMPOLINE_RANGE_H
#define TRAMPOLINE_RANGE_H

#include <stdbool.h>
#include <stdint.h>
#include <arch/paging.h>

extern const char trampoline_shared[], trampoline_shared_end[];

static inline bool trampoline_contains(uintptr_t addr)
{
	return arch_exec_contains(addr) ||
	       (addr >= (uintptr_t)trampoline_shared && addr < (uintptr_t)trampoline_shared_end);
}

#endif
