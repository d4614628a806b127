/*
 * The callback of the function tracer: writes one event into the buffer of the instance that is
 * `ops->private`.
 *
 * Context: probe; guards itself against recursion.
 */
#ifndef TRACE_FUNCTIONS_H
#define TRACE_FUNCTIONS_H

#include <trace/ftrace.h>

void function_trace_call(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			 struct ftrace_regs *fregs);

#endif
