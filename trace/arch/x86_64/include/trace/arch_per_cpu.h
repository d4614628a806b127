/*
 * Those inline functions of <trace/platform.h> that are about CPUs and threads, for a kernel whose
 * CPUs each find their own data behind GS or FS. The host has a struct trace_per_cpu of
 * <trace/per_cpu.h> in its own struct of a CPU; its <trace_plat_inline.h> includes
 * <trace/arch_inline.h> and this, and has a clock.
 *
 *   base of GS -> | the host's struct of this CPU ... | struct trace_per_cpu | ... |
 *                                                     '- TRACE_PER_CPU_OFFSET
 *
 * Macros of the host, before it includes this:
 *
 *   TRACE_PER_CPU_OFFSET a constant: offset of the struct from the base, offsetof(struct cpu,
 *   trace) TRACE_PER_CPU_SEGMENT "fs"; without it "gs" TRACE_PER_CPU_RESCHEDULE a function of the
 *   host without arguments: trace_plat_preempt_enable() calls it when the
 *                             count is 0 again and a switch of threads is wanted. It looks whether
 *                             interrupts are on. Without it the switch waits for the next interrupt
 *                             of the timer
 *   TRACE_PER_CPU_HAS_THREADS the host writes what asks for the running thread:
 *   trace_plat_current(),
 *                             trace_plat_current_pid(), trace_plat_stack_top()
 *
 * Calls of the host, with the count of preemption as on Linux:
 *
 *   start of a CPU trace_per_cpu_init(), and then the base, before the first traced function switch
 *   of threads trace_per_cpu_switch() exactly where the stack changes, interrupts off interrupt
 *   trace_irq_enter() first, trace_irq_exit() last; NMI: trace_nmi_enter(), trace_nmi_exit() timer
 *   between exit and the return: trace_may_switch() ? switch : trace_want_switch()
 *
 * A handler that switches threads itself does so outside of enter and exit: the count belongs to
 * the CPU, and the other thread may not be in an interrupt.
 *
 * Context: probe, where nothing else is said. Each function is one instruction of this CPU.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_ARCH_PER_CPU_H
#define TRACE_ARCH_PER_CPU_H

#include <stddef.h>
#include <trace/per_cpu.h>
#include <trace/platform.h>

TRACE_BEGIN_DECLS

#ifndef TRACE_PER_CPU_SEGMENT
#define TRACE_PER_CPU_SEGMENT "gs"
#endif

/* A field as operand `n` of inline assembly, and what that is. */
#define TRACE_PER_CPU_AT(n)	   "%%" TRACE_PER_CPU_SEGMENT ":%c" #n
#define TRACE_PER_CPU_FIELD(field) "i"(TRACE_PER_CPU_OFFSET + offsetof(struct trace_per_cpu, field))

#define TRACE_PER_CPU_GET(mov, field, out)                                                         \
	__asm__ volatile(mov " " TRACE_PER_CPU_AT(1) ", %0"                                        \
			 : "=r"(out)                                                               \
			 : TRACE_PER_CPU_FIELD(field))
#define TRACE_PER_CPU_SET(mov, field, in)                                                          \
	__asm__ volatile(mov " %0, " TRACE_PER_CPU_AT(1)                                           \
			 :                                                                         \
			 : "r"(in), TRACE_PER_CPU_FIELD(field)                                     \
			 : "memory")
#define TRACE_PER_CPU_CHANGE(insn, in)                                                             \
	__asm__ volatile(insn " %0, " TRACE_PER_CPU_AT(1)                                          \
			 :                                                                         \
			 : "i"(in), TRACE_PER_CPU_FIELD(preempt_word)                              \
			 : "memory", "cc")

static TRACE_ALWAYS_INLINE uint32_t trace_plat_cpu_id(void)
{
	uint32_t id;

	TRACE_PER_CPU_GET("movl", id, id);
	return id;
}

static TRACE_ALWAYS_INLINE uint32_t trace_plat_preempt_word(void)
{
	uint32_t word;

	TRACE_PER_CPU_GET("movl", preempt_word, word);
	return word;
}

static TRACE_ALWAYS_INLINE uint32_t trace_plat_preempt_count(void)
{
	return trace_plat_preempt_word() & ~TRACE_PER_CPU_NO_SWITCH;
}

static TRACE_ALWAYS_INLINE bool trace_plat_need_resched(void)
{
	return !(trace_plat_preempt_word() & TRACE_PER_CPU_NO_SWITCH);
}

static TRACE_ALWAYS_INLINE void trace_plat_preempt_disable(void)
{
	TRACE_PER_CPU_CHANGE("addl", 1);
}

