/*
 * The `function` tracer as current_tracer knows it; its callback is in func_tracer.c.
 */
#include <trace/ftrace.h>
#include <trace/thread.h>
#include <trace/trace.h>
#include "array.h"
#include "functions.h"

/* With set_ftrace_pid in use. Otherwise the callback is called directly, at no cost. */
static void function_trace_pid_call(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
				    struct ftrace_regs *fregs)
{
	const struct trace_array *tr = ops->private;

	if (!(trace_plat_current()->ignored_by & tr->pid_mask))
		function_trace_call(ip, parent_ip, ops, fregs);
}

static int start_calls(struct trace_array *tr)
{
	tr->ops->func =
		trace_array_filters_pids(tr) ? function_trace_pid_call : function_trace_call;
	tr->ops->private = tr;
	return register_ftrace_function(tr->ops);
}

static int function_init(struct trace_array *tr)
{
	return start_calls(tr);
}

static void function_reset(struct trace_array *tr)
{
	unregister_ftrace_function(tr->ops);
}

/* As in Linux: switching tracing on again begins with an empty buffer. */
static void function_start(struct trace_array *tr)
{
	trace_array_reset(tr, RING_BUFFER_ALL_CPUS);
}

int tracer_function_update_pids(struct trace_array *tr)
{
	ftrace_func_t wanted =
		trace_array_filters_pids(tr) ? function_trace_pid_call : function_trace_call;
	int err;

	if (tr->tracer != &tracer_function || tr->ops->func == wanted)
		return 0;
	unregister_ftrace_function(tr->ops); /* an ops keeps its function while registered */
	err = start_calls(tr);
	if (err)
		tr->tracer = &tracer_nop;
	return err;
}

struct tracer tracer_function = {
	.name = "function",
	.init = function_init,
	.reset = function_reset,
	.start = function_start,
};
