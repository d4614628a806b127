/*
 * Calls of tracepoints of <trace/host_tracepoints.h> from inline functions: through an assembly
 * routine that preserves every register. The compiler need not save any for a call that is rarely
 * made, so the code around it pays for one NOP.
 *
 * Context: as <trace/host_tracepoints.h> says of each.
 */
#ifndef ARCH_TRACEPOINTS_H
#define ARCH_TRACEPOINTS_H

#include <trace/compiler.h>
#include <trace/host_tracepoints.h>

/* Has tracepoint `name` a probe? Costs one NOP while it has none. */
#define TRACEPOINT_WANTED(name) trace_##name##_enabled()

/*
 * Call tracepoint `name`, one of those below. Its argument ip is the address of the instruction
 * behind this call.
 */
#define TRACEPOINT_CALL(name, parent)                                                              \
	__asm__ volatile("call tracepoint_call_" #name : : "D"(parent) : "memory", "cc")

/* tracepoint_call.asm. Not to be called from C: they take `parent` in rdi. */
void tracepoint_call_irq_disable(void);
void tracepoint_call_irq_enable(void);
void tracepoint_call_preempt_disable(void);
void tracepoint_call_preempt_enable(void);

#endif
