/*
 * Snapshots: the file, boot parameters, and the command `snapshot` of set_ftrace_filter. See
 * instance/snapshot.h, function_commands.h.
 */
#include <trace/platform.h>
#include <trace/trace.h>
#include "function_commands.h"
#include "instance/array.h"
#include "instance/snapshot.h"
#include "feature/boot.h"
#include "feature/feature.h"
#include "fs/fs_file.h"
#include "instance/why.h"

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

static struct trace_command snapshot_commands[] = {
	{ TRACE_COMMAND("snapshot", probe_snapshot),
	  TRACE_COMMAND_COUNTED("snapshot", probe_snapshot), .prepare = prepare_snapshot },
	{ .command = { .name = NULL } },
};

/* ---- The feature ---- */

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

static struct trace_files snapshot_file_entry = { .table = &trace_snapshot_files };
static struct trace_whys snapshot_whys = { .checks = trace_snapshot_whys };

static int snapshot_init(void)
{
	trace_files_register(&snapshot_file_entry);
	trace_whys_register(&snapshot_whys);
	return trace_commands_register(snapshot_commands);
}

const struct trace_feature trace_feature_snapshot = {
	.name = "snapshot",
	.init = snapshot_init,
	.params = snapshot_params,
	.boot_start = snapshot_boot,
	.boot_finish = snapshot_boot_finish,
	.tracer_changes = trace_snapshot_follow,
};
