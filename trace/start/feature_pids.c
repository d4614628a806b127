/*
 * Which threads an instance traces: instance/pid_filter.h. See instance/feature.h.
 */
#include <trace/ftrace.h>
#include "features.h"
#include "fs/fs_file.h"
#include "instance/pid_filter.h"

static void pids_exited(int32_t pid, struct trace_thread *thread)
{
	(void)thread;
	trace_pid_filter_thread_exited(pid);
}

/* When tracing is dead sites may go on calling callbacks that use the instance's mask: keep it. */
static void pids_gone(struct trace_array *tr)
{
	if (!ftrace_is_dead())
		trace_pid_filter_release(tr, &trace_function_pids);
}

const struct trace_feature trace_feature_pids = {
	.name = "pids",
	.thread_created = trace_pid_filter_thread_created,
	.thread_exited = pids_exited,
	.instance_gone = pids_gone,
	.files = &trace_pid_files,
};