#define TRACE_PLAT_HAS_PREEMPT_ENABLE_IRQS_OFF
static TRACE_ALWAYS_INLINE void trace_plat_preempt_enable_irqs_off(void)
{
	TRACE_PER_CPU_CHANGE("subl", 1);
}

#ifdef TRACE_PER_CPU_RESCHEDULE
static TRACE_ALWAYS_INLINE void trace_plat_preempt_enable(void)
{
	bool wanted; /* no count is left, nor the bit of those that want no switch */

	__asm__ volatile("subl $1, " TRACE_PER_CPU_AT(1)
			 : "=@ccz"(wanted)
			 : TRACE_PER_CPU_FIELD(preempt_word)
			 : "memory");
	if (TRACE_UNLIKELY(wanted))
		TRACE_PER_CPU_RESCHEDULE();
}
#else
static TRACE_ALWAYS_INLINE void trace_plat_preempt_enable(void)
{
	trace_plat_preempt_enable_irqs_off();
}
#endif

static TRACE_ALWAYS_INLINE uint32_t trace_plat_recursion_word(void)
{
	uint32_t word;

	TRACE_PER_CPU_GET("movl", recursion, word);
	return word;
}

static TRACE_ALWAYS_INLINE uint64_t trace_plat_context_word(void)
{
	uint64_t word;

	TRACE_PER_CPU_GET("movq", preempt_word, word);
	return word;
}

static TRACE_ALWAYS_INLINE bool trace_plat_recursion_set(uint32_t bit)
{
	bool was_set;

	__asm__ volatile("btsl %1, " TRACE_PER_CPU_AT(2)
			 : "=@ccc"(was_set)
			 : "Ir"(bit), TRACE_PER_CPU_FIELD(recursion)
			 : "memory");
	return !was_set;
}

static TRACE_ALWAYS_INLINE void trace_plat_recursion_clear(uint32_t bit)
{
	__asm__ volatile("btrl %0, " TRACE_PER_CPU_AT(1)
			 :
			 : "Ir"(bit), TRACE_PER_CPU_FIELD(recursion)
			 : "memory", "cc");
}

/* ---- Interrupts, and the switch of threads: called by the host ---- */

static TRACE_ALWAYS_INLINE void trace_irq_enter(void)
{
	TRACE_PER_CPU_CHANGE("addl", TRACE_PER_CPU_IRQ);
}

static TRACE_ALWAYS_INLINE void trace_irq_exit(void)
{
	TRACE_PER_CPU_CHANGE("subl", TRACE_PER_CPU_IRQ);
}

static TRACE_ALWAYS_INLINE void trace_nmi_enter(void)
{
	TRACE_PER_CPU_CHANGE("addl", TRACE_PER_CPU_NMI);
}

static TRACE_ALWAYS_INLINE void trace_nmi_exit(void)
{
	TRACE_PER_CPU_CHANGE("subl", TRACE_PER_CPU_NMI);
}

/*
 * May an interrupt, behind its trace_irq_exit(), switch threads: has the code below no need to stay
 * on this CPU?
 */
static TRACE_ALWAYS_INLINE bool trace_may_switch(void)
{
	return trace_plat_preempt_count() == 0;
}

/*
 * A switch is wanted, as soon as the code below allows it. Events show it as the flag N. Interrupts
 * off.
 */
static TRACE_ALWAYS_INLINE void trace_want_switch(void)
{
	TRACE_PER_CPU_CHANGE("andl", ~TRACE_PER_CPU_NO_SWITCH);
}

static TRACE_ALWAYS_INLINE void trace_per_cpu_switch(struct trace_thread *thread, int32_t pid,
						     uintptr_t stack_end)
{
	TRACE_PER_CPU_SET("movq", thread, thread);
	TRACE_PER_CPU_SET("movl", pid, pid);
	TRACE_PER_CPU_SET("movq", stack_end, stack_end);
	TRACE_PER_CPU_CHANGE("orl", TRACE_PER_CPU_NO_SWITCH);
}

#ifndef TRACE_PER_CPU_HAS_THREADS

static TRACE_ALWAYS_INLINE struct trace_thread *trace_plat_current(void)
{
	struct trace_thread *thread;

	TRACE_PER_CPU_GET("movq", thread, thread);
	return thread;
}

static TRACE_ALWAYS_INLINE int32_t trace_plat_current_pid(void)
{
	int32_t pid;

	TRACE_PER_CPU_GET("movl", pid, pid);
	return pid;
}

static TRACE_ALWAYS_INLINE uintptr_t trace_plat_stack_top(void)
{
	uintptr_t end;

	TRACE_PER_CPU_GET("movq", stack_end, end);
	return end;
}

#endif

TRACE_END_DECLS

#endif
