/*
 * Sets of threads whose functions an instance traces: instance/pid_filter.h. See
 * instance/feature.h.
 */
#include <trace/ftrace.h>
#include "features.h"
#include "fs/fs_file.h"
#include "instance/pid_filter.h"

/* When tracing is dead sites may go on calling callbacks that use the instance's mask: keep it. */
static void function_pids_gone(struct trace_array *tr)
{
	if (!ftrace_is_dead())
		trace_pid_filter_release(tr, &trace_function_pids);
}

const struct trace_feature trace_feature_function_pids = {
	.name = "function_pids",
	.instance_gone = function_pids_gone,
	.files = &trace_function_pid_files,
};
