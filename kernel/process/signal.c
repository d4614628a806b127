/*
 * Signals. So far each ends the program: those that it causes itself by an exception, and Ctrl-C unless
 * that is ignored.
 */
#include <arch/trap.h>
#include <kernel/upcall.h>
#include "process.h"

void force_sig_fault(struct trap_frame *regs, int signal, int code, uintptr_t addr)
{
	const struct thread *thread = current_thread();

	pr_info("%s[%d]: signal %d code %d at 0x%lx ip 0x%lx sp 0x%lx error 0x%lx (%s)\n",
		thread->name, thread->pid, signal, code, addr, regs->rip, regs->rsp, regs->error,
		trap_name(regs->vector));
	do_group_exit(signal);
}

void upcall_user_trap(struct trap_frame *regs, int signal, int code, uintptr_t addr)
{
	force_sig_fault(regs, signal, code, addr);
}

void send_signal_self(int signal)
{
	if (current_process()->actions[signal - 1].handler != SIG_IGN)
		do_group_exit(signal);
}

void do_signal(struct trap_frame *regs)
{
	(void)regs;
	send_signal_self(SIGINT);
	thread_clear_interrupt();
}
