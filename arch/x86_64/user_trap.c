/*
 * Exceptions of programs and the way back from a system call, see user_priv.h. Without call sites: this
 * is entry code, which a traced function would begin in the wrong context.
 */
#include <arch/cpu.h>
#include <arch/percpu.h>
#include <arch/trap.h>
#include <arch/user.h>
#include <kernel/base.h>
#include <kernel/upcall.h>
#include <trace/arch_watch.h>

#include "user_priv.h"

#define FLAG_TF 0x100ull
#define FLAG_RF 0x10000ull

extern const char user_copy_begin[], user_copy_end[]; /* user_copy.asm */

bool user_may_sysret(const struct trap_frame *regs);

/* The signal and its code that tell a program of an exception, as Linux's. */
struct user_signal {
	uint8_t signal;
	uint8_t code;
	bool has_ip; /* the address that the signal tells is that of the instruction */
};

#define SIGNAL_ILL  4
#define SIGNAL_TRAP 5
#define SIGNAL_BUS  7
#define SIGNAL_FPE  8
#define SIGNAL_SEGV 11
#define CODE_KERNEL 0x80 /* SI_KERNEL: no code of its own */

static const struct user_signal user_signals[TRAP_NR_EXCEPTIONS] = {
	[TRAP_DIVIDE] = { SIGNAL_FPE, 1, true },
	[TRAP_DEBUG] = { SIGNAL_TRAP, 2, true },
	[TRAP_BREAKPOINT] = { SIGNAL_TRAP, CODE_KERNEL, false },
	[6] = { SIGNAL_ILL, 2, true },
	[11] = { SIGNAL_BUS, CODE_KERNEL, false },
	[12] = { SIGNAL_BUS, CODE_KERNEL, false },
	[16] = { SIGNAL_FPE, 3, true },
	[17] = { SIGNAL_BUS, 1, false },
	[19] = { SIGNAL_FPE, 3, true },
};

static void user_tell_trap(struct trap_frame *regs)
{
	const struct user_signal *to = &user_signals[regs->vector];

	if (to->signal)
		upcall_user_trap(regs, to->signal, to->code, to->has_ip ? regs->rip : 0);
	else
		upcall_user_trap(regs, SIGNAL_SEGV, CODE_KERNEL, 0);
}

void user_before_return(struct trap_frame *regs)
{
	upcall_user_return(regs);
}

void user_trap(struct trap_frame *regs)
{
	uint64_t addr = read_cr2();
	bool is_watch = regs->vector == TRAP_DEBUG && trace_watch_dispatch(regs->rip, regs);

	if (!is_watch) {
		arch_irq_enable_raw();
		if (regs->vector == TRAP_PAGE_FAULT)
			upcall_user_fault(regs, addr);
		else if (regs->vector != TRAP_BREAKPOINT || !upcall_user_breakpoint(regs))
			user_tell_trap(regs);
		arch_irq_disable_raw();
	}
	user_before_return(regs);
}

/*
 * Only with interrupts and preemption on may the fault be handled, which can sleep. Probes read
 * programs' memory too, in other code; their faults are answered by the table of fixups alone.
 */
bool user_copy_fault(struct trap_frame *regs)
{
	uint64_t addr = read_cr2();
	bool is_there;

	if (regs->vector != TRAP_PAGE_FAULT || regs->rip < (uintptr_t)user_copy_begin ||
	    regs->rip >= (uintptr_t)user_copy_end)
		return false;
	if (addr >= TASK_SIZE_MAX || !(regs->rflags & RFLAGS_IF) ||
	    cpu_local_read(preempt_count) & ~PREEMPT_NO_RESCHED)
		return false;
	arch_irq_enable_raw();
	is_there = upcall_user_fault(regs, addr);
	arch_irq_disable_raw();
	return is_there;
}

size_t user_copy(void *to, const void *from, size_t bytes);

bool arch_read_user_nofault(void *to, const void *from, size_t bytes)
{
	return access_ok((uintptr_t)from, bytes) && !user_copy(to, from, bytes);
}

uint64_t user_frames_walk(uint64_t fp, uint64_t lowest, uint64_t *out_callers, uint64_t max,
			  uint64_t highest);

uint32_t arch_user_frames(uint64_t fp, uint64_t lowest, uint64_t *out_callers, uint32_t max)
{
	return (uint32_t)user_frames_walk(fp, lowest, out_callers, max, TASK_SIZE_MAX - 16);
}

/*
 * SYSRET takes rip from rcx and the flags from r11. The frame has others when the program was given
 * other registers meanwhile, by a signal or an execve. A step that TF begins, and RF, need IRET. That
 * rip is an address of programs, upcall_user_return() has seen to.
 */
bool user_may_sysret(const struct trap_frame *regs)
{
	return regs->rcx == regs->rip && regs->r11 == regs->rflags &&
	       !(regs->rflags & (FLAG_TF | FLAG_RF));
}
