/*
 * The inline half of <trace/platform.h>. For x86-64 it is the library's. The rest are fields of the
 * running CPU's struct, each of which is changed by a single instruction.
 */
#ifndef TRACE_PLAT_INLINE_H
#define TRACE_PLAT_INLINE_H

#include <trace/arch_inline.h>
#include "cpu.h"

extern uint64_t ns_per_cycle; /* times 2^32 */

static TRACE_ALWAYS_INLINE uint64_t trace_plat_clock_ns(void)
{
	return (uint64_t)((unsigned __int128)trace_plat_cycles() * ns_per_cycle >> 32);
}

static TRACE_ALWAYS_INLINE uint32_t trace_plat_cpu_id(void)
{
	return THIS_CPU(id);
}

static TRACE_ALWAYS_INLINE void trace_plat_preempt_disable(void)
{
	__asm__ volatile("incl %%gs:%c0"
			 :
			 : "i"(offsetof(struct smp_cpu, preempt_count))
			 : "memory");
}

static TRACE_ALWAYS_INLINE void trace_plat_preempt_enable(void)
{
	__asm__ volatile("decl %%gs:%c0"
			 :
			 : "i"(offsetof(struct smp_cpu, preempt_count))
			 : "memory");
}

static TRACE_ALWAYS_INLINE uint32_t trace_plat_preempt_count(void)
{
	return THIS_CPU(preempt_count);
}

static TRACE_ALWAYS_INLINE bool trace_plat_need_resched(void)
{
	return false;
}

static TRACE_ALWAYS_INLINE uint32_t trace_plat_recursion_word(void)
{
	return THIS_CPU(recursion);
}

static TRACE_ALWAYS_INLINE bool trace_plat_recursion_set(uint32_t bit)
{
	bool was_set;

	__asm__ volatile("btsl %1, %%gs:%c2"
			 : "=@ccc"(was_set)
			 : "Ir"(bit), "i"(offsetof(struct smp_cpu, recursion))
			 : "memory");
	return !was_set;
}

static TRACE_ALWAYS_INLINE void trace_plat_recursion_clear(uint32_t bit)
{
	__asm__ volatile("btrl %0, %%gs:%c1"
			 :
			 : "Ir"(bit), "i"(offsetof(struct smp_cpu, recursion))
			 : "memory");
}

static TRACE_ALWAYS_INLINE int32_t trace_plat_current_pid(void)
{
	return (int32_t)THIS_CPU(id);
}

static TRACE_ALWAYS_INLINE struct trace_thread *trace_plat_current(void)
{
	return &THIS_CPU(self)->thread;
}

#endif
