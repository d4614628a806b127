/*
 * The files `filter`: of a trace event, and of a system. See fs_file.h, events/event_filter.h.
 */
#include "event_filter.h"
#include "fs/fs_file.h"
#include "text/str.h"

#define FILTER_MAX 4095u /* as on Linux */
#define LOG_NAME   "event filter parse error"

static struct trace_event_call *event_filter_file_call_of(const struct trace_handle *handle)
{
	return ((const struct trace_event *)(uintptr_t)handle->node->arg)->call;
}

/* Cut white space off the end; what is in front stays, as positions count from there. */
static void strip_end(char *text)
{
	(void)trace_strip(text);
}

static int filter_show(struct trace_handle *handle, struct trace_seq *seq)
{
	trace_plat_lock(&trace_config_lock);
	trace_event_filter_show(
		trace_event_file_find(handle->tr, event_filter_file_call_of(handle)), seq);
	trace_plat_unlock(&trace_config_lock);
	return 0;
}

static int filter_store(struct trace_handle *handle, char *text)
{
	struct expr_error error = { NULL, 0 };
	struct trace_event_file *file;
	int err = -ENOMEM;

	strip_end(text);
	trace_plat_lock(&trace_config_lock);
	file = trace_event_file_get(handle->tr, event_filter_file_call_of(handle));
	if (file)
		err = trace_event_filter_set(file, text, &error);
	trace_plat_unlock(&trace_config_lock);
	if (err && err != -ENOMEM)
		trace_handle_blame(handle, text + error.pos, error.why);
	return err;
}

const struct trace_file trace_event_filter_file = {
	.name = "filter",
	.log_name = LOG_NAME,
	.mode = TRACE_MODE_WRITE,
	.show = filter_show,
	.store = filter_store,
	.store_max = FILTER_MAX,
};

static int system_filter_show(struct trace_handle *handle, struct trace_seq *seq)
{
	(void)handle;
	trace_seq_puts(seq,
		       "### global filter ###\n"
		       "# Use this to set filters for multiple events.\n"
		       "# Only events with the given fields will be affected.\n"
		       "# If no events are modified, an error message will be displayed here\n");
	return 0;
}

static int system_filter_store(struct trace_handle *handle, char *text)
{
	size_t nr_refused = 0;
	int err;

	strip_end(text);
	trace_plat_lock(&trace_config_lock);
	err = trace_event_filter_set_system(handle->tr, handle->node->parent->name, text,
					    &nr_refused);
	trace_plat_unlock(&trace_config_lock);
	/* The write succeeds if one event has the fields; error_log has what others lack. */
	if (err == -EINVAL)
		trace_handle_blame(handle, text, trace_event_filter_not_of_all);
	else if (!err && nr_refused)
		trace_error_log(handle->tr, LOG_NAME, trace_event_filter_not_of_all, text, 0);
	return err;
}

const struct trace_file trace_system_filter_file = {
	.name = "filter",
	.log_name = LOG_NAME,
	.mode = TRACE_MODE_WRITE,
	.show = system_filter_show,
	.store = system_filter_store,
	.store_max = FILTER_MAX,
};
