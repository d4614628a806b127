/*
 * The part of <trace/platform.h> about stacks: where they are, and who stands on them. Include
 * that.
 *
 * Context: probe. Tier T2.
 */
#ifndef TRACE_PLATFORM_STACK_H
#define TRACE_PLATFORM_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum trace_stack_kind {
	TRACE_STACK_THREAD,
	TRACE_STACK_IRQ, /* the part of a thread's stack that an interrupt uses */
	TRACE_STACK_NMI,
	TRACE_STACK_FAULT, /* double fault, machine check */
	TRACE_NR_STACK_KINDS,
};

struct trace_stack {
	enum trace_stack_kind kind;
	uintptr_t lo; /* bounds of the whole stack */
	uintptr_t hi;
	uintptr_t base; /* where what is of this kind begins: hi, or the frame of the interrupt */
};

/* T2: the stack that `addr` lies on, as this CPU uses it; false for none. Probe context. */
bool trace_plat_stack_find(uintptr_t addr, struct trace_stack *out_stack);

/*
 * Callers of the running code, packed, innermost first: the return addresses from `frame` on, which
 * is __builtin_frame_address(0) of a function that has not returned. With `is_callback` that
 * function is the callback of an ops, or called by one: then the first is the traced function,
 * its caller the second. Goes through interrupts to what they interrupted. Returns the number, at
 * most `max`. Probe context.
 */
size_t trace_plat_backtrace(uintptr_t frame, bool is_callback, uint32_t *out_ips, size_t max);

#endif
