/*
 * Shadow stacks for all threads: graph/. See feature/feature.h.
 */
#include "feature/feature.h"
#include "fgraph_private.h"

static void fgraph_created(int32_t parent_pid, int32_t pid, struct trace_thread *thread)
{
	(void)parent_pid;
	(void)pid;
	ftrace_graph_thread_created(thread);
}

static void fgraph_exited(int32_t pid, struct trace_thread *thread)
{
	(void)pid;
	ftrace_graph_thread_exited(thread);
}

/* The first in the table, so it is the last that a thread calls at its end: others are traced. */
const struct trace_feature trace_feature_fgraph = {
	.name = "fgraph",
	.thread_created = fgraph_created,
	.thread_exited = fgraph_exited,
};
