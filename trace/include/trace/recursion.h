/*
 * Guard of callbacks against themselves: each kind of callback is entered at most once per CPU in
 * each of the contexts thread, softirq, irq, NMI. Holding the guard keeps preemption off.
 *
 *   word of this CPU:  | .. | internal 8-11 | list 4-7 | callback 0-3 |    one bit per context
 *
 * The host's count says which context runs from the first instruction on that can be traced to the
 * last: entry and exit code of interrupts has no sites, so no bit for "in transition" is needed.
 *
 * Context:   probe.
 * Locking:   none.
 * Ownership: the word belongs to the CPU.
 */
#ifndef TRACE_RECURSION_H
#define TRACE_RECURSION_H

#include <trace/platform.h>

TRACE_BEGIN_DECLS

#define TRACE_RECURSION_CALLBACK 0 /* callbacks that guard themselves */
#define TRACE_RECURSION_LIST	 4 /* ftrace's list and assist functions */
#define TRACE_RECURSION_INTERNAL 8 /* trace_printk and events */

/* In preempt_count, when it is not a thread that runs. */
#define TRACE_NOT_THREAD_MASK (TRACE_NMI_MASK | TRACE_HARDIRQ_MASK | TRACE_SOFTIRQ_SERVING)

/* 0 thread, 1 softirq, 2 irq, 3 NMI. */
static TRACE_ALWAYS_INLINE uint32_t trace_recursion_context(uint32_t preempt_count)
{
	if (TRACE_LIKELY(!(preempt_count & TRACE_NOT_THREAD_MASK)))
		return 0;
	if (preempt_count & TRACE_NMI_MASK)
		return 3;
	return preempt_count & TRACE_HARDIRQ_MASK ? 2 : 1;
}

/*
 * How much of the preempt depth is of the functions of TRACE_RECURSION_LIST, 0 or 1: what they call
 * does not know that they did.
 */
static TRACE_ALWAYS_INLINE uint32_t trace_recursion_list_depth(uint32_t context)
{
	return trace_plat_recursion_word() >> (TRACE_RECURSION_LIST + context) & 1;
}

/* Returns the bit that is now held, preemption off, or -1: already inside. */
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

/* The names that callbacks written for Linux use. */
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
