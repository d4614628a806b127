/*
 * The command `snapshot` of set_ftrace_filter. See function_commands.h.
 */
#include "function_commands.h"
#include "instance/array.h"
#include "instance/snapshot.h"

static void probe_snapshot(const struct ftrace_probe_hit *hit, const struct ftrace_probe_ops *ops)
{
	if (ftrace_probe_take(hit, ops))
		tracing_snapshot_instance(hit->tr);
}

static int prepare_snapshot(struct trace_array *tr)
{
	int err;

	trace_plat_lock(&trace_config_lock);
	err = trace_snapshot_alloc(tr); /* also gives the buffer its full size */
	trace_plat_unlock(&trace_config_lock);
	return err;
}

struct trace_command trace_snapshot_commands[] = {
	{ TRACE_COMMAND("snapshot", probe_snapshot),
	  TRACE_COMMAND_COUNTED("snapshot", probe_snapshot), .prepare = prepare_snapshot },
	{ .command = { .name = NULL } },
};
