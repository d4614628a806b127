/*
 * examples/process with the profile `probes`: what its host calls of the profile `full` becomes what
 * a host of this one calls. See docs/api.md.
 */
#include <trace/fgraph.h>
#include <trace/trace.h>

int trace_init(void)
{
	return 0;
}

void trace_boot_start(void)
{
}

void trace_boot_finish(void)
{
}

int trace_cpu_prepare(uint32_t cpu)
{
	(void)cpu;
	return 0;
}

void trace_thread_created(int32_t parent_pid, int32_t pid, struct trace_thread *thread)
{
	(void)parent_pid;
	(void)pid;
	ftrace_graph_thread_created(thread);
}

void trace_thread_exited(int32_t pid, const char *comm)
{
	(void)pid;
	(void)comm;
	ftrace_graph_thread_exited(trace_plat_current());
}
