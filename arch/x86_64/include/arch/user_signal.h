/*
 * Frames of signal handlers, on the program's stack, as Linux has them.
 *
 *   high   the interrupted stack
 *          128 bytes, the red zone: leaf functions use them without moving rsp
 *          vectors and x87, as FXSAVE or XSAVE store them       <- uc_mcontext.fpstate, aligned to 64
 *          siginfo                                              <- rsi of the handler
 *          ucontext: registers, stack, mask                     <- rdx of the handler
 *   rsp -> the restorer's address, to which the handler returns; it calls rt_sigreturn()
 *
 * Context:   thread of a program, interrupts on. The frame at the top of its stack is given.
 * Locking:   none.
 * Ownership: the caller's structs.
 */
#ifndef ARCH_USER_SIGNAL_H
#define ARCH_USER_SIGNAL_H

#include <arch/trap.h>
#include <arch/user.h>

#define SYSCALL_INSN_BYTES 2u

#define ARCH_SIGINFO_BYTES 128u
#define ARCH_SIGINFO_USED  48u /* of them; the others are 0 */

struct arch_signal_stack { /* stack_t */
	uint64_t sp;
	uint32_t flags, pad; /* SS_* */
	uint64_t size;
};

struct arch_signal {
	int sig;
	const void *info;		/* ARCH_SIGINFO_USED bytes */
	uint64_t handler, restorer;	/* addresses of the program, unchecked */
	uint64_t mask;			/* that holds again after the handler */
	struct arch_signal_stack stack; /* the alternate one */
	bool wants_stack;
	uint64_t vector, error, addr; /* of the newest exception */
};

/*
 * Let the program go on in its handler. False: the frame could not be written, and the registers are as
 * before.
 */
bool setup_rt_frame(struct trap_frame *regs, struct arch_user *user,
		    const struct arch_signal *signal);
/*
 * Undo that, for rt_sigreturn(): registers, vectors, mask and stack come from the frame at rsp, whatever
 * the program has made of it. False: it is no frame that the program may return to, and the registers are
 * as before.
 */
bool restore_rt_frame(struct trap_frame *regs, struct arch_user *user, uint64_t *out_mask,
		      struct arch_signal_stack *out_stack);
/* Is that address in the stack, or is there none (size 0)? */
bool arch_signal_is_on_stack(const struct arch_signal_stack *stack, uint64_t sp);

#endif
