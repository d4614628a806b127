/*
 * Switching threads: the part that is about registers and stacks.
 *
 * Context:   arch_switch(): interrupts off. arch_thread_init(): thread.
 * Locking:   the scheduler's.
 * Ownership: a context belongs to its thread; it is valid only while the thread does not run.
 */
#ifndef ARCH_SWITCH_H
#define ARCH_SWITCH_H

#include <stdint.h>

/* What a thread that does not run has on its stack is found from here. switch.asm knows it. */
struct arch_context {
	uint64_t rsp;
};

/*
 * Save this thread into `prev`, go on with `next`. Returns when somebody switches back to `prev`.
 * Keeps the callee-saved registers; the interrupt flag stays as it is. Not traced.
 * The caller sets cpu_local's `current`, `current_pid`, `trace_thread`, `kernel_stack_top`.
 */
void arch_switch(struct arch_context *prev, struct arch_context *next);

/*
 * Let the first switch to `ctx` call entry(arg) on the stack that ends at `stack_top` (16-byte
 * aligned), interrupts off as in the switch. `entry` never returns.
 */
void arch_thread_init(struct arch_context *ctx, uintptr_t stack_top, void (*entry)(void *arg),
		      void *arg);

#endif
