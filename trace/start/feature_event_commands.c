/*
 * The commands of set_ftrace_filter that switch trace events: tracers/event_commands.c. See
 * instance/feature.h.
 */
#include "features.h"
#include "tracers/function_commands.h"

const struct trace_feature trace_feature_event_commands = {
	.name = "event_commands",
	.commands = trace_event_commands,
};
