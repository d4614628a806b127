/*
 * The commands of set_ftrace_filter: tracers/function_commands.c. See instance/feature.h.
 */
#include "features.h"
#include "tracers/function_commands.h"

const struct trace_feature trace_feature_commands = {
	.name = "commands",
	.init = trace_commands_init,
};
