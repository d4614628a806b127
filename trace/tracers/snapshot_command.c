/*
 * The command `snapshot` of set_ftrace_filter, the trigger `snapshot` of trace events, and the
 * reactor `snapshot` of monitors. See function_commands.h, events/trigger.h, monitors/monitor.h.
 */
#include <trace/platform.h>
#include <trace/trace.h>
#include "events/event_file.h"
#include "events/trigger_commands.h"
#include "function_commands.h"
#include "instance/array.h"
#include "instance/snapshot.h"
#include "monitors/monitor.h"
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

/* ---- The trigger ---- */

static void trigger_snapshot(struct trace_trigger *trigger, const struct trace_trigger_hit *hit)
{
	if (trace_trigger_take(trigger))
		tracing_snapshot_instance(hit->file->tr);
}

/* The room stays when the trigger goes, as on Linux. */
static int prepare_trigger(struct trace_trigger *trigger)
{
	return trace_snapshot_alloc(trigger->file->tr);
}

/* Behind the record: the event that has caused a snapshot is in it. */
static const struct trace_trigger_command snapshot_triggers[] = {
	{ .name = "snapshot",
	  .place = 20,
	  .kind = "snapshot",
	  .flags = TRACE_TRIGGER_AFTER_RECORD,
	  .func = trigger_snapshot,
	  .prepare = prepare_trigger },
	{ .name = NULL },
};

/* ---- The reactor ---- */

static void react_snapshot(struct trace_array *tr, const struct trace_violation *violation)
{
	(void)violation;
	tracing_snapshot_instance(tr);
}

static const struct trace_reactor snapshot_reactors[] = {
	{ .name = "snapshot", .prepare = trace_snapshot_alloc, .react = react_snapshot },
	{ .name = NULL },
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

const struct trace_feature trace_feature_snapshot = {
	.name = "snapshot",
	.files = &trace_snapshot_files,
	.params = snapshot_params,
	.boot_start = snapshot_boot,
	.boot_finish = snapshot_boot_finish,
	.tracer_changes = trace_snapshot_follow,
	.commands = snapshot_commands,
	.triggers = snapshot_triggers,
	.whys = trace_snapshot_whys,
	.reactors = snapshot_reactors,
};
