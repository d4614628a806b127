/*
 * Trace events: events/event_file.h. See instance/feature.h.
 */
#include "events/event_call.h"
#include "events/event_file.h"
#include "events/trigger_commands.h"
#include "features.h"
#include "fs/fs_file.h"

const struct trace_feature trace_feature_events = {
	.name = "events",
	.init = trace_event_calls_init,
	.option_changed = trace_events_option_changed,
	.instance_gone = trace_events_array_gone,
	.instance_free = trace_events_array_free,
	.files = &trace_event_files,
	.triggers = trace_event_triggers,
};
