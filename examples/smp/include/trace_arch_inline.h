/*
 * The answers to <trace/arch_host.h>. Text is written in place: the page tables of boot.asm let all
 * memory be written.
 */
#ifndef TRACE_ARCH_INLINE_HOST_H
#define TRACE_ARCH_INLINE_HOST_H

#include "cpu.h"

extern char text_start[], text_end[], exec_start[], exec_end[]; /* linker.ld */

static inline bool trace_arch_is_text(uintptr_t addr)
{
	return addr >= (uintptr_t)text_start && addr < (uintptr_t)text_end;
}

static inline void trace_arch_view_open(void)
{
}

static inline void trace_arch_view_close(void)
{
}

static inline struct trace_arch_view trace_arch_view_enter(void)
{
	return (struct trace_arch_view){ .irqs = trace_plat_irq_save() };
}

static inline void trace_arch_view_leave(struct trace_arch_view view)
{
	trace_plat_irq_restore(view.irqs);
}

static inline void *trace_arch_view_of(uintptr_t addr)
{
	return (void *)addr;
}

/* No CPU starts while code is changed: all have started before. */
static inline void trace_arch_cpus_hold(void)
{
}

static inline void trace_arch_cpus_release(void)
{
}

static inline void trace_arch_serialise(void)
{
	uint32_t eax = 0, ecx = 0;

	__asm__ volatile("cpuid" : "+a"(eax), "+c"(ecx) : : "ebx", "edx", "memory");
}

static inline void trace_arch_sync_cores(void)
{
	smp_sync();
	trace_arch_serialise();
}

static inline void trace_arch_relax(void)
{
	__asm__ volatile("pause");
}

static inline bool trace_arch_is_emulated(void)
{
	return true;
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
