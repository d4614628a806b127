/*
 * dynamic_events: the file of all trace events defined by users. See fs_file.h, events/dyn_event.h.
 */
#include <trace/errno.h>
#include <trace/fmt.h>
#include "dyn_event.h"
#include "dyn_event_file.h"
#include "instance/array.h"
#include "instance/error_log.h"

static int show_next(struct trace_handle *handle, const struct trace_dyn_events_source *source,
		     struct trace_seq *seq)
{
	struct dyn_event *event = trace_dyn_event_next(source->kind, NULL);

	for (size_t i = 0; event && i < handle->index; i++)
		event = trace_dyn_event_next(source->kind, event);
	if (!event)
		return 0;
	handle->index++;
	(source->show ? source->show : event->kind->show)(event, seq);
	return 1;
}

int trace_dyn_events_next(struct trace_handle *handle, struct trace_seq *seq)
{
	int result;

	trace_plat_lock(&trace_config_lock);
	result = show_next(handle, handle->node->file->about, seq);
	trace_plat_unlock(&trace_config_lock);
	return result;
}

int trace_dyn_events_open(struct trace_handle *handle)
{
	const struct trace_dyn_events_source *source = handle->node->file->about;
	const char *name = handle->node->file->name;
	char command[40];
	int err;

	if (!(handle->flags & TRACE_FS_TRUNC))
		return 0;
	trace_snprintf(command, sizeof(command), "> %s", name);
	trace_plat_lock(&trace_config_lock);
	err = trace_dyn_events_remove_all(source->kind);
	if (err == -EBUSY)
		trace_error_log(&trace_global, name, trace_dyn_events_in_use(), command, 0);
	trace_plat_unlock(&trace_config_lock);
	return err;
}

static int run_line(struct trace_handle *handle, char *line)
{
	const struct trace_dyn_events_source *source = handle->node->file->about;
	struct dyn_event_error error = { 0 };
	int err;

	trace_plat_lock(&trace_config_lock);
	err = source->run(line, &error);
	trace_plat_unlock(&trace_config_lock);
	if (err && error.where)
		trace_handle_blame_in(handle, error.where, error.at, error.why);
	else if (err && error.why)
		trace_handle_blame(handle, error.at, error.why);
	return err;
}

int trace_dyn_events_store(struct trace_handle *handle, char *text)
{
	return trace_handle_lines(handle, text, run_line);
}

static const struct trace_dyn_events_source dyn_event_file_source = { .run = trace_dyn_event_run };

const struct trace_file trace_dynamic_events_file = {
	.name = "dynamic_events",
	.root_only = true,
	.mode = TRACE_MODE_WRITE,
	.about = &dyn_event_file_source,
	.next = trace_dyn_events_next,
	.open = trace_dyn_events_open,
	.store = trace_dyn_events_store,
	.store_max = TRACE_DYN_EVENTS_MAX,
};
