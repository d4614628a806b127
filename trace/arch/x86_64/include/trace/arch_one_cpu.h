/*
 * The answers to <trace/arch_host.h> that are the same for every host with one CPU: its
 * <trace_arch_inline.h> includes this, and says itself where text and memory for code are.
 *
 * Text is written where it lies, also where the page tables say that it is read-only: for as long
 * as that takes, the CPU does not look at that bit (WP of CR0).
 *
 * Context: as there.
 */
#ifndef TRACE_ARCH_ONE_CPU_H
#define TRACE_ARCH_ONE_CPU_H

#include <trace/arch_host.h>

TRACE_BEGIN_DECLS

#define TRACE_ARCH_CR0_WP (1ull << 16)

static inline void trace_arch_view_open(void)
{
}

static inline void trace_arch_view_close(void)
{
}

static inline struct trace_arch_view trace_arch_view_enter(void)
{
	struct trace_arch_view view;

	view.irqs = trace_plat_irq_save();
	__asm__ volatile("mov %%cr0, %0" : "=r"(view.space));
	__asm__ volatile("mov %0, %%cr0" : : "r"(view.space & ~TRACE_ARCH_CR0_WP) : "memory");
	return view;
}

static inline void trace_arch_view_leave(struct trace_arch_view view)
{
	__asm__ volatile("mov %0, %%cr0" : : "r"(view.space) : "memory");
	trace_plat_irq_restore(view.irqs);
}

static inline void *trace_arch_view_of(uintptr_t addr)
{
	return (void *)addr;
}

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
	trace_arch_serialise();
}

static inline void trace_arch_relax(void)
{
	__asm__ volatile("pause");
}

/* What QEMU does differently takes two CPUs. */
static inline bool trace_arch_is_emulated(void)
{
	return false;
}

TRACE_END_DECLS

#endif
