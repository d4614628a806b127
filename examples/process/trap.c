/*
 * Signals that an instruction causes: the int3, which is SIGTRAP, and reads of bad addresses, which
 * are SIGSEGV or SIGBUS. All other signals are blocked in these handlers, and these never are: an
 * instruction that causes a blocked one ends the program.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <trace/arch_breakpoint.h>
#include <trace/arch_host.h>
#include <trace/arch_read.h>
#include <trace/arch_text.h>
#include <ucontext.h>
#include "process.h"

void trap_block_others(sigset_t *out_mask)
{
	sigfillset(out_mask);
	sigdelset(out_mask, SIGTRAP);
	sigdelset(out_mask, SIGSEGV);
	sigdelset(out_mask, SIGBUS);
}

/* From now on the signal ends the program, as it would without us. */
static void give_up(int signal)
{
	sigaction(signal, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
}

/* ---- The int3 ---- */

/* The frame that consumers of breakpoints get. */
struct trap {
	greg_t *regs;
	uintptr_t rip, rsp; /* of `regs`, and how the thread goes on */
};

bool trace_arch_has_frames(void)
{
	return true;
}

void trace_arch_frame_load(const void *frame, struct ftrace_regs *out_regs)
{
	const struct trap *trap = frame;
	const greg_t *from = trap->regs;

	out_regs->r15 = (uint64_t)from[REG_R15];
	out_regs->r14 = (uint64_t)from[REG_R14];
	out_regs->r13 = (uint64_t)from[REG_R13];
	out_regs->r12 = (uint64_t)from[REG_R12];
	out_regs->r11 = (uint64_t)from[REG_R11];
	out_regs->r10 = (uint64_t)from[REG_R10];
	out_regs->rbx = (uint64_t)from[REG_RBX];
	out_regs->rflags = (uint64_t)from[REG_EFL];
	out_regs->rsp = trap->rsp;
	out_regs->r9 = (uint64_t)from[REG_R9];
	out_regs->r8 = (uint64_t)from[REG_R8];
	out_regs->rdi = (uint64_t)from[REG_RDI];
	out_regs->rsi = (uint64_t)from[REG_RSI];
	out_regs->rdx = (uint64_t)from[REG_RDX];
	out_regs->rcx = (uint64_t)from[REG_RCX];
	out_regs->rax = (uint64_t)from[REG_RAX];
	out_regs->rbp = (uint64_t)from[REG_RBP];
}

void trace_arch_frame_store(void *frame, const struct ftrace_regs *regs)
{
	struct trap *trap = frame;
	greg_t *to = trap->regs;

	to[REG_R15] = (greg_t)regs->r15;
	to[REG_R14] = (greg_t)regs->r14;
	to[REG_R13] = (greg_t)regs->r13;
	to[REG_R12] = (greg_t)regs->r12;
	to[REG_R11] = (greg_t)regs->r11;
	to[REG_R10] = (greg_t)regs->r10;
	to[REG_RBX] = (greg_t)regs->rbx;
	to[REG_EFL] = (greg_t)regs->rflags;
	trap->rsp = regs->rsp;
	to[REG_R9] = (greg_t)regs->r9;
	to[REG_R8] = (greg_t)regs->r8;
	to[REG_RDI] = (greg_t)regs->rdi;
	to[REG_RSI] = (greg_t)regs->rsi;
	to[REG_RDX] = (greg_t)regs->rdx;
	to[REG_RCX] = (greg_t)regs->rcx;
	to[REG_RAX] = (greg_t)regs->rax;
	to[REG_RBP] = (greg_t)regs->rbp;
	trap->rip = regs->rip;
}

/*
 * Memory that answers use may be freed after a grace period; no such period ends while the count is
 * raised. It is not the preempt count, which events record: a probe's are those of the code that
 * was interrupted.
 */
static bool answer_int3(struct trap *trap)
{
	bool is_answered;

	THIS_CPU(nr_traps) += 1;
	is_answered = trace_breakpoint_dispatch(&trap->rip, &trap->rsp, trap);
	THIS_CPU(nr_traps) -= 1;
	return is_answered;
}

/*
 * A thread ran into an int3. If the site is being changed it goes on as the new instruction says;
 * for a call the library pushes a return address onto the interrupted stack; there is room, because
 * Linux leaves 128 bytes below the stack pointer free, for a signal, too. If a probe is there its
 * handlers run here, and the thread goes on in a copy of the instruction.
 *
 * A signal handler does not hold back the core sync, as an interrupt would in a kernel. So whole
 * batches may begin and end while it runs, and then the int3 has no answer: the site is executed
 * again. If no batch has begun meanwhile the int3 is not ours.
 */
static void on_trap(int signal, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	struct trap trap = { regs, (uintptr_t)regs[REG_RIP], (uintptr_t)regs[REG_RSP] };
	struct trace_poke_stats before, after;

	trace_plat_poke_stats(&before);
	if (info->si_code == SI_KERNEL && answer_int3(&trap)) {
		regs[REG_RIP] = (greg_t)trap.rip;
		regs[REG_RSP] = (greg_t)trap.rsp;
		return;
	}
	trace_plat_poke_stats(&after);
	if (info->si_code == SI_KERNEL && after.batches != before.batches) {
		regs[REG_RIP]--;
		return;
	}
	give_up(signal);
	raise(signal);
}

/* ---- Reads that may fault ---- */

/* The thread goes on where the read says; or executes the instruction again, without us. */
static void on_fault(int signal, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	uintptr_t resume = trace_fixup_find((uintptr_t)regs[REG_RIP]);
	bool is_sent = info->si_code <= 0; /* by a sender, and not caused by the instruction */

	if (resume && !is_sent) {
		regs[REG_RIP] = (greg_t)resume;
		return;
	}
	give_up(signal);
	if (is_sent)
		raise(signal);
}

bool trace_plat_read(void *to, const void *from, size_t bytes)
{
	return trace_arch_read(to, from, bytes);
}

void trap_init(void)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER };

	trap_block_others(&action.sa_mask);
	sigaction(SIGTRAP, &action, NULL);
	action.sa_sigaction = on_fault;
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}
