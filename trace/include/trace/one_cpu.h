/*
 * Inline functions of <trace/platform.h> that are the same for every host with one CPU and no
 * threads. The <trace_plat_inline.h> of such a host includes this instead of defining them.
 *
 * A host with threads defines TRACE_ONE_CPU_HAS_THREADS before, and writes the functions about the
 * running thread itself: trace_plat_current_pid(), trace_plat_current(), trace_plat_stack_top().
 *
 * The host's interrupt entry has to add TRACE_ONE_CPU_IRQ (or TRACE_ONE_CPU_NMI) to
 * trace_one_cpu.preempt_count before the first traced function, and subtract it after the last one.
 *
 * Context: probe.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_ONE_CPU_H
#define TRACE_ONE_CPU_H

#include <trace/defaults.h>
#include <trace/platform.h>

TRACE_BEGIN_DECLS

#define TRACE_ONE_CPU_IRQ 0x00010000u
#define TRACE_ONE_CPU_NMI 0x00100000u

static TRACE_ALWAYS_INLINE uint32_t trace_plat_cpu_id(void)
{
	return 0;
}

/* The barriers keep the compiler from moving accesses out of the section in between. */
static TRACE_ALWAYS_INLINE void trace_plat_preempt_disable(void)
{
	(*(volatile uint32_t *)&trace_one_cpu.preempt_count)++;
	__asm__ volatile("" : : : "memory");
}

static TRACE_ALWAYS_INLINE void trace_plat_preempt_enable(void)
{
	__asm__ volatile("" : : : "memory");
	(*(volatile uint32_t *)&trace_one_cpu.preempt_count)--;
}

static TRACE_ALWAYS_INLINE uint32_t trace_plat_preempt_count(void)
{
	return *(volatile uint32_t *)&trace_one_cpu.preempt_count;
}

static TRACE_ALWAYS_INLINE bool trace_plat_need_resched(void)
{
	return false;
}

static TRACE_ALWAYS_INLINE uint32_t trace_plat_preempt_word(void)
{
	return trace_plat_preempt_count() | 0x80000000u;
}

static TRACE_ALWAYS_INLINE uint32_t trace_plat_recursion_word(void)
{
	return *(volatile uint32_t *)&trace_one_cpu.recursion;
}

static TRACE_ALWAYS_INLINE uint64_t trace_plat_context_word(void)
{
	return (uint64_t)trace_plat_recursion_word() << 32 | trace_plat_preempt_word();
}

static TRACE_ALWAYS_INLINE bool trace_plat_recursion_set(uint32_t bit)
{
	uint32_t word = trace_plat_recursion_word();

	*(volatile uint32_t *)&trace_one_cpu.recursion = word | 1u << bit;
	__asm__ volatile("" : : : "memory");
	return !(word >> bit & 1);
}

static TRACE_ALWAYS_INLINE void trace_plat_recursion_clear(uint32_t bit)
{
	__asm__ volatile("" : : : "memory");
	*(volatile uint32_t *)&trace_one_cpu.recursion = trace_plat_recursion_word() & ~(1u << bit);
}

#ifndef TRACE_ONE_CPU_HAS_THREADS

static TRACE_ALWAYS_INLINE int32_t trace_plat_current_pid(void)
{
	return 0;
}

static TRACE_ALWAYS_INLINE struct trace_thread *trace_plat_current(void)
{
	return &trace_one_cpu.thread;
}

static TRACE_ALWAYS_INLINE uintptr_t trace_plat_stack_top(void)
{
	return trace_one_cpu.stack_top;
}

#endif

TRACE_END_DECLS

#endif
