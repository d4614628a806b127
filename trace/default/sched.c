/*
 * Defaults: nothing is known about the running thread but the name that its number has.
 */
#include <trace/host_tracepoints.h>
#include <trace/platform.h>
#include "text/str.h"

#define UNKNOWN "<...>"

TRACE_DEFAULT void trace_plat_current_sched(struct trace_sched_thread *out_thread)
{
	*out_thread = (struct trace_sched_thread){
		.thread = trace_plat_current(),
		.comm = UNKNOWN,
		.pid = trace_plat_current_pid(),
		.prio = TRACE_PRIO_NORMAL,
		.state = 'R',
		.cpu = trace_plat_cpu_id(),
	};
}

TRACE_DEFAULT void trace_plat_current_comm(char *out_comm)
{
	if (!trace_plat_thread_comm(trace_plat_current_pid(), false, out_comm))
		trace_strcpy(out_comm, UNKNOWN, TRACE_COMM_LEN);
}
