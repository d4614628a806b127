/*
 * Tracepoints of <trace/host_tracepoints.h> in the middle of inline functions: called through an
 * assembly routine that preserves every register, so that a branch that is not taken costs the code
 * around it nothing but its NOP.
 *
 * Context: as <trace/host_tracepoints.h> says of each.
 */
#ifndef ARCH_TRACEPOINTS_H
#define ARCH_TRACEPOINTS_H

#include <trace/compiler.h>
#include <trace/host_tracepoints.h>

/* Does anybody listen to tracepoint `name`? One NOP while nobody does. */
#define TRACEPOINT_WANTED(name) trace_##name##_enabled()

/* Tell them; `ip` is where this stands. For those of the routines below. */
#define TRACEPOINT_CALL(name, parent)                                                              \
	__asm__ volatile("call tracepoint_call_" #name : : "D"(parent) : "memory", "cc")

/* tracepoint_call.asm. rdi: parent; what they pass on as ip is where they are called. */
void tracepoint_call_irq_disable(void);
void tracepoint_call_irq_enable(void);
void tracepoint_call_preempt_disable(void);
void tracepoint_call_preempt_enable(void);

#endif
