/*
 * The trace on the console after a crash: print/dump.h. See instance/feature.h.
 */
#include "boot.h"
#include "features.h"
#include "print/dump.h"
#include "tracers/function_commands.h"

static const struct trace_boot_param dump_params[] = {
	{ .name = "ftrace_dump_on_oops", .take = trace_dump_set_mode },
	{ .name = NULL },
};

const struct trace_feature trace_feature_dump = {
	.name = "dump",
	.init = trace_dump_init,
	.instance_gone = trace_dump_forget,
	.params = dump_params,
	.commands = trace_dump_commands,
};
