/*
 * The inline functions that the library's x86-64 half asks of this kernel. Their contracts are in
 * <trace/arch_host.h>; the functions that are not inline are in kernel/trace_host.c. Text is
 * written through the alias of <arch/paging.h>.
 *
 * Context: as <trace/arch_host.h> says; nothing has a call site.
 */
#ifndef TRACE_ARCH_INLINE_HOST_H
#define TRACE_ARCH_INLINE_HOST_H

#include <arch/cpu.h>
#include <arch/paging.h>
#include <arch/sections.h>

static TRACE_ALWAYS_INLINE bool trace_arch_is_text(uintptr_t addr)
{
	return arch_is_text(addr);
}

static TRACE_ALWAYS_INLINE void trace_arch_view_open(void)
{
	arch_alias_open();
}

static TRACE_ALWAYS_INLINE void trace_arch_view_close(void)
{
	arch_alias_close();
}

static TRACE_ALWAYS_INLINE struct trace_arch_view trace_arch_view_enter(void)
{
	uint64_t irqs = arch_irq_save();

	return (struct trace_arch_view){ .irqs = irqs, .space = arch_alias_enter() };
}

static TRACE_ALWAYS_INLINE void trace_arch_view_leave(struct trace_arch_view view)
{
	arch_alias_leave(view.space);
	arch_irq_restore(view.irqs);
}

static TRACE_ALWAYS_INLINE void *trace_arch_view_of(uintptr_t addr)
{
	return arch_alias_of(addr);
}

static TRACE_ALWAYS_INLINE void trace_arch_serialise(void)
{
	arch_sync_core();
}

static TRACE_ALWAYS_INLINE void trace_arch_relax(void)
{
	arch_cpu_relax();
}

static TRACE_ALWAYS_INLINE uintptr_t trace_arch_exec_start(void)
{
	return EXEC_BASE;
}

static TRACE_ALWAYS_INLINE size_t trace_arch_exec_bytes(void)
{
	return EXEC_BYTES;
}

#endif
