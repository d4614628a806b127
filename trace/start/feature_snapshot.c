/*
 * The second buffer, and what was recorded in it: instance/snapshot.h. See instance/feature.h.
 */
#include <trace/platform.h>
#include <trace/trace.h>
#include "boot.h"
#include "events/trigger_commands.h"
#include "features.h"
#include "fs/fs_file.h"
#include "instance/snapshot.h"
#include "instance/why.h"
#include "monitors/monitor.h"
#include "tracers/function_commands.h"

static bool wants_room, wants_snapshot_of_boot;

static void snapshot_take_alloc(const char *value)
{
	(void)value;
	wants_room = true;
}

static void snapshot_take_boot(const char *value)
{
	(void)value;
	wants_room = wants_snapshot_of_boot = true;
}

static const struct trace_boot_param snapshot_params[] = {
	{ .name = "alloc_snapshot", .take = snapshot_take_alloc },
	{ .name = "ftrace_boot_snapshot", .take = snapshot_take_boot },
	{ .name = NULL },
};

static void snapshot_boot(struct trace_array *tr)
{
	(void)tr;
	if (wants_room && tracing_alloc_snapshot())
		trace_plat_log("trace: alloc_snapshot: no memory");
}

static void snapshot_boot_finish(void)
{
	if (wants_snapshot_of_boot)
		tracing_snapshot();
}

const struct trace_feature trace_feature_snapshot = {
	.name = "snapshot",
	.files = &trace_snapshot_files,
	.params = snapshot_params,
	.boot_start = snapshot_boot,
	.boot_finish = snapshot_boot_finish,
	.tracer_changes = trace_snapshot_follow,
	.commands = trace_snapshot_commands,
	.triggers = trace_snapshot_triggers,
	.whys = trace_snapshot_whys,
	.reactors = trace_snapshot_reactors,
};
