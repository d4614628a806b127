/*
 * The inline half of <trace/platform.h>. What user mode can do anywhere is the library's. The rest
 * are fields of the running CPU's struct; each is changed by a single instruction, so a signal
 * handler never finds one half changed. Only the last two functions make system calls: they block
 * signals, where a kernel turns interrupts off. Writing an event does not need them.
 */
#ifndef TRACE_PLAT_INLINE_H
#define TRACE_PLAT_INLINE_H

#include <trace/arch_read.h>
#include <trace/arch_user.h>
#include "cpu.h"
#include "process_clock.h"

static TRACE_ALWAYS_INLINE uint32_t trace_plat_cpu_id(void)
{
	return THIS_CONST(id);
}

static TRACE_ALWAYS_INLINE int32_t trace_plat_current_pid(void)
{
	return THIS_CONST(pid);
}

static TRACE_ALWAYS_INLINE struct trace_thread *trace_plat_current(void)
{
	return &THIS_CONST(self)->thread;
}

static TRACE_ALWAYS_INLINE uintptr_t trace_plat_stack_top(void)
{
	return THIS_CONST(stack_top);
}

/* Linux may take the thread off its processor, but no other thread becomes this CPU meanwhile. */
static TRACE_ALWAYS_INLINE void trace_plat_preempt_disable(void)
{
	__asm__ volatile("incl %%gs:%c0"
			 :
			 : "i"(offsetof(struct process_cpu, preempt_count))
			 : "memory", "cc");
}

static TRACE_ALWAYS_INLINE void trace_plat_preempt_enable(void)
{
	__asm__ volatile("decl %%gs:%c0"
			 :
			 : "i"(offsetof(struct process_cpu, preempt_count))
			 : "memory", "cc");
}

static TRACE_ALWAYS_INLINE uint32_t trace_plat_preempt_word(void)
{
	return THIS_CONST(preempt_count);
}

static TRACE_ALWAYS_INLINE uint32_t trace_plat_preempt_count(void)
{
	return trace_plat_preempt_word() & ~PROCESS_NO_RESCHED;
}

static TRACE_ALWAYS_INLINE bool trace_plat_need_resched(void)
{
	return false;
}

static TRACE_ALWAYS_INLINE uint32_t trace_plat_recursion_word(void)
{
	return THIS_CONST(recursion);
}

static TRACE_ALWAYS_INLINE uint64_t trace_plat_context_word(void)
{
	uint64_t word;

	__asm__ volatile("movq %%gs:%c1, %0"
			 : "=r"(word)
			 : "i"(offsetof(struct process_cpu, preempt_count)));
	return word;
}

static TRACE_ALWAYS_INLINE bool trace_plat_recursion_set(uint32_t bit)
{
	bool was_set;

	__asm__ volatile("btsl %1, %%gs:%c2"
			 : "=@ccc"(was_set)
			 : "Ir"(bit), "i"(offsetof(struct process_cpu, recursion))
			 : "memory");
	return !was_set;
}

static TRACE_ALWAYS_INLINE void trace_plat_recursion_clear(uint32_t bit)
{
	__asm__ volatile("btrl %0, %%gs:%c1"
			 :
			 : "Ir"(bit), "i"(offsetof(struct process_cpu, recursion))
			 : "memory", "cc");
}

#define TRACE_PLAT_HAS_READ_WORD
static TRACE_ALWAYS_INLINE bool trace_plat_read_word(uint64_t *to, const void *from)
{
	return trace_arch_read_word(to, from);
}

/* Only Linux knows whether signals are blocked. Events do not say it. */
static TRACE_ALWAYS_INLINE bool trace_plat_irqs_disabled(void)
{
	return false;
}

static TRACE_ALWAYS_INLINE uint64_t trace_plat_irq_save(void)
{
	return process_signals_block();
}

static TRACE_ALWAYS_INLINE void trace_plat_irq_restore(uint64_t flags)
{
	process_signals_restore(flags);
}

#endif
