/*
 * The trigger `snapshot`: the buffer is swapped with its snapshot when the event occurs. See trigger.h,
 * instance/snapshot.h.
 */
#include <trace/trace.h>
#include "event_file.h"
#include "trigger.h"
#include "feature/feature.h"
#include "instance/snapshot.h"

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

/* ---- The feature ---- */

static struct trace_triggers snapshot_trigger_entry = { .commands = snapshot_triggers };

static int trigger_snapshot_init(void)
{
	trace_triggers_register(&snapshot_trigger_entry);
	return 0;
}

const struct trace_feature trace_feature_trigger_snapshot = {
	.name = "trigger_snapshot",
	.init = trigger_snapshot_init,
};
