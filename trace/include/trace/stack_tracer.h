/*
 * The stack tracer: the deepest stack that traced functions were seen on, and who stood on it.
 *
 *   thread     a thread's stack, from its end; interrupts that came meanwhile use it too
 *   interrupt  of that, the part of an interrupt: from the registers that it saved
 *   NMI, fault the stacks that NMIs, double faults and machine checks run on
 *
 * It is switched by /proc/sys/kernel/stack_tracer_enabled, the boot parameters stacktrace and
 * stacktrace_filter=, or from here, and read in stack_trace and stack_max_size of tracefs.
 *
 * Context:   thread; what is called at every traced function is inside.
 * Locking:   its own.
 * Ownership: what it keeps of stacks is its own, from the first switch on for ever.
 */
#ifndef TRACE_STACK_TRACER_H
#define TRACE_STACK_TRACER_H

#include <trace/compiler.h>

TRACE_BEGIN_DECLS

/* What was set last; 0: off. */
int stack_tracer_enabled(void);
/* Anything but 0 switches it on. 0, or, for what is to be on, -ENOMEM, -ENODEV: it is off. */
int stack_tracer_enable(int value);

TRACE_END_DECLS

#endif
