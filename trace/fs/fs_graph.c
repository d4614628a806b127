/*
 * The files of tracefs about function_graph: which functions, how deep. See fs_file.h,
 * tracers/graph_tracer.h.
 */
#include "fs_file.h"
#include "instance/array.h"
#include "text/str.h"
#include "tracers/graph_tracer.h"

#define NUMBER_MAX 64u

/* Signed, as Linux prints it: the largest number is -1. */
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
	function_graph_update(handle->tr);
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

static const struct trace_file *const files[] = {
	&trace_graph_function_file,
	&trace_graph_notrace_file,
	&max_depth_file,
};

const struct trace_file_table trace_graph_files = { files, TRACE_ARRAY_SIZE(files) };
