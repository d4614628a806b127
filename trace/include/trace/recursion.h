/*
 * A guard of callbacks against calling themselves, through a traced function that they call: each
 * kind of callback is entered at most once per CPU in each of the contexts thread, softirq, irq,
 * NMI. Preemption is off while the guard is held.
 *
 *   word of this CPU:  | probe 12 | internal 8-11 | list 4-7 | callback 0-3 |
 *
 * Each kind has one bit per context, but for handlers of probes at instructions: of these none runs
 * inside another, whatever the context.
 *
 * trace_plat_preempt_count() tells the context. A host has to update it before the first and after
 * the last function of an interrupt that can be traced; entry and exit code has no sites. Therefore
 * no bit is needed for the time in which the count is not yet right, as Linux has one.
 *
 * Context:   probe.
 * Locking:   none.
 * Ownership: the word belongs to the CPU.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_RECURSION_H
#define TRACE_RECURSION_H

#include <trace/platform.h>

TRACE_BEGIN_DECLS

/* Kinds: the number of the first bit of each. */
#define TRACE_RECURSION_CALLBACK 0 /* callbacks that guard themselves */
#define TRACE_RECURSION_LIST	 4 /* ftrace's list and assist functions */
#define TRACE_RECURSION_INTERNAL 8 /* events that are printed as they occur */

#define TRACE_RECURSION_PROBE 12 /* handlers of <trace/kprobe.h>; one bit */
#define TRACE_RECURSION_WATCH 16 /* handlers of <trace/wprobe.h> */

/* Bits of the preempt count of which at least one is set in any other context than a thread. */
#define TRACE_NOT_THREAD_MASK (TRACE_NMI_MASK | TRACE_HARDIRQ_MASK | TRACE_SOFTIRQ_SERVING)

/* The context by the preempt count: 0 thread, 1 softirq, 2 irq, 3 NMI. */
static TRACE_ALWAYS_INLINE uint32_t trace_recursion_context(uint32_t preempt_count)
{
	if (TRACE_LIKELY(!(preempt_count & TRACE_NOT_THREAD_MASK)))
		return 0;
	if (preempt_count & TRACE_NMI_MASK)
		return 3;
	return preempt_count & TRACE_HARDIRQ_MASK ? 2 : 1;
}

/*
 * Units of the preempt depth that come from ftrace's list and assist functions, 0 or 1. They
 * disable preemption around a callback, which subtracts this to record the depth of the traced
 * code.
 */
static TRACE_ALWAYS_INLINE uint32_t trace_recursion_list_depth(uint32_t context)
{
	return trace_plat_recursion_word() >> (TRACE_RECURSION_LIST + context) & 1;
}

/*
 * Take the guard of a kind. Returns the number of its bit, to be given to trace_recursion_exit();
 * preemption is off then. -1, with preemption as it was, when the guard is held in this context.
 */
static TRACE_ALWAYS_INLINE int trace_recursion_enter(uint32_t kind)
{
	uint32_t bit;

	trace_plat_preempt_disable();
	bit = kind + trace_recursion_context(trace_plat_preempt_count());
	if (TRACE_LIKELY(trace_plat_recursion_set(bit)))
		return (int)bit;
	trace_plat_preempt_enable();
	return -1;
}

static TRACE_ALWAYS_INLINE void trace_recursion_exit(int bit)
{
	trace_plat_recursion_clear((uint32_t)bit);
	trace_plat_preempt_enable();
}

/*
 * Is this a thread, and does it not hold the guard of `kind`? Preemption may be on: a guard that a
 * thread finds held is its own, because a thread that holds one is not preempted. A host whose two
 * words lie side by side can answer by one instruction and has a function of its own for it, with
 * the macro TRACE_PLAT_HAS_FREE_THREAD.
 */
#ifndef TRACE_PLAT_HAS_FREE_THREAD
static TRACE_ALWAYS_INLINE bool trace_plat_is_free_thread(uint32_t kind)
{
	return !(trace_plat_preempt_count() & TRACE_NOT_THREAD_MASK) &&
	       !(trace_plat_recursion_word() >> kind & 1);
}
#endif

/*
 * trace_recursion_enter() for that case: it has been asked, so this cannot fail. The number of the
 * bit is `kind`.
 */
static TRACE_ALWAYS_INLINE void trace_recursion_enter_thread(uint32_t kind)
{
	trace_plat_preempt_disable();
	(void)trace_plat_recursion_set(kind);
}

/* TRACE_RECURSION_CALLBACK by the names that callbacks written for Linux use. */
static TRACE_ALWAYS_INLINE int ftrace_test_recursion_trylock(uintptr_t ip, uintptr_t parent_ip)
{
	(void)ip;
	(void)parent_ip;
	return trace_recursion_enter(TRACE_RECURSION_CALLBACK);
}

static TRACE_ALWAYS_INLINE void ftrace_test_recursion_unlock(int bit)
{
	trace_recursion_exit(bit);
}

TRACE_END_DECLS

#endif
