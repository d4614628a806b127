/*
 * The files of tracefs about call sites: lists of functions, filters. See fs_file.h and
 * <trace/ftrace_files.h>, which does the work.
 */
#include <trace/fmt.h>
#include <trace/ftrace_files.h>
#include "fs_file.h"
#include "instance/array.h"
#include "instance/error_log.h"
#include "text/str.h"
#include "tracers/graph_tracer.h"
#include "tracers/stack_tracer.h"

#define COMMAND_MAX 256u

struct functions_handle {
	struct ftrace_iter iter;
	struct ftrace_edit *edit;
};

/* What a file lists, and whose: its `about`. */
struct functions_source {
	enum ftrace_list list;
	struct ftrace_ops *(*ops)(struct trace_array *tr);
};

static struct ftrace_ops *tracer_ops(struct trace_array *tr)
{
	return tr->ops;
}

/* No ops that calls anything, only its two sets. */
static struct ftrace_ops *graph_sets(struct trace_array *tr)
{
	return &trace_graph_of(tr)->sets;
}

static struct ftrace_ops *stack_tracers_ops(struct trace_array *tr)
{
	(void)tr;
	return &stack_tracer_ops;
}

static const struct functions_source *source_of(const struct trace_handle *handle)
{
	return handle->node->file->about;
}

static void functions_rewind(struct trace_handle *handle)
{
	const struct functions_source *source = source_of(handle);
	struct functions_handle *own = handle->private;

	ftrace_iter_start(&own->iter, source->list, source->ops(handle->tr));
	if (source->list == FTRACE_LIST_FILTER && source->ops == tracer_ops)
		own->iter.tr = handle->tr;
}

static int functions_open(struct trace_handle *handle)
{
	handle->private_bytes = sizeof(struct functions_handle);
	handle->private = trace_plat_alloc(handle->private_bytes);
	if (!handle->private)
		return -ENOMEM;
	functions_rewind(handle);
	return 0;
}

static int functions_close(struct trace_handle *handle)
{
	trace_plat_free(handle->private, handle->private_bytes);
	return 0;
}

static int functions_next(struct trace_handle *handle, struct trace_seq *seq)
{
	struct functions_handle *own = handle->private;

	seq->len = ftrace_iter_next(&own->iter, seq->buf);
	return seq->len ? 1 : 0;
}

/* ---- Filters: a word at a time, in effect when the file is closed ---- */

static int filter_open(struct trace_handle *handle)
{
	const struct functions_source *source = source_of(handle);
	bool is_set = source->ops == graph_sets, truncate = handle->flags & TRACE_FS_TRUNC;
	struct functions_handle *own;
	int err = functions_open(handle);

	if (err || !(handle->flags & TRACE_FS_WRITE))
		return err;
	own = handle->private;
	err = (is_set ? ftrace_edit_open_set : ftrace_edit_open)(
		source->ops(handle->tr), source->list == FTRACE_LIST_NOTRACE, truncate, &own->edit);
	if (err)
		functions_close(handle);
	else if (source->ops == tracer_ops)
		ftrace_edit_allow_commands(own->edit, handle->tr);
	return err;
}

/* Point at the word: it is the first of the text, which may begin with blanks. */
static void report(struct trace_handle *handle, const char *buf, size_t len)
{
	struct functions_handle *own = handle->private;
	char command[COMMAND_MAX];
	size_t pos = 0;

	if (len > sizeof(command) - 1)
		len = sizeof(command) - 1;
	memcpy(command, buf, len);
	command[len] = '\0';
	while (pos < len && trace_is_space(command[pos]))
		pos++;
	trace_error_log(handle->tr, handle->node->name, ftrace_edit_why(own->edit), command,
			pos + ftrace_edit_why_pos(own->edit));
}

static int64_t filter_write(struct trace_handle *handle, const char *buf, size_t len)
{
	struct functions_handle *own = handle->private;
	int64_t taken = ftrace_edit_write(own->edit, buf, len);

	if (taken == -EINVAL || (taken < 0 && ftrace_edit_why(own->edit)[0]))
		report(handle, buf, len);
	return taken;
}

