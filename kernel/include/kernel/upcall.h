/*
 * The few calls from arch/ up into the kernel.
 *
 * Context: said at each function. "irq" means: interrupts off, HARDIRQ counted in preempt_count.
 */
#ifndef KERNEL_UPCALL_H
#define KERNEL_UPCALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arch_sample;
struct cpu_local;
struct handover;
struct trace_thread;
struct trap_frame;

/*
 * Start the kernel. On the boot CPU and its boot stack, interrupts off; the GS base points to
 * the CPU's struct cpu_local. The boot context becomes the idle thread of CPU 0.
 */
void kernel_main(const struct handover *handover) __attribute__((noreturn));

/*
 * Called before CPU `cpu` is started, on the CPU that starts it, in thread context. Makes the idle
 * thread and fills local->current, current_pid, trace_thread, preempt_count, kernel_private and
 * kernel_stack_top. The new CPU runs on the stack of that thread from its first C function on.
 * Returns 0 or -ENOMEM.
 */
int upcall_ap_prepare(uint32_t cpu, struct cpu_local *local);
/*
 * Called on the new CPU when it is online: on the stack of its idle thread, interrupts off. Returns when
 * the CPU has to go offline; it has no threads then.
 */
void upcall_ap_main(uint32_t cpu);

/*
 * A zeroed page for a page table, at its direct-map address; NULL when out of memory, and before
 * mm_init(). Any context but NMI.
 */
void *upcall_page_table_alloc(void);

/* Free a page table of a program. */
void upcall_page_table_free(void *table);

/*
 * Called when the outermost interrupt is about to return to code that had interrupts on. Interrupts
 * off, HARDIRQ bits already taken out of preempt_count. Runs pending softirqs with interrupts on,
 * then reschedules when that is wanted and preemption is on. Returns with interrupts off.
 */
void upcall_irq_exit(void);
/* The periodic tick of this CPU, which has interrupted a program if `is_user`. irq. */
void scheduler_tick(bool is_user);
/* This CPU was interrupted for the profiler. irq, or NMI. Not traced. */
void upcall_sample(const struct arch_sample *sample);
/* An NMI begins, ends. NMI. Not traced. */
void upcall_nmi(bool enters);
/* The deadline that this CPU gave to arch_timer_arm_ns() has passed. irq. */
void upcall_timer(void);
/*
 * Another CPU wants this one to look whether another thread is to run: smp_send_reschedule(). irq.
 */
void upcall_reschedule(void);

/*
 * Programs, in kernel/process and kernel/syscall. Thread context, interrupts on, but for the last one,
 * which is called and returns with interrupts off.
 *
 * A page fault at `addr` of a program, or of a copy from or to its memory. True when the page is there
 * now. If not, and it was the program, the program is told.
 */
bool upcall_user_fault(struct trap_frame *regs, uintptr_t addr);
/* Another exception of a program: a signal, its code, and the address that it tells, of Linux's. */
void upcall_user_trap(struct trap_frame *regs, int signal, int code, uintptr_t addr);
/* A breakpoint of a program. True: it was that of a probe, and the frame is as the program goes on. */
bool upcall_user_breakpoint(struct trap_frame *regs);
/* Do the system call in the frame, and put its result there. */
void upcall_syscall(struct trap_frame *regs);
/*
 * The program is about to go on: threads that wait run first, signals are delivered. Not traced. The frame's rip
 * is below TASK_SIZE_MAX afterwards.
 */
void upcall_user_return(struct trap_frame *regs);

/* A trap without a handler: panics with `what`, such as "page fault at ...". Any context. */
void upcall_fault(struct trap_frame *regs, const char *what) __attribute__((noreturn));

/*
 * Bounds [lo, hi) of the thread stack or boot stack that `addr` lies in; false when it lies in
 * none. Any context, NMI included: lock free. Not traced.
 */
bool upcall_stack_range(uintptr_t addr, uintptr_t *out_lo, uintptr_t *out_hi);
/*
 * `ret` is the return address that is stored at `slot`, on some stack. While a tracer has hooked
 * the return of that function, it is the hook's address: the answer is then the real return
 * address, otherwise `ret`. `runs` is the thread on whose behalf the CPU uses that stack if it is a
 * trap stack; NULL: the stack is a thread's own. Any context, NMI included. Not traced.
 */
uintptr_t upcall_return_address(const struct trace_thread *runs, uintptr_t ret,
				const uintptr_t *slot);

#endif
