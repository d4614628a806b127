/*
 * The file `trigger` of a trace event. See fs_file.h, events/trigger.h.
 */
#include <trace/fmt.h>
#include "event_file.h"
#include "trigger.h"
#include "fs/fs_file.h"

#define TRIGGER_MAX 4095u /* as on Linux */

static struct trace_event_call *trigger_file_call_of(const struct trace_handle *handle)
{
	return ((const struct trace_event *)(uintptr_t)handle->node->arg)->call;
}

static void show_available(struct trace_seq *seq)
{
	const struct trace_trigger_command *command = NULL;

	trace_seq_puts(seq, "# Available triggers:\n#");
	while ((command = trace_trigger_command_behind(command)))
		trace_seq_printf(seq, " %s", command->name);
	trace_seq_putc(seq, '\n');
}

static int trigger_next(struct trace_handle *handle, struct trace_seq *seq)
{
	const struct trace_event_file *file;
	const struct trace_trigger *trigger;

	trace_plat_lock(&trace_config_lock);
	file = trace_event_file_find(handle->tr, trigger_file_call_of(handle));
	trigger = file ? file->triggers : NULL;
	for (size_t i = 0; trigger && i < handle->index; i++)
		trigger = trigger->next;
	if (trigger)
		trace_trigger_show(trigger, seq);
	else if (!handle->index)
		show_available(seq);
	handle->index++;
	trace_plat_unlock(&trace_config_lock);
	return seq->len ? 1 : 0;
}

static int trigger_open(struct trace_handle *handle)
{
	struct trace_event_file *file;

	if (!(handle->flags & TRACE_FS_TRUNC))
		return 0;
	trace_plat_lock(&trace_config_lock);
	file = trace_event_file_find(handle->tr, trigger_file_call_of(handle));
	if (file)
		trace_triggers_truncate(file);
	trace_plat_unlock(&trace_config_lock);
	return 0;
}

static void trigger_file_blame(struct trace_handle *handle, const struct trace_trigger_error *error)
{
	const struct trace_event *event = &trigger_file_call_of(handle)->event;
	char where[80];

	if (error->command && error->command->flags & TRACE_TRIGGER_NAMES_EVENT) {
		trace_snprintf(where, sizeof(where), "%s:%s:%s", error->command->name,
			       event->system, event->name);
		trace_handle_blame_in(handle, where, error->at, error->why);
	} else {
		trace_handle_blame(handle, error->at, error->why);
	}
}

static int trigger_store(struct trace_handle *handle, char *text)
{
	const struct expr_word line = trace_expr_whole(text);
	struct trace_trigger_error error = { 0 };
	struct trace_event_file *file;
	int err = -ENOMEM;

	trace_plat_lock(&trace_config_lock);
	file = trace_event_file_get(handle->tr, trigger_file_call_of(handle));
	if (file)
		err = trace_triggers_write(file, &line, &error);
	trace_plat_unlock(&trace_config_lock);
	if (err && error.why)
		trigger_file_blame(handle, &error);
	return err;
}

const struct trace_file trace_event_trigger_file = {
	.name = "trigger",
	.mode = TRACE_MODE_WRITE,
	.next = trigger_next,
	.open = trigger_open,
	.store = trigger_store,
	.store_max = TRIGGER_MAX,
};
