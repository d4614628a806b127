/*
 * The function tracer. Its callbacks write an event for each call into the buffer of the instance
 * that is ops->private.
 *
 * Context: callbacks - probe; they guard themselves against recursion. The rest - thread, config
 *          lock held.
 */
#ifndef TRACE_FUNCTIONS_H
#define TRACE_FUNCTIONS_H

#include <trace/ftrace.h>
#include <trace/tracer.h>
#include "instance/array.h"

struct trace_repeats;

enum trace_func_option { /* bits of the tracer's options */
	TRACE_FUNC_STACK = 1u << 0,
	TRACE_FUNC_NO_REPEATS = 1u << 1,
	TRACE_FUNC_ARGS = 1u << 2,
};

/* The function tracer in an instance. */
struct trace_function {
	uint32_t options;	       /* bits of enum trace_func_option; callbacks read it */
	struct trace_repeats *repeats; /* one for each CPU; NULL before func-no-repeats is used */
};
TRACE_SLOT(trace_function_of, struct trace_function, function)

/*
 * The real caller of a function whose `parent_ip` is the address of function_graph's return hook.
 * That happens after a tail call: a function whose return is hooked has jumped to this one.
 */
uintptr_t trace_function_true_parent(uintptr_t parent_ip, struct ftrace_regs *fregs);

/* The callback when no option is set: writes one event. */
void trace_function_call(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			 struct ftrace_regs *fregs);

/*
 * function_args.c: the callback when func-args is the only option. And the event of one call, with
 * its arguments; the caller holds the guard against recursion, and recording is on.
 */
struct trace_ring_cpu;
void trace_function_args_call(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			      struct ftrace_regs *fregs);
void trace_function_write_args(struct trace_ring_cpu *rc, uintptr_t ip, uintptr_t parent_ip,
			       struct ftrace_regs *fregs);

/* The callback for any options: function_variants.c. */
void trace_function_options_call(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
				 struct ftrace_regs *fregs);
/*
 * Allocate the memory of func-no-repeats, or empty it. The callback that uses it does not run. 0 or
 * -ENOMEM.
 */
int trace_repeats_create(struct trace_array *tr);
void trace_repeats_free(struct trace_array *tr);

#endif
