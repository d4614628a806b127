/*
 * The files of tracefs about function_graph: which functions, how deep. See fs_file.h,
 * tracers/graph_tracer.h.
 */
#include "fs/fs_functions.h"
#include "instance/array.h"
#include "text/str.h"
#include "graph_tracer.h"

#define NUMBER_MAX 64u

/* Printed as a signed number, as on Linux: UINT32_MAX is shown as -1. */
static int max_depth_show(struct trace_handle *handle, struct trace_seq *seq)
{
	trace_seq_printf(seq, "%d\n", (int)trace_graph_of(handle->tr)->max_depth);
	return 0;
}

static int max_depth_store(struct trace_handle *handle, char *text)
{
	uint64_t value;
	int err = trace_handle_number(handle, text, &value);

	if (!err && value > UINT32_MAX) {
		trace_handle_blame(handle, text, "the number is too large");
		err = -ERANGE;
	}
	if (err)
		return err;
	trace_plat_lock(&trace_config_lock);
	trace_graph_of(handle->tr)->max_depth = (uint32_t)value;
	trace_function_graph_update(handle->tr);
	trace_plat_unlock(&trace_config_lock);
	return 0;
}

static const struct trace_file max_depth_file = {
	.name = "max_graph_depth",
	.mode = TRACE_MODE_WRITE,
	.show = max_depth_show,
	.store = max_depth_store,
	.store_max = NUMBER_MAX,
};

static struct ftrace_ops *graph_sets(struct trace_array *tr)
{
	return &trace_graph_of(tr)->sets;
}

static const struct trace_functions_source graph_filter = {
	.list = FTRACE_LIST_FILTER,
	.ops = graph_sets,
	.is_set = true,
	.changed = trace_function_graph_update,
};

static const struct trace_functions_source graph_notrace = {
	.list = FTRACE_LIST_NOTRACE,
	.ops = graph_sets,
	.is_set = true,
	.changed = trace_function_graph_update,
};

static const struct trace_file graph_function_file = {
	.name = "set_graph_function",
	.mode = TRACE_MODE_WRITE,
	TRACE_FUNCTIONS_FILTER(graph_filter),
};

static const struct trace_file graph_notrace_file = {
	.name = "set_graph_notrace",
	.mode = TRACE_MODE_WRITE,
	TRACE_FUNCTIONS_FILTER(graph_notrace),
};

static const struct trace_file *const graph_files[] = {
	&graph_function_file,
	&graph_notrace_file,
	&max_depth_file,
};

const struct trace_file_table trace_graph_files = { .files = graph_files,
						    .nr = TRACE_ARRAY_SIZE(graph_files) };
