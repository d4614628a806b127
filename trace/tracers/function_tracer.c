/*
 * The `function` tracer as current_tracer knows it; its callbacks are in function_calls.c,
 * function_args.c and function_variants.c.
 */
#include <trace/ftrace.h>
#include <trace/thread.h>
#include <trace/trace.h>
#include "call_args.h"
#include "function_tracer.h"
#include "instance/array.h"
#include "instance/pid_filter.h"
#include "ops/ftrace_private.h"
#include "text/str.h"
#include "feature/feature.h"
#include "function_entry.h"

static struct tracer tracer_function;

/* The callbacks while set_ftrace_pid is in use; without it there is no such test. */
static void function_trace_pid_call(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
				    struct ftrace_regs *fregs)
{
	if (!(trace_plat_current()->ignored_by & ops->ignore_mask))
		trace_function_call(ip, parent_ip, ops, fregs);
}

static void function_trace_options_pid_call(uintptr_t ip, uintptr_t parent_ip,
					    struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	if (!(trace_plat_current()->ignored_by & ops->ignore_mask))
		trace_function_options_call(ip, parent_ip, ops, fregs);
}

static ftrace_func_t wanted_func(const struct trace_array *tr)
{
	bool uses_pids = trace_pid_filter_is_used(tr, TRACE_PIDS_FUNCTIONS);

	if (trace_function_of(tr)->options == TRACE_FUNC_ARGS && !uses_pids)
		return trace_function_args_call;
	if (trace_function_of(tr)->options)
		return uses_pids ? function_trace_options_pid_call : trace_function_options_call;
	return uses_pids ? function_trace_pid_call : trace_function_call;
}

static int function_tracer_start_calls(struct trace_array *tr)
{
	int err = 0;

	if (trace_function_of(tr)->options & TRACE_FUNC_NO_REPEATS)
		err = trace_repeats_create(tr);
	if (err)
		return err;
	return tracer_register_function(tr, wanted_func(tr));
}

static int function_tracer_init(struct trace_array *tr)
{
	trace_function_of(tr)->options = tracer_option_bits(tr, &tracer_function);
	return function_tracer_start_calls(tr);
}

/* As on Linux, switching tracing on again begins with an empty buffer. */
static void function_start(struct trace_array *tr)
{
	trace_array_reset(tr, RING_BUFFER_ALL_CPUS, "tracing_on");
}

/* Change the options of the running tracer. Its sites stay on, so no call is missed. */
static int change_calls(struct trace_array *tr, uint32_t options)
{
	trace_function_of(tr)->options = options;
	tr->ops->ignore_mask = tr->pid_mask; /* before a callback that looks at it is set */
	return ftrace_ops_set_func(tr->ops, wanted_func(tr));
}

static int function_settings_changed(struct trace_array *tr)
{
	if (tr->ops->func == wanted_func(tr))
		return 0;
	return change_calls(tr, trace_function_of(tr)->options);
}

static int function_set_option(struct trace_array *tr, uint32_t bit, bool on)
{
	uint32_t old = trace_function_of(tr)->options;
	int err = on && bit == TRACE_FUNC_ARGS ? trace_call_args_prepare() : 0;

	if (err)
		return err;
	if (tr->tracer != &tracer_function)
		return 0; /* it does not run; function_tracer_init() reads the options */
	if (on && bit == TRACE_FUNC_NO_REPEATS && !trace_function_of(tr)->repeats &&
	    trace_repeats_create(tr))
		return -ENOMEM;
	return change_calls(tr, on ? old | bit : old & ~bit);
}

static const struct tracer_option function_options[] = {
	{ .name = "func_stack_trace", .bit = TRACE_FUNC_STACK },
	{ .name = "func-no-repeats", .bit = TRACE_FUNC_NO_REPEATS },
	{ .name = "func-args", .bit = TRACE_FUNC_ARGS },
};

static struct tracer tracer_function = {
	.name = "function",
	.init = function_tracer_init,
	.reset = tracer_unregister_function,
	.start = function_start,
	.set_option = function_set_option,
	.settings_changed = function_settings_changed,
	.options = function_options,
	.nr_options = TRACE_ARRAY_SIZE(function_options),
};

/* ---- The feature ---- */

static int function_init(void)
{
	int err = trace_function_events_init();

	return err ? err : register_tracer(&tracer_function);
}

const struct trace_feature trace_feature_function = {
	.name = "function",
	.init = function_init,
	.instance_free = trace_repeats_free,
};
