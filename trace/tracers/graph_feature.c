/*
 * The tracer `function_graph`: tracers/graph_tracer.h. See feature/feature.h.
 */
#include <trace/ftrace.h>
#include "feature/boot.h"
#include "feature/feature.h"
#include "fs/fs_file.h"
#include "instance/array.h"
#include "text/str.h"
#include "graph_entry.h"
#include "graph_tracer.h"
#include "tracer_why.h"

static struct trace_files graph_file_entry = { .table = &trace_graph_files };
static struct trace_whys graph_whys = { .checks = trace_graph_whys };

static int graph_init(void)
{
	int err = trace_graph_events_init();

	trace_files_register(&graph_file_entry);
	trace_whys_register(&graph_whys);
	return err ? err : register_tracer(&tracer_function_graph);
}

static void graph_free(struct trace_array *tr)
{
	ftrace_free_filter(&trace_graph_of(tr)->sets);
}

static struct {
	char filter[TRACE_BOOT_PARAM_MAX];
	char notrace[TRACE_BOOT_PARAM_MAX];
	char max_depth[32];
} graph_words;

static const struct trace_boot_param graph_params[] = {
	{ .name = "ftrace_graph_filter",
	  .text = graph_words.filter,
	  .size = sizeof(graph_words.filter) },
	{ .name = "ftrace_graph_notrace",
	  .text = graph_words.notrace,
	  .size = sizeof(graph_words.notrace) },
	{ .name = "ftrace_graph_max_depth",
	  .text = graph_words.max_depth,
	  .size = sizeof(graph_words.max_depth) },
	{ .name = NULL },
};

static int graph_add_function(const char *buf, size_t len, bool reset)
{
	return ftrace_set_filter(&trace_graph_of(trace_global_array())->sets, buf, len, reset);
}

static int graph_add_notrace(const char *buf, size_t len, bool reset)
{
	return ftrace_set_notrace(&trace_graph_of(trace_global_array())->sets, buf, len, reset);
}

static void graph_set_depth(struct trace_array *tr)
{
	uint64_t depth;

	if (trace_parse_u64(graph_words.max_depth, 0, &depth) || depth > UINT32_MAX)
		trace_plat_log("trace: ftrace_graph_max_depth=%s is no depth",
			       graph_words.max_depth);
	else
		trace_graph_of(tr)->max_depth = (uint32_t)depth;
}

static void graph_boot(struct trace_array *tr)
{
	trace_boot_set_filters(graph_words.filter, "ftrace_graph_filter", graph_add_function);
	trace_boot_set_filters(graph_words.notrace, "ftrace_graph_notrace", graph_add_notrace);
	if (graph_words.max_depth[0])
		graph_set_depth(tr);
}

const struct trace_feature trace_feature_graph = {
	.name = "graph",
	.init = graph_init,
	.instance_free = graph_free,
	.params = graph_params,
	.boot_start = graph_boot,
};