static int filter_close(struct trace_handle *handle)
{
	bool is_set = source_of(handle)->ops == graph_sets;
	struct functions_handle *own = handle->private;
	int err = own->edit ? ftrace_edit_close(own->edit) : 0;

	if (own->edit && is_set) {
		trace_plat_lock(&trace_config_lock);
		function_graph_update(handle->tr);
		trace_plat_unlock(&trace_config_lock);
	}
	functions_close(handle);
	return err;
}

/* ---- dyn_ftrace_total_info ---- */

static int total_info_show(struct trace_handle *handle, struct trace_seq *seq)
{
	(void)handle;
	seq->len = ftrace_total_info(seq->buf, seq->size);
	return 0;
}

static const struct trace_file total_info_file = {
	.name = "dyn_ftrace_total_info",
	.mode = TRACE_MODE_READ,
	.root_only = true,
	.show = total_info_show,
};

static const struct trace_file available_file = {
	.name = "available_filter_functions",
	.mode = TRACE_MODE_READ,
	.about = &(const struct functions_source){ FTRACE_LIST_AVAILABLE, tracer_ops },
	.root_only = true,
	.open = functions_open,
	.next = functions_next,
	.rewind = functions_rewind,
	.close = functions_close,
};

static const struct trace_file addrs_file = {
	.name = "available_filter_functions_addrs",
	.mode = TRACE_MODE_READ,
	.about = &(const struct functions_source){ FTRACE_LIST_ADDRS, tracer_ops },
	.root_only = true,
	.open = functions_open,
	.next = functions_next,
	.rewind = functions_rewind,
	.close = functions_close,
};

static const struct trace_file enabled_file = {
	.name = "enabled_functions",
	.mode = TRACE_MODE_READ,
	.about = &(const struct functions_source){ FTRACE_LIST_ENABLED, tracer_ops },
	.root_only = true,
	.open = functions_open,
	.next = functions_next,
	.rewind = functions_rewind,
	.close = functions_close,
};

static const struct trace_file filter_file = {
	.name = "set_ftrace_filter",
	.mode = TRACE_MODE_WRITE,
	.about = &(const struct functions_source){ FTRACE_LIST_FILTER, tracer_ops },
	.open = filter_open,
	.next = functions_next,
	.rewind = functions_rewind,
	.write = filter_write,
	.close = filter_close,
};

static const struct trace_file notrace_file = {
	.name = "set_ftrace_notrace",
	.mode = TRACE_MODE_WRITE,
	.about = &(const struct functions_source){ FTRACE_LIST_NOTRACE, tracer_ops },
	.open = filter_open,
	.next = functions_next,
	.rewind = functions_rewind,
	.write = filter_write,
	.close = filter_close,
};

const struct trace_file trace_graph_function_file = {
	.name = "set_graph_function",
	.mode = TRACE_MODE_WRITE,
	.about = &(const struct functions_source){ FTRACE_LIST_FILTER, graph_sets },
	.open = filter_open,
	.next = functions_next,
	.rewind = functions_rewind,
	.write = filter_write,
	.close = filter_close,
};

const struct trace_file trace_graph_notrace_file = {
	.name = "set_graph_notrace",
	.mode = TRACE_MODE_WRITE,
	.about = &(const struct functions_source){ FTRACE_LIST_NOTRACE, graph_sets },
	.open = filter_open,
	.next = functions_next,
	.rewind = functions_rewind,
	.write = filter_write,
	.close = filter_close,
};

static const struct trace_file stack_filter_file = {
	.name = "stack_trace_filter",
	.mode = TRACE_MODE_WRITE,
	.about = &(const struct functions_source){ FTRACE_LIST_FILTER, stack_tracers_ops },
	.root_only = true,
	.open = filter_open,
	.next = functions_next,
	.rewind = functions_rewind,
	.write = filter_write,
	.close = filter_close,
};

static const struct trace_file *const files[] = {
	&available_file, &addrs_file,	   &enabled_file,      &filter_file,
	&notrace_file,	 &total_info_file, &stack_filter_file,
};

const struct trace_file_table trace_function_files = { files, TRACE_ARRAY_SIZE(files) };
