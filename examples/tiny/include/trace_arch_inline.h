/*
 * This kernel's part of <trace/arch_host.h>: where text is, and room for trampolines (linker.ld).
 */
#ifndef TRACE_ARCH_INLINE_HOST_H
#define TRACE_ARCH_INLINE_HOST_H

#include <trace/arch_one_cpu.h>

extern char text_start[], text_end[], exec_start[], exec_end[];

static inline bool trace_arch_is_text(uintptr_t addr)
{
	return addr >= (uintptr_t)text_start && addr < (uintptr_t)text_end;
}

static inline uintptr_t trace_arch_exec_start(void)
{
	return (uintptr_t)exec_start;
}

static inline size_t trace_arch_exec_bytes(void)
{
	return (size_t)(exec_end - exec_start);
}

#endif
