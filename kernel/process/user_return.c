/*
 * The last steps before a program goes on, with interrupts off: see upcall_user_return(). Without call
 * sites: it is entry code.
 */
#include <arch/cpu.h>
#include <kernel/preempt.h>
#include <kernel/upcall.h>
#include "process.h"

/* With interrupts on: what there is to do. Something more may have come afterwards. */
static void user_return_work(struct trap_frame *regs)
{
	arch_irq_enable_raw();
	if (need_resched())
		schedule();
	/* IRET to an address that is not canonical would fault in the kernel. */
	if (regs->rip >= TASK_SIZE_MAX)
		force_sig_fault(regs, SIGSEGV, SEGV_MAPERR, regs->rip);
	if (thread_interrupted())
		do_signal(regs);
	arch_irq_disable_raw();
}

void upcall_user_return(struct trap_frame *regs)
{
	while (need_resched() || thread_interrupted() || regs->rip >= TASK_SIZE_MAX)
		user_return_work(regs);
}
