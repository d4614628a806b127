/*
 * Traps: exceptions, interrupts, NMI. One frame layout for all of them.
 *
 * Exceptions and interrupts are handled on the interrupted stack; #DF, NMI and #MC each on a stack
 * of their own. The frame of a #BP has a gap of 8 words to the interrupted stack. So a handler
 * that trace_breakpoint_dispatch() calls can push a return address there, as a call would. An int3
 * may be hit inside an NMI handler. Its IRET lets the next NMI in early, and nmi_entry.asm keeps
 * that until the first one is done.
 *
 * Context:   handlers run with interrupts off. Interrupts (vectors from 32 on) count as hardirq in
 *            preempt_count; softirqs and preemption follow at the end of the outermost one.
 * Locking: none; arch_irq_register() is called before the vector can fire. Ownership: the frame is
 * the handler's until it returns. Its changes there take effect then.
 */
#ifndef ARCH_TRAP_H
#define ARCH_TRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/compiler.h>

/* asm.inc has this layout, too (struc trap_frame). */
struct trap_frame {
	uint64_t r15, r14, r13, r12, r11, r10, r9, r8;
	uint64_t rbp, rdi, rsi, rdx, rcx, rbx, rax;
	uint64_t vector, error;
	uint64_t rip, cs, rflags, rsp, ss;
};

#define TRAP_DIVIDE	   0
#define TRAP_DEBUG	   1
#define TRAP_NMI	   2
#define TRAP_BREAKPOINT	   3
#define TRAP_DOUBLE_FAULT  8
#define TRAP_PROTECTION	   13
#define TRAP_PAGE_FAULT	   14
#define TRAP_MACHINE_CHECK 18
#define TRAP_NR_EXCEPTIONS 32
#define TRAP_NR_VECTORS	   256
#define TRAP_SYSCALL	   256 /* in the frame of a system call, whose `error` is its number */

typedef void (*trap_fn)(struct trap_frame *regs);

/* Did the trap come in a program? Then nothing is below its frame on the thread's stack. */
static TRACE_ALWAYS_INLINE bool trap_is_user(const struct trap_frame *regs)
{
	return regs->cs & 3;
}

/* Fill the IDT (one for all CPUs). Boot CPU, once. */
void trap_init(void);
/* Is any of the `len` bytes at `addr` in the IDT? Any context. */
bool trap_table_overlaps(uintptr_t addr, size_t len);

/*
 * Let `fn` handle interrupt `vector` (32..255). It calls apic_eoi() itself, because a switch to
 * another thread may follow its return. -EBUSY when the vector has a handler; -EINVAL when it is
 * below 32.
 */
int arch_irq_register(uint8_t vector, trap_fn fn);
/*
 * Let `fn` handle NMIs, in place of the handler that is returned. It is called with the NMI and
 * hardirq bits set in preempt_count.
 */
trap_fn arch_nmi_register(trap_fn fn);

/* The name of an exception, such as "page fault"; "unknown trap" without one. Any context. */
const char *trap_name(uint64_t vector);
/*
 * Was this trap a page fault or a double fault in the guard page of a stack? CR2 still has to hold
 * the address of the fault.
 */
bool trap_is_stack_overflow(const struct trap_frame *regs);
/* Print one or two lines: vector and error code, or the address of a page fault. Any context. */
void arch_describe_fault(const struct trap_frame *regs);
/* Print the registers of a trap. Any context. */
void arch_dump_registers(const struct trap_frame *regs);
/* Print the control registers of the running CPU. Any context. */
void arch_dump_control_registers(void);

#endif
