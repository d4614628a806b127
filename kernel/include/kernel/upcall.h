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

struct cpu_local;
struct handover;
struct trace_thread;
struct trap_frame;

/*
 * The kernel proper, on the boot CPU's boot stack, interrupts off, GS base valid. The boot context
 * becomes the idle thread of CPU 0.
 */
void kernel_main(const struct handover *handover) __attribute__((noreturn));

/*
 * Before CPU `cpu` is started, on the CPU that starts it: makes the idle thread and fills
 * local->current, current_pid, trace_thread, preempt_count, kernel_private and
 * kernel_stack_top. The new CPU runs on that stack from its first C function. Returns 0 or -ENOMEM.
 * Thread context.
 */
int upcall_ap_prepare(uint32_t cpu, struct cpu_local *local);
/* The new CPU, online, interrupts off, on the stack of upcall_ap_prepare(). Never returns. */
void upcall_ap_main(uint32_t cpu) __attribute__((noreturn));

/*
 * A zeroed page for a page table, at its direct-map address; NULL when out of memory, and before
 * mm_init(). Any context but NMI.
 */
void *upcall_page_table_alloc(void);

/*
 * The outermost interrupt is about to return to code that had interrupts on. Interrupts off,
 * HARDIRQ bits already taken out of preempt_count. Runs pending softirqs with interrupts on, then
 * reschedules when that is wanted and the preempt depth is 0. Returns with interrupts off.
 */
void upcall_irq_exit(void);
/* The reschedule half of upcall_irq_exit() alone: depth 0, interrupts off before and after. */
void upcall_preempt(void);
/* The tick is due; the deadline given to arch_timer_arm_ns() has passed. irq. */
void upcall_tick(void);
void upcall_timer(void);
/* Reschedule IPI. irq. */
void upcall_reschedule(void);

/* A trap that nobody handles: panics with `what` ("page fault at ...") and the registers. */
void upcall_fault(struct trap_frame *regs, const char *what) __attribute__((noreturn));

/*
 * Bounds [lo, hi) of the thread stack or boot stack that `addr` lies in; false when it lies in
 * none. Any context, NMI included: lock free. Not traced.
 */
bool upcall_stack_range(uintptr_t addr, uintptr_t *out_lo, uintptr_t *out_hi);
/*
 * The real return address for `ret`, found at `slot`: the return of a traced function may be
 * hooked. `runs`: on whose behalf a trap stack is used; NULL: `slot` is on a thread's stack. Any
 * context. Not traced.
 */
uintptr_t upcall_return_address(const struct trace_thread *runs, uintptr_t ret,
				const uintptr_t *slot);

#endif
