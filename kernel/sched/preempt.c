/*
 * Preemption: at the end of a preempt-off section and at the end of an interrupt.
 *
 * At the end of an interrupt the preempt count says "thread" again, and that thread may be inside
 * of an ftrace callback. If a function that runs now had a call site, its call would be taken for a
 * recursion of that callback, and not be traced. So the functions here have no call sites, until
 * the count says "softirq", or preemption is known to be on, when no callback runs.
 */
#include <arch/cpu.h>
#include <kernel/preempt.h>
#include <kernel/upcall.h>
#include "sched.h"
#include "softirq_priv.h"

/*
 * The preempt depth is above 0 during the switch. A preempt-off section that begins and ends in
 * there, for instance a tracer's, is then not the outermost and does not call this function again.
 */
TRACE_NOTRACE void preempt_schedule_notrace(void)
{
	if (arch_irqs_disabled())
		return;
	do {
		preempt_disable();
		sched_switch(true);
		preempt_enable_no_resched();
	} while (need_resched());
}

/* Switch to another thread inside the interrupt: its frame stays on the thread's own stack. */
static void preempt_schedule_irq(void)
{
	do {
		preempt_disable();
		arch_irq_enable();
		sched_switch(true);
		arch_irq_disable();
		preempt_enable_no_resched();
	} while (need_resched());
}

TRACE_NOTRACE void upcall_irq_exit(void)
{
	if (!in_interrupt() && softirq_is_pending())
		softirq_run();
	if (preempt_count() == 0 && need_resched())
		preempt_schedule_irq();
}
