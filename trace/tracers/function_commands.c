/*
 * Setting commands of set_ftrace_filter, and taking them away. See function_commands.h,
 * <trace/ftrace_probe.h>.
 */
#include "function_commands.h"

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

int trace_commands_register(struct trace_command *commands)
{
	int err = 0;

	for (; commands->command.name && !err; commands++) {
		if (!commands->command.func)
			commands->command.func = function_commands_run;
		commands->command.private = commands;
		err = register_ftrace_command(&commands->command);
	}
	return err == -EBUSY ? 0 : err; /* a second trace_init() of a test */
}
