/*
 * The tracer `function_graph`: tracers/graph_tracer.h. See instance/feature.h.
 */
#include <trace/ftrace.h>
#include "features.h"
#include "fs/fs_file.h"
#include "instance/array.h"
#include "tracers/graph_entry.h"
#include "tracers/graph_tracer.h"

static int graph_init(void)
{
	int err = trace_graph_events_init();

	return err ? err : register_tracer(&tracer_function_graph);
}

static void graph_free(struct trace_array *tr)
{
	ftrace_free_filter(&trace_graph_of(tr)->sets);
}

const struct trace_feature trace_feature_graph = {
	.name = "graph",
	.init = graph_init,
	.instance_free = graph_free,
	.files = &trace_graph_files,
};
