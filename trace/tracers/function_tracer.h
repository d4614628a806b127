/*
 * The callbacks of the function tracer: they write into the buffer of the instance that is
 * `ops->private`.
 *
 * Context: callbacks - probe; they guard themselves against recursion. The rest - thread.
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
};

/* Of an instance. */
struct trace_function {
	uint32_t options;	       /* change while the tracer does not run */
	struct trace_repeats *repeats; /* for each CPU; NULL before func-no-repeats is used */
};
TRACE_SLOT_FITS(struct trace_function, function);

static inline struct trace_function *trace_function_of(const struct trace_array *tr)
{
	return TRACE_SLOT(tr, function);
}

/*
 * Who called, when function_graph has hooked the return of a function that ended by jumping to this
 * one: `parent_ip` is the hook's.
 */
uintptr_t function_true_parent(uintptr_t parent_ip, struct ftrace_regs *fregs);

/* One event. */
void function_trace_call(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			 struct ftrace_regs *fregs);

extern struct tracer tracer_function;

/* function_variants.c: with any option. */
void function_trace_options_call(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
				 struct ftrace_regs *fregs);
/* What func-no-repeats needs; nothing remembered yet. The callback does not run. 0 or -ENOMEM. */
int trace_repeats_create(struct trace_array *tr);
void trace_repeats_free(struct trace_array *tr);

#endif
