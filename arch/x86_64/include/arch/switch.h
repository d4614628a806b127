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

/*
 * A thread that does not run: its registers lie on its stack, from rsp on. switch.asm stores rsp in
 * the first word.
 */
struct arch_context {
	uint64_t rsp;
};

/*
 * Save the running thread into `prev` and go on with `next`. Returns when `prev` is switched to
 * again. Interrupts stay off all the time. Not traced.
 * The caller sets `current`, `current_pid`, `trace_thread` and `kernel_stack_top` of cpu_local.
 */
void arch_switch(struct arch_context *prev, struct arch_context *next);

/*
 * Prepare `ctx` so that the first switch to it calls entry(arg), with interrupts off, on the stack
 * that ends at `stack_top` (16-byte aligned). `entry` must not return.
 */
void arch_thread_init(struct arch_context *ctx, uintptr_t stack_top, void (*entry)(void *arg),
		      void *arg);

#endif
