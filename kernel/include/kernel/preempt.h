/*
 * Preemption and execution context, kept in cpu_local.preempt_count (layout: <trace/platform.h>).
 *
 *   bit 31 "no reschedule wanted" | 20-23 NMI | 16-19 hardirq | 8-15 softirq | 0-7 preempt depth
 *
 * The word is 0 only in a thread with preemption on and a reschedule wanted. So preempt_enable()
 * decrements it, and the processor's zero flag tells whether to reschedule.
 *
 * Context: any. None of this is traced.
 */
#ifndef KERNEL_PREEMPT_H
#define KERNEL_PREEMPT_H

#include <arch/cpu_local.h>
#include <arch/tracepoints.h>
#include <kernel/base.h>

#define PREEMPT_DEPTH_MASK   0x000000ffu
#define PREEMPT_SOFTIRQ_MASK 0x0000ff00u
#define PREEMPT_SOFTIRQ_ONE  0x00000100u /* serving a softirq */
#define PREEMPT_HARDIRQ_MASK 0x000f0000u
#define PREEMPT_NMI_MASK     0x00f00000u
/* All but bit 31: 0 in plain thread context with preemption on. */
#define PREEMPT_CONTEXT_MASK 0x7fffffffu

/*
 * Reschedule now if interrupts are on: the slow half of the outermost preempt_enable(), also for
 * trace_plat_preempt_enable(). Not traced. A plain C function, which may change the registers that
 * any call may change.
 */
void preempt_schedule_notrace(void);

static TRACE_ALWAYS_INLINE uint32_t preempt_count(void)
{
	return cpu_local_read(preempt_count) & PREEMPT_CONTEXT_MASK;
}

static TRACE_ALWAYS_INLINE bool need_resched(void)
{
	return !(cpu_local_read(preempt_count) & PREEMPT_NO_RESCHED);
}

static TRACE_ALWAYS_INLINE bool in_nmi(void)
{
	return preempt_count() & PREEMPT_NMI_MASK;
}

static TRACE_ALWAYS_INLINE bool in_irq(void)
{
	return preempt_count() & PREEMPT_HARDIRQ_MASK;
}

/* In a hardirq, a softirq or an NMI? */
static TRACE_ALWAYS_INLINE bool in_interrupt(void)
{
	return preempt_count() & (PREEMPT_NMI_MASK | PREEMPT_HARDIRQ_MASK | PREEMPT_SOFTIRQ_MASK);
}

static TRACE_ALWAYS_INLINE void preempt_count_add(uint32_t delta)
{
	__asm__ volatile("addl %1, %%gs:%c0"
			 :
			 : "i"(offsetof(struct cpu_local, preempt_count)), "ri"(delta)
			 : "memory", "cc");
}

static TRACE_ALWAYS_INLINE void preempt_count_sub(uint32_t delta)
{
	preempt_count_add(-delta);
}

/*
 * Call the tracepoints preempt_disable and preempt_enable of <trace/host_tracepoints.h>, if the
 * section that has begun, or is about to end, is the outermost one. `delta` is the number added to
 * the count, or about to be taken away. `parent` as below.
 */
static TRACE_ALWAYS_INLINE void preempt_tell_off(uint32_t delta, uintptr_t parent)
{
	if (TRACEPOINT_WANTED(preempt_disable) && preempt_count() == delta)
		TRACEPOINT_CALL(preempt_disable, parent);
}

static TRACE_ALWAYS_INLINE void preempt_tell_on(uint32_t delta, uintptr_t parent)
{
	if (TRACEPOINT_WANTED(preempt_enable) && preempt_count() == delta)
		TRACEPOINT_CALL(preempt_enable, parent);
}

/*
 * The _from forms are for locks: `parent`, an address in the user of the lock, is passed on to the
 * tracepoints. It is 0 elsewhere.
 */
static TRACE_ALWAYS_INLINE void preempt_disable_from(uintptr_t parent)
{
	preempt_count_add(1);
	preempt_tell_off(1, parent);
}

static TRACE_ALWAYS_INLINE void preempt_disable(void)
{
	preempt_disable_from(0);
}

/* End a preempt-off section without looking whether a reschedule is wanted. */
static TRACE_ALWAYS_INLINE void preempt_enable_no_resched(void)
{
	preempt_tell_on(1, 0);
	preempt_count_sub(1);
}

static TRACE_ALWAYS_INLINE void preempt_enable_from(uintptr_t parent)
{
	bool zero;

	preempt_tell_on(1, parent);
	__asm__ volatile("decl %%gs:%c1"
			 : "=@ccz"(zero)
			 : "i"(offsetof(struct cpu_local, preempt_count))
			 : "memory");
	if (TRACE_UNLIKELY(zero))
		preempt_schedule_notrace();
}

static TRACE_ALWAYS_INLINE void preempt_enable(void)
{
	preempt_enable_from(0);
}

/* Ask for a reschedule of this CPU as soon as preemption is on. */
static TRACE_ALWAYS_INLINE void set_need_resched(void)
{
	__asm__ volatile("andl %1, %%gs:%c0"
			 :
			 : "i"(offsetof(struct cpu_local, preempt_count)), "i"(~PREEMPT_NO_RESCHED)
			 : "memory", "cc");
}

/* Take the request back. */
static TRACE_ALWAYS_INLINE void clear_need_resched(void)
{
	__asm__ volatile("orl %1, %%gs:%c0"
			 :
			 : "i"(offsetof(struct cpu_local, preempt_count)), "i"(PREEMPT_NO_RESCHED)
			 : "memory", "cc");
}

#endif
