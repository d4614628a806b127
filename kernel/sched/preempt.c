/*
 * Where preemption happens: the end of a preempt-off section and the end of an interrupt.
 *
 * At an interrupt's end the preempt count says "thread" again, and that thread may be inside of a
 * callback: a call from here to there would look like its recursion, and be lost. So what runs
 * then has no sites, up to where softirqs are counted, or preemption is known to be on.
 */
#include <arch/cpu.h>
#include <kernel/preempt.h>
#include <kernel/upcall.h>
#include "sched.h"
#include "softirq_priv.h"

/*
 * Depth stays above 0 around the switch: whatever is traced in there ends its own preempt-off
 * section without coming back here.
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

/* The interrupted thread is switched out inside the interrupt, on its own stack. */
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

TRACE_NOTRACE void upcall_preempt(void)
{
	if (preempt_count() == 0 && need_resched())
		preempt_schedule_irq();
}

TRACE_NOTRACE void upcall_irq_exit(void)
{
	if (!in_interrupt() && softirq_is_pending())
		softirq_run();
	upcall_preempt();
}
