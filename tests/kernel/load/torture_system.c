/*
 * The global trace during a `torture`: one setting after another changes, at random, while the
 * workers run: tracers, filters, function commands, options, sizes, snapshots, thread filters, the
 * stack tracer. Nothing is counted here, for tracing goes on and off and buffers are emptied: what
 * the others count must not suffer.
 */
#include <kernel/string.h>
#include <trace/errno.h>
#include <trace/fmt.h>
#include "torture.h"

struct setting {
	const char *path;
	const char *text;
	uint32_t vfs_flags;
};

#define ADD   VFS_APPEND
#define FRESH VFS_TRUNCATE
#define STACK "/proc/sys/kernel/stack_tracer_enabled"

static const struct setting settings[] = {
	{ "current_tracer", "function\n", 0 },
	{ "current_tracer", "function_graph\n", 0 },
	{ "current_tracer", "irqsoff\n", 0 },
	{ "current_tracer", "preemptoff\n", 0 },
	{ "current_tracer", "preemptirqsoff\n", 0 },
	{ "current_tracer", "wakeup\n", 0 },
	{ "current_tracer", "wakeup_rt\n", 0 },
	{ "current_tracer", "nop\n", 0 },
	{ "tracing_max_latency", "0\n", 0 },
	{ "set_ftrace_filter", "target_* torture_helper\n", FRESH },
	{ "set_ftrace_filter", "*sched* target_*\n", FRESH }, /* targets always: torture_profile */
	{ "set_ftrace_filter", "", FRESH },
	{ "set_ftrace_notrace", "*lock*\n", FRESH },
	{ "set_ftrace_notrace", "", FRESH },
	{ "set_ftrace_filter", "target_leaf:traceoff:3\n", ADD },
	{ "set_ftrace_filter", "target_leaf:traceon:3\n", ADD },
	{ "set_ftrace_filter", "target_loop:snapshot:2\n", ADD },
	{ "set_ftrace_filter", "target_*:stacktrace:5\n", ADD },
	{ "set_ftrace_filter", "!target_leaf:traceoff:0\n", ADD },
	{ "set_ftrace_filter", "!target_leaf:traceon:0\n", ADD },
	{ "set_ftrace_filter", "!target_loop:snapshot:0\n", ADD },
	{ "set_ftrace_filter", "!target_*:stacktrace:0\n", ADD },
	{ "set_graph_function", "target_call\n", FRESH },
	{ "set_graph_function", "", FRESH },
	{ "set_graph_notrace", "torture_helper\n", FRESH },
	{ "set_graph_notrace", "", FRESH },
	{ "max_graph_depth", "2\n", 0 },
	{ "max_graph_depth", "0\n", 0 },
	{ "set_ftrace_pid", "1\n", FRESH },
	{ "set_ftrace_pid", "", FRESH },
	{ "set_ftrace_notrace_pid", "1\n", FRESH },
	{ "set_ftrace_notrace_pid", "", FRESH },
	{ "buffer_size_kb", "100\n", 0 },
	{ "buffer_size_kb", "300\n", 0 },
	{ "buffer_subbuf_size_kb", "8\n", 0 },
	{ "buffer_subbuf_size_kb", "4\n", 0 },
	{ "snapshot", "1\n", 0 },
	{ "snapshot", "0\n", 0 },
	{ "tracing_on", "0\n", 0 },
	{ "tracing_on", "1\n", 0 },
	{ "trace", "", FRESH },
	{ "trace_clock", "counter\n", 0 },
	{ "trace_clock", "global\n", 0 },
	{ "trace_clock", "local\n", 0 },
	{ "trace_options", "func_stack_trace\n", 0 },
	{ "trace_options", "nofunc_stack_trace\n", 0 },
	{ "trace_options", "func-no-repeats\n", 0 },
	{ "trace_options", "nofunc-no-repeats\n", 0 },
	{ "trace_options", "funcgraph-retval\n", 0 },
	{ "trace_options", "nofuncgraph-retval\n", 0 },
	{ "trace_options", "nosleep-time\n", 0 },
	{ "trace_options", "sleep-time\n", 0 },
	{ "trace_options", "graph-time\n", 0 },
	{ "trace_options", "nograph-time\n", 0 },
	{ "trace_options", "funcgraph-retaddr\n", 0 },
	{ "trace_options", "nofuncgraph-retaddr\n", 0 },
	{ "trace_options", "pause-on-trace\n", 0 },
	{ "trace_options", "nopause-on-trace\n", 0 },
	{ "trace_options", "nooverwrite\n", 0 },
	{ "trace_options", "overwrite\n", 0 },
	{ "trace_options", "norecord-cmd\n", 0 },
	{ "trace_options", "record-cmd\n", 0 },
	{ "trace_options", "display-graph\n", 0 },
	{ "trace_options", "nodisplay-graph\n", 0 },
	{ "trace_options", "nofuncgraph-irqs\n", 0 },
	{ "trace_options", "funcgraph-irqs\n", 0 },
	{ "trace_options", "function-fork\n", 0 },
	{ "trace_options", "nofunction-fork\n", 0 },
	{ STACK, "1\n", 0 },
	{ STACK, "0\n", 0 },
};

