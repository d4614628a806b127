/*
 * Default: nothing is known about the running thread.
 */
#include <trace/host_tracepoints.h>
#include <trace/platform.h>

TRACE_DEFAULT void trace_plat_current_sched(struct trace_sched_thread *out_thread)
{
	*out_thread = (struct trace_sched_thread){
		.thread = trace_plat_current(),
		.comm = "<...>",
		.pid = trace_plat_current_pid(),
		.prio = TRACE_PRIO_NORMAL,
		.state = 'R',
		.cpu = trace_plat_cpu_id(),
	};
}
