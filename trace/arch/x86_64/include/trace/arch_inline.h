/*
 * The part of the inline half of <trace/platform.h> that is the same in every x86-64 kernel: the
 * contracts are there. The host's <trace_plat_inline.h> includes this and adds what depends on its
 * CPUs and threads.
 *
 * Interrupts are masked with cli. A host that masks them in another way includes
 * <trace/arch_user.h> instead, and writes these three itself.
 *
 * Context: probe. Registers and this CPU's memory: nothing can fault, block or be traced.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_ARCH_INLINE_H
#define TRACE_ARCH_INLINE_H

#include <trace/arch_user.h>

TRACE_BEGIN_DECLS

#define TRACE_ARCH_RFLAGS_IF (1u << 9)

static TRACE_ALWAYS_INLINE bool trace_plat_irqs_disabled(void)
{
	uint64_t flags;

	__asm__ volatile("pushfq\n\tpopq %0" : "=r"(flags));
	return !((uint32_t)flags & TRACE_ARCH_RFLAGS_IF);
}

static TRACE_ALWAYS_INLINE uint64_t trace_plat_irq_save(void)
{
	uint64_t flags;

	__asm__ volatile("pushfq\n\tpopq %0\n\tcli" : "=r"(flags) : : "memory");
	return flags;
}

static TRACE_ALWAYS_INLINE void trace_plat_irq_restore(uint64_t flags)
{
	if (flags & TRACE_ARCH_RFLAGS_IF)
		__asm__ volatile("sti" : : : "memory");
}

TRACE_END_DECLS

#endif
