/*
 * The commands of set_ftrace_filter: traceon, traceoff, snapshot, stacktrace, dump, cpudump. See
 * <trace/ftrace_probe.h>.
 */
#include <trace/ftrace_probe.h>
#include "function_tracer.h"
#include "instance/array.h"
#include "instance/snapshot.h"
#include "instance/stacktrace.h"
#include "print/dump.h"
#include "text/str.h"

/* ---- What they do: probe context ---- */

/*
 * A count goes down once for each switch, by whichever CPU: who read the count before the switch
 * has the old one, and the exchange lets only one of them take it down.
 */
static void switch_recording(const struct ftrace_probe_hit *hit, const struct ftrace_probe_ops *ops,
			     bool on)
{
	struct ring_buffer *buffer = hit->tr->buffer;
	uint64_t left = atomic_load(hit->data);

	if ((ops->is_counted && !left) || ring_buffer_record_is_set_on(buffer) == on)
		return;
	if (on)
		ring_buffer_record_on(buffer);
	else
		ring_buffer_record_off(buffer);
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

static void probe_snapshot(const struct ftrace_probe_hit *hit, const struct ftrace_probe_ops *ops)
{
	if (ftrace_probe_take(hit, ops))
		tracing_snapshot_instance(hit->tr);
}

static void probe_stacktrace(const struct ftrace_probe_hit *hit, const struct ftrace_probe_ops *ops)
{
	struct ring_buffer *buffer = hit->tr->buffer;

	if (ring_buffer_record_is_set_on(buffer) && ftrace_probe_take(hit, ops))
		trace_stacktrace_callback(buffer, (uintptr_t)__builtin_frame_address(0));
}

static void probe_dump(const struct ftrace_probe_hit *hit, const struct ftrace_probe_ops *ops)
{
	if (ftrace_probe_take(hit, ops))
		trace_dump_later(hit->tr, RING_BUFFER_ALL_CPUS);
}

/* A dump ends recording: until it is switched on again there is nothing new to show. */
static void probe_cpudump(const struct ftrace_probe_hit *hit, const struct ftrace_probe_ops *ops)
{
	(void)ops;
	if (ring_buffer_record_is_set_on(hit->tr->buffer))
		trace_dump_later(hit->tr, (int)trace_plat_cpu_id());
}

/* ---- How they are set: thread context ---- */

struct commands {
	struct ftrace_func_command command;
	struct ftrace_probe_ops unlimited;
	struct ftrace_probe_ops counted;
	uint64_t fixed_count;			/* not 0: this count, whatever was written */
	int (*prepare)(struct trace_array *tr); /* or NULL */
};

/* Events come, though no tracer may have been used yet. */
static int prepare_buffer(struct trace_array *tr)
{
	int err;

	trace_plat_lock(&trace_config_lock);
	err = trace_array_expand(tr);
	trace_plat_unlock(&trace_config_lock);
	return err;
}

static int prepare_snapshot(struct trace_array *tr)
{
	int err;

	trace_plat_lock(&trace_config_lock);
	err = trace_snapshot_alloc(tr); /* this buffer gets its size as well */
	trace_plat_unlock(&trace_config_lock);
	return err;
}

static int parse_count(struct ftrace_command_args *args, uint64_t *out_count)
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

static int remove_probe(struct ftrace_command_args *args, const struct ftrace_probe_ops *ops)
{
	int err = unregister_ftrace_function_probe_func(args->glob + 1, args->tr, ops);

	if (err == -ENODEV)
		args->why = ops->is_counted ? "no such command with a count is set"
					    : "no such command without a count is set";
	else if (err == -EINVAL)
		args->why = "the command is not set for such a function";
	return err;
}

static int set_probe(const struct commands *of, struct ftrace_command_args *args)
{
	bool is_counted = of->fixed_count || (args->param && args->param[0] && of->counted.func);
	uint64_t count = of->fixed_count;
	int err = 0;

	if (is_counted && !count)
		err = parse_count(args, &count);
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

static int run(const struct ftrace_func_command *command, struct ftrace_command_args *args)
{
	const struct commands *of = command->private;
	bool is_counted = of->fixed_count || (args->param && of->counted.func);

	if (!args->enable) {
		args->why = "function commands go into set_ftrace_filter";
		return -EINVAL;
	}
	if (args->glob[0] == '!')
		return remove_probe(args, is_counted ? &of->counted : &of->unlimited);
	return set_probe(of, args);
}

#define COMMAND(word, does)                                                                        \
	.command = { .name = (word), .func = run }, .unlimited = { .name = (word), .func = (does) }
#define COUNTED(word, does) .counted = { .name = (word), .func = (does), .is_counted = true }

static struct commands all_commands[] = {
	{ COMMAND("traceon", probe_traceon), COUNTED("traceon", probe_traceon) },
	{ COMMAND("traceoff", probe_traceoff), COUNTED("traceoff", probe_traceoff) },
	{ COMMAND("snapshot", probe_snapshot), COUNTED("snapshot", probe_snapshot),
	  .prepare = prepare_snapshot },
	{ COMMAND("stacktrace", probe_stacktrace), COUNTED("stacktrace", probe_stacktrace),
	  .prepare = prepare_buffer },
	{ COMMAND("dump", probe_dump), COUNTED("dump", probe_dump), .fixed_count = 1 },
	{ COMMAND("cpudump", probe_cpudump) },
};

int trace_commands_init(void)
{
	int err = 0;

	for (size_t i = 0; i < TRACE_ARRAY_SIZE(all_commands) && !err; i++) {
		all_commands[i].command.private = &all_commands[i];
		err = register_ftrace_command(&all_commands[i].command);
	}
	return err == -EBUSY ? 0 : err; /* a second trace_init() of a test */
}
