/*
 * Traps: exceptions, interrupts, NMI. One frame layout for all of them.
 *
 * Exceptions and interrupts run on the interrupted stack; #DF, NMI and #MC on a stack of their own.
 * #BP runs on the interrupted stack with a gap of 8 words between it and the frame, so that who
 * answers it can push on the interrupted stack; trace_breakpoint_dispatch() asks them.
 * An int3 inside an NMI works: its IRET lets the next NMI in early, which is held back and run when
 * the first one is done (nmi_entry.asm).
 *
 * Context:   handlers run with interrupts off. Interrupt vectors (32 and up, but NMI) count as
 *            hardirq in preempt_count; softirqs and preemption follow at the outermost exit.
 * Locking:   none; arch_irq_register() before the vector can fire.
 * Ownership: the frame is the handler's until it returns; changes take effect then.
 */
#ifndef ARCH_TRAP_H
#define ARCH_TRAP_H

#include <stdbool.h>
#include <stdint.h>
#include <trace/compiler.h>

/* asm.inc knows this layout (struc trap_frame). */
struct trap_frame {
	uint64_t r15, r14, r13, r12, r11, r10, r9, r8;
	uint64_t rbp, rdi, rsi, rdx, rcx, rbx, rax;
	uint64_t vector, error;
	uint64_t rip, cs, rflags, rsp, ss;
};

#define TRAP_DEBUG	   1
#define TRAP_NMI	   2
#define TRAP_BREAKPOINT	   3
#define TRAP_DOUBLE_FAULT  8
#define TRAP_PROTECTION	   13
#define TRAP_PAGE_FAULT	   14
#define TRAP_MACHINE_CHECK 18
#define TRAP_NR_EXCEPTIONS 32
#define TRAP_NR_VECTORS	   256

typedef void (*trap_fn)(struct trap_frame *regs);

/* Fill the IDT (one for all CPUs). Boot CPU, once. */
void trap_init(void);

/*
 * Let `fn` handle interrupt `vector` (32..255). It acknowledges the interrupt itself, before it
 * returns: a thread switch may follow. Returns -EBUSY when the vector has a handler, -EINVAL.
 */
int arch_irq_register(uint8_t vector, trap_fn fn);
/* The same for NMI: called with preempt_count saying NMI. There is one; returns the one before. */
trap_fn arch_nmi_register(trap_fn fn);

/* Interrupts seen per vector, all CPUs: for `irqs`. Any context. */
uint64_t arch_irq_count(uint8_t vector);

/* "page fault", "double fault", ...; "unknown". Any context. */
const char *trap_name(uint64_t vector);
/* True when `regs` is a double fault, or a page fault, that ran into the guard page of a stack. */
bool trap_is_stack_overflow(const struct trap_frame *regs);
/* Print what happened: vector, error code, address for page faults. One to three lines. Any
 * context. */
void arch_describe_fault(const struct trap_frame *regs);
/* Print the registers of a trap on any CPU; the control registers of this one. Any context. */
void arch_dump_registers(const struct trap_frame *regs);
void arch_dump_control_registers(void);

#endif
