/*
 * `bench`: what a call costs while a tracer of tracefs records it.
 *
 * Context: thread.
 */
#include <kernel/command.h>
#include "bench.h"
#include "bench_private.h"

/* A tracer of the global instance on the target alone; `*out_bytes_milli` in an event of it. */
static int bench_measure_tracer(const char *tracer, bool on, uint64_t *out_milli,
				uint64_t *out_bytes_milli)
{
	int err = bench_write_file("set_ftrace_filter", BENCH_TARGET "\n");

	if (!err)
		err = bench_write_file("current_tracer", tracer);
	if (!err) {
		bench_write_file("trace", "");
		if (!on)
			bench_write_file("tracing_on", "0\n");
		*out_milli = bench_measure_above(bench_loop_target, bench_loop_untraced);
		bench_write_file("tracing_on", "0\n");
		*out_bytes_milli = bench_bytes_per_event_milli();
	}
	bench_write_file("current_tracer", "nop\n");
	bench_write_file("tracing_on", "1\n");
	bench_write_file("set_ftrace_filter", "");
	return err;
}

/* With the shell's command above it: about ten callers, as usual. */
static int bench_func_stack(struct command_env *env, const char *name)
{
	int err = bench_write_file("set_ftrace_filter", BENCH_TARGET "\n");

	if (!err)
		err = bench_write_file("current_tracer", "function\n");
	if (!err)
		err = bench_write_file("trace_options", "func_stack_trace\n");
	if (!err)
		bench_print(env, name, bench_measure_above(bench_loop_target, bench_loop_untraced),
			    "instructions");
	bench_write_file("trace_options", "nofunc_stack_trace\n");
	bench_write_file("current_tracer", "nop\n");
	bench_write_file("set_ftrace_filter", "");
	return err;
}

static int bench_func_event(struct command_env *env, const char *name)
{
	uint64_t milli = 0, bytes = 0;
	int err = bench_measure_tracer("function\n", true, &milli, &bytes);

	if (err)
		return err;
	bench_print(env, name, milli, "instructions");
	bench_print(env, "func_event_bytes", bytes, "bytes");
	return 0;
}

/* An entry and an exit: two events. */
static int bench_graph_pair(struct command_env *env, const char *name)
{
	uint64_t milli = 0, bytes = 0;
	int err = bench_measure_tracer("function_graph\n", true, &milli, &bytes);

	if (err)
		return err;
	bench_print(env, name, milli, "instructions");
	bench_print(env, "graph_bytes", 2 * bytes, "bytes");
	return 0;
}

static int bench_profile(struct command_env *env, const char *name)
{
	int err = bench_write_file("set_ftrace_filter", BENCH_TARGET "\n");

	if (!err)
		err = bench_write_file("function_profile_enabled", "1\n");
	if (!err)
		bench_print(env, name, bench_measure_above(bench_loop_target, bench_loop_untraced),
			    "instructions");
	bench_write_file("function_profile_enabled", "0\n");
	bench_write_file("set_ftrace_filter", "");
	return err;
}

static int bench_graph_off(struct command_env *env, const char *name)
{
	uint64_t milli = 0, bytes = 0;
	int err = bench_measure_tracer("function_graph\n", false, &milli, &bytes);

	if (!err)
		bench_print(env, name, milli, "instructions");
	return err;
}

/* The function tracer, for threads that do not include this one. */
static int bench_func_pid_miss(struct command_env *env, const char *name)
{
	uint64_t milli = 0, bytes = 0;
	int err = bench_write_file("set_ftrace_pid", "1000000\n");

	if (!err)
		err = bench_measure_tracer("function\n", true, &milli, &bytes);
	bench_write_file("set_ftrace_pid", "");
	if (!err)
		bench_print(env, name, milli, "instructions");
	return err;
}

const struct bench bench_tracer_rows[] = {
	{ "func_event", bench_func_event },
	{ "func_stack", bench_func_stack },
	{ "graph_pair", bench_graph_pair },
	{ "graph_off", bench_graph_off },
	{ "func_pid_miss", bench_func_pid_miss },
	{ "profile", bench_profile },
	{},
};
