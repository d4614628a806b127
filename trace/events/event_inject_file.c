/*
 * The file `inject` of a trace event. See fs_file.h, events/event_inject.h.
 */
#include "event_inject.h"
#include "filter.h"
#include "fs/fs_file.h"

#define INJECT_MAX 1023u

static int inject_store(struct trace_handle *handle, char *text)
{
	const struct trace_event *event = (const struct trace_event *)(uintptr_t)handle->node->arg;
	struct expr_error error = { NULL, 0 };
	struct trace_event_file *file;
	int err = -ENOMEM;

	trace_plat_lock(&trace_config_lock);
	file = trace_event_file_get(handle->tr, event->call);
	if (file)
		err = trace_event_inject(file, text, &error);
	trace_plat_unlock(&trace_config_lock);
	if (error.why)
		trace_handle_blame(handle, text + error.pos, error.why);
	return err;
}

const struct trace_file trace_event_inject_file = {
	.name = "inject",
	.mode = 0220,
	.store = inject_store,
	.store_max = INJECT_MAX,
};
