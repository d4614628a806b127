/*
 * The commands of set_ftrace_filter: how they are set; and traceon, traceoff, stacktrace. See
 * function_commands.h, <trace/ftrace_probe.h>.
 */
#include "function_commands.h"
#include "instance/array.h"
#include "feature/feature.h"
#include "instance/stacktrace.h"
#include "text/str.h"

/* ---- Running commands: probe context ---- */

/*
 * The count goes down by one for each switch, even if several CPUs come here at once: each has read
 * the count before it looked at the switch, and the compare-exchange lets only one of them succeed.
 */
static void function_switch_recording(const struct ftrace_probe_hit *hit,
				      const struct ftrace_probe_ops *ops, bool on)
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
	function_switch_recording(hit, ops, true);
}

static void probe_traceoff(const struct ftrace_probe_hit *hit, const struct ftrace_probe_ops *ops)
{
	function_switch_recording(hit, ops, false);
}

static void probe_stacktrace(const struct ftrace_probe_hit *hit, const struct ftrace_probe_ops *ops)
{
	struct ring_buffer *buffer = hit->tr->buffer;

	if (ring_buffer_record_is_set_on(buffer) && ftrace_probe_take(hit, ops))
		trace_stacktrace_callback(buffer, (uintptr_t)__builtin_frame_address(0));
}

/* ---- Setting commands: thread context ---- */

/* The probe writes events, so the buffer needs its full size, even if no tracer was used yet. */
static int prepare_buffer(struct trace_array *tr)
{
	int err;

	trace_plat_lock(&trace_config_lock);
	err = trace_array_expand(tr);
	trace_plat_unlock(&trace_config_lock);
	return err;
}

static int function_commands_parse_count(struct ftrace_command_args *args, uint64_t *out_count)
{
	int err = trace_parse_u64(args->param, 0, out_count);

	if (!err && *out_count > INT64_MAX)
		err = -ERANGE;
	if (err) {
		args->why = err == -ERANGE ? "count is too large" : "count is not a number";
		args->where = args->param;
	}
	return err;
}

static int function_commands_remove_probe(struct ftrace_command_args *args,
					  const struct ftrace_probe_ops *ops)
{
	int err = unregister_ftrace_function_probe_func(args->glob + 1, args->tr, ops);

	if (err == -ENODEV)
		args->why = ops->is_counted ? "no such command with a count is set"
					    : "no such command without a count is set";
	else if (err == -EINVAL)
		args->why = "the command is not set for such a function";
	return err;
}

static int set_probe(const struct trace_command *of, struct ftrace_command_args *args)
{
	bool is_counted = of->fixed_count || (args->param && args->param[0] && of->counted.func);
	uint64_t count = of->fixed_count;
	int err = 0;

	if (is_counted && !count)
		err = function_commands_parse_count(args, &count);
	if (!err && of->prepare)
		err = of->prepare(args->tr);
	if (err)
		return err;
	err = register_ftrace_function_probe(args->glob, args->tr,
					     is_counted ? &of->counted : &of->unlimited, count);
	if (err == -EINVAL)
		args->why = "no function matches that has not got the command";
	return err;
}

static int function_commands_run(const struct ftrace_func_command *command,
				 struct ftrace_command_args *args)
{
	const struct trace_command *of = command->private;
	bool is_counted;

	if (!args->enable) {
		args->why = "function commands go into set_ftrace_filter";
		return -EINVAL;
	}
	is_counted = of->fixed_count || (of->counted.func && trace_command_has_count(args->param));
	if (args->glob[0] == '!')
		return function_commands_remove_probe(args,
						      is_counted ? &of->counted : &of->unlimited);
	return set_probe(of, args);
}

static struct trace_command own_commands[] = {
	{ TRACE_COMMAND("traceon", probe_traceon),
	  TRACE_COMMAND_COUNTED("traceon", probe_traceon) },
	{ TRACE_COMMAND("traceoff", probe_traceoff),
	  TRACE_COMMAND_COUNTED("traceoff", probe_traceoff) },
	{ TRACE_COMMAND("stacktrace", probe_stacktrace),
	  TRACE_COMMAND_COUNTED("stacktrace", probe_stacktrace), .prepare = prepare_buffer },
	{ .command = { .name = NULL } },
};

static int make_known(struct trace_command *commands)
{
	int err = 0;

	for (; commands && commands->command.name && !err; commands++) {
		if (!commands->command.func)
			commands->command.func = function_commands_run;
		commands->command.private = commands;
		err = register_ftrace_command(&commands->command);
	}
	return err == -EBUSY ? 0 : err; /* a second trace_init() of a test */
}

/* Register the commands of all features. 0 or -errno. */
static int function_commands_init(void)
{
	int err = make_known(own_commands);

	for (const struct trace_feature *const *at = trace_features; *at && !err; at++)
		err = make_known((*at)->commands);
	return err;
}

/* ---- The feature ---- */

const struct trace_feature trace_feature_commands = {
	.name = "commands",
	.init = function_commands_init,
};
