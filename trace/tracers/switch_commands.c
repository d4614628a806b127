/*
 * The commands traceon, traceoff and stacktrace of set_ftrace_filter. See function_commands.h.
 */
#include "function_commands.h"
#include "instance/array.h"
#include "feature/feature.h"
#include "instance/stacktrace.h"

/*
 * The count goes down by one for each switch, even if several CPUs come here at once: each has read
 * the count before it looked at the switch, and the compare-exchange lets only one of them succeed.
 */
static void switch_recording(const struct ftrace_probe_hit *hit, const struct ftrace_probe_ops *ops,
			     bool on)
{
	const struct trace_off_from from = { .by = TRACE_OFF_BY_COMMAND, .ip = hit->ip };
	struct trace_array *tr = hit->tr;
	uint64_t left = atomic_load(hit->data);

	if ((ops->is_counted && !left) || ring_buffer_record_is_set_on(tr->buffer) == on)
		return;
	if (on)
		trace_array_on(tr);
	else
		trace_array_off(tr, &from);
	if (ops->is_counted)
		atomic_compare_exchange_strong(hit->data, &left, left - 1);
}

static void probe_traceon(const struct ftrace_probe_hit *hit, const struct ftrace_probe_ops *ops)
{
	switch_recording(hit, ops, true);
}

static void probe_traceoff(const struct ftrace_probe_hit *hit, const struct ftrace_probe_ops *ops)
{
	switch_recording(hit, ops, false);
}

static void probe_stacktrace(const struct ftrace_probe_hit *hit, const struct ftrace_probe_ops *ops)
{
	struct ring_buffer *buffer = hit->tr->buffer;

	if (ring_buffer_record_is_set_on(buffer) && ftrace_probe_take(hit, ops))
		trace_stacktrace_callback(buffer, (uintptr_t)__builtin_frame_address(0));
}

/* The probe writes events, so the buffer needs its full size, even if no tracer was used yet. */
static int prepare_buffer(struct trace_array *tr)
{
	int err;

	trace_plat_lock(&trace_config_lock);
	err = trace_array_expand(tr);
	trace_plat_unlock(&trace_config_lock);
	return err;
}

static struct trace_command switch_commands[] = {
	{ TRACE_COMMAND("traceon", probe_traceon),
	  TRACE_COMMAND_COUNTED("traceon", probe_traceon) },
	{ TRACE_COMMAND("traceoff", probe_traceoff),
	  TRACE_COMMAND_COUNTED("traceoff", probe_traceoff) },
	{ TRACE_COMMAND("stacktrace", probe_stacktrace),
	  TRACE_COMMAND_COUNTED("stacktrace", probe_stacktrace), .prepare = prepare_buffer },
	{ .command = { .name = NULL } },
};

/* ---- The feature ---- */

static int switch_commands_init(void)
{
	return trace_commands_register(switch_commands);
}

const struct trace_feature trace_feature_commands = {
	.name = "commands",
	.init = switch_commands_init,
};
