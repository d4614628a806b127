/*
 * Addresses of ftrace trampolines: code whose frame is pushed before the traced function made its
 * own, so that two return addresses lie above it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_ARCH_CODE_H
#define TRACE_ARCH_CODE_H

#include <stdbool.h>
#include <stdint.h>
#include <trace/arch_exec.h>

TRACE_BEGIN_DECLS

extern const char ftrace_caller[], ftrace_caller_end[];
extern const char ftrace_regs_caller[], ftrace_regs_caller_direct[], ftrace_regs_caller_end[];

static inline bool trampoline_contains(uintptr_t addr)
{
	return trace_exec_contains(addr) ||
	       (addr >= (uintptr_t)ftrace_caller && addr < (uintptr_t)ftrace_caller_end) ||
	       (addr >= (uintptr_t)ftrace_regs_caller && addr < (uintptr_t)ftrace_regs_caller_end);
}

TRACE_END_DECLS

#endif
