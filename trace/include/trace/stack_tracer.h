/*
 * The stack tracer: the deepest use of a stack that was seen in a traced function, and the
 * functions that were on it. Kept for each kind of stack:
 *
 *   thread      a thread's stack, from its end on; interrupts on that stack included
 *   interrupt   the part of such a stack that an interrupt uses, from the registers it saved on
 *   NMI, fault  the stacks of NMIs, and of double faults and machine checks
 *
 * It is switched by /proc/sys/kernel/stack_tracer_enabled, the boot parameters stacktrace and
 * stacktrace_filter=, or from here, and read in stack_trace and stack_max_size of tracefs.
 *
 * Context:   thread; the callback at every traced function is inside.
 * Locking:   a lock of its own.
 * Ownership: its copies of stacks belong to it, from the first switch on for ever.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_STACK_TRACER_H
#define TRACE_STACK_TRACER_H

#include <trace/compiler.h>

TRACE_BEGIN_DECLS

/* The value that was set last; 0: it is off. */
int stack_tracer_enabled(void);
/*
 * Switch it off with 0, on with any other value. 0; -ENOMEM, -ENODEV: it cannot be on, and is off.
 */
int stack_tracer_enable(int value);

TRACE_END_DECLS

#endif
