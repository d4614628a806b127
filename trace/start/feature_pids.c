/*
 * Threads that come and go, for who traces only some of them: instance/pid_filter.h. See
 * instance/feature.h.
 */
#include "features.h"
#include "instance/pid_filter.h"

static void pids_exited(int32_t pid, struct trace_thread *thread)
{
	(void)thread;
	trace_pid_filter_thread_exited(pid);
}

const struct trace_feature trace_feature_pids = {
	.name = "pids",
	.thread_created = trace_pid_filter_thread_created,
	.thread_exited = pids_exited,
};