/* Memory that is allocated once and kept, when tracer and option come together. */
static const struct setting lasting_settings[] = {
	{ "current_tracer", "function\n", 0 },
	{ "trace_options", "func-no-repeats\n", 0 },
	{ "trace_options", "nofunc-no-repeats\n", 0 },
	{ "current_tracer", "nop\n", 0 },
};

/* Settings that are as they were, when all have been applied in this order. */
static const struct setting first_settings[] = {
	{ "current_tracer", "nop\n", 0 },
	{ STACK, "0\n", 0 },
	{ "set_ftrace_filter", "!*:traceoff:0\n", ADD },
	{ "set_ftrace_filter", "!*:traceon:0\n", ADD },
	{ "set_ftrace_filter", "!*:snapshot:0\n", ADD },
	{ "set_ftrace_filter", "!*:stacktrace:0\n", ADD },
	{ "set_ftrace_filter", "", FRESH },
	{ "set_ftrace_notrace", "", FRESH },
	{ "set_graph_function", "", FRESH },
	{ "set_graph_notrace", "", FRESH },
	{ "max_graph_depth", "0\n", 0 },
	{ "tracing_thresh", "0\n", 0 },
	{ "set_ftrace_pid", "", FRESH },
	{ "set_ftrace_notrace_pid", "", FRESH },
	{ "snapshot", "0\n", 0 },
	{ "buffer_subbuf_size_kb", "4\n", 0 },
	{ "buffer_size_kb", "1408\n", 0 },
	{ "trace_options", "nofunction-fork\n", 0 },
	{ "trace_options", "nodisplay-graph\n", 0 },
	{ "trace_options", "sleep-time\n", 0 },
	{ "trace_options", "funcgraph-irqs\n", 0 },
	{ "trace_options", "nofuncgraph-retval\n", 0 },
	{ "trace_options", "nofuncgraph-retaddr\n", 0 },
	{ "trace_options", "nofunc_stack_trace\n", 0 },
	{ "trace_options", "nofunc-no-repeats\n", 0 },
	{ "trace_options", "graph-time\n", 0 },
	{ "trace_options", "nopause-on-trace\n", 0 },
	{ "trace_options", "overwrite\n", 0 },
	{ "trace_options", "record-cmd\n", 0 },
	{ "trace_clock", "local\n", 0 },
	{ "tracing_on", "1\n", 0 },
	{ "trace", "", FRESH },
};

/*
 * Settings exclude each other, and some are of tracers that this moment's is not: such a write is
 * refused, and changes nothing. Anything else is an error.
 */
static int torture_system_apply(const struct setting *setting)
{
	int err = torture_write(setting->path, setting->text, setting->vfs_flags);

	if (err == -EBUSY || err == -EINVAL || err == -ENOENT)
		return 0;
	return err == -ENODEV && setting->text[0] == '!' ? 0 : err; /* no such command is set */
}

static int torture_system_apply_all(const struct setting *all, size_t nr)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++)
		err = torture_system_apply(&all[i]);
	return err;
}

/* At first each once: what they allocate for good is there then. */
static int torture_system_start(void)
{
	static bool was_applied;
	int err = 0;

	if (!was_applied)
		err = torture_system_apply_all(lasting_settings, ARRAY_SIZE(lasting_settings));
	if (!was_applied && !err)
		err = torture_system_apply_all(settings, ARRAY_SIZE(settings));
	was_applied = true;
	return err;
}

static int torture_system_change(void)
{
	return torture_system_apply(&settings[torture_pick(ARRAY_SIZE(settings))]);
}

static int torture_system_stop(void)
{
	return torture_system_apply_all(first_settings, ARRAY_SIZE(first_settings));
}

const struct torture_user torture_system = {
	.start = torture_system_start,
	.change = torture_system_change,
	.stop = torture_system_stop,
};
