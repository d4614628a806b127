/*
 * The last steps before a program goes on, with interrupts off: see upcall_user_return(). Without call
 * sites: it is entry code.
 */
#include <arch/cpu.h>
#include <kernel/preempt.h>
#include <kernel/upcall.h>
#include <trace/platform.h>
#include <trace/sample.h>
#include "process.h"

/* First of all: the program is still where samples and events have found it. */
void user_return_stacks(void)
{
	uint32_t bits = atomic_exchange(&current_thread()->samples_due, 0);

	if (bits & THREAD_STACKS_DUE)
		trace_userstack_return();
	if (bits & ~THREAD_STACKS_DUE)
		trace_sample_return(bits & ~THREAD_STACKS_DUE);
}

/* With interrupts on: what there is to do. Something more may have come afterwards. */
static void user_return_work(struct trap_frame *regs)
{
	arch_irq_enable_raw();
	user_return_stacks();
	if (need_resched())
		schedule();
	/* IRET to an address that is not canonical would fault in the kernel. */
	if (regs->rip >= TASK_SIZE_MAX)
		force_sig_fault(regs, SIGSEGV, SEGV_MAPERR, regs->rip);
	if (thread_interrupted()) {
		uprobe_leave_slot(regs, false);
		do_signal(regs);
	}
	arch_irq_disable_raw();
}

static TRACE_ALWAYS_INLINE bool user_return_may_go(const struct trap_frame *regs)
{
	return !need_resched() && !atomic_load(&current_thread()->return_work) &&
	       regs->rip < TASK_SIZE_MAX;
}

static TRACE_NOINLINE void user_return_slow(struct trap_frame *regs)
{
	do
		user_return_work(regs);
	while (!user_return_may_go(regs));
}

void upcall_user_return(struct trap_frame *regs)
{
	if (TRACE_UNLIKELY(!user_return_may_go(regs)))
		user_return_slow(regs);
}
