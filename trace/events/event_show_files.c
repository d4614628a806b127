/*
 * show_event_filters and show_event_triggers: all filters and triggers of the instance. See
 * fs_file.h, events/event_file.h.
 */
#include "event_filter.h"
#include "trigger.h"
#include "fs/fs_file.h"
#include "instance/event_private.h"
#include "text/str.h"

#define COLUMN 32u /* column of a filter or trigger behind a short name */

static void event_show_files_print_name(const struct trace_event *event, struct trace_seq *seq)
{
	size_t len = trace_strlen(event->system) + 1 + trace_strlen(event->name);

	trace_seq_printf(seq, "%s:%s%*s", event->system, event->name,
			 len < COLUMN ? (int)(COLUMN - len) : 1, "");
}

/*
 * The instance's next event_file, from place *at of all types on; *at becomes its place. NULL when
 * there is none. Config lock held, so the event stays.
 */
static const struct trace_event_file *next_file(const struct trace_array *tr, size_t *at)
{
	const struct trace_event_file *file = NULL;

	trace_events_lock();
	for (; *at < trace_nr_events(); ++*at) {
		const struct trace_event *event = trace_event_at(*at);

		file = event->call ? trace_event_file_find(tr, event->call) : NULL;
		if (file)
			break;
	}
	trace_events_unlock();
	return file;
}

static int filters_next(struct trace_handle *handle, struct trace_seq *seq)
{
	const struct trace_event_file *file;
	const char *text;

	trace_plat_lock(&trace_config_lock);
	while (!seq->len && (file = next_file(handle->tr, &handle->index))) {
		handle->index++;
		text = trace_event_filter_in_force(file);
		if (!text)
			continue;
		event_show_files_print_name(&file->call->event, seq);
		trace_seq_printf(seq, "%s\n", text);
	}
	trace_plat_unlock(&trace_config_lock);
	return seq->len ? 1 : 0;
}

const struct trace_file trace_show_event_filters_file = {
	.name = "show_event_filters",
	.mode = TRACE_MODE_READ,
	.next = filters_next,
};

/* handle->private counts the triggers of the event that were shown. */
static const struct trace_trigger *next_trigger(struct trace_handle *handle,
						const struct trace_event_file *file)
{
	uintptr_t nr_shown = (uintptr_t)handle->private;
	const struct trace_trigger *trigger = file->triggers;

	for (uintptr_t i = 0; trigger && i < nr_shown; i++)
		trigger = trigger->next;
	handle->private = (void *)(trigger ? nr_shown + 1 : 0);
	return trigger;
}

static int triggers_next(struct trace_handle *handle, struct trace_seq *seq)
{
	const struct trace_event_file *file;
	const struct trace_trigger *trigger;

	trace_plat_lock(&trace_config_lock);
	while (!seq->len && (file = next_file(handle->tr, &handle->index))) {
		trigger = next_trigger(handle, file);
		if (!trigger) {
			handle->index++;
			continue;
		}
		event_show_files_print_name(&file->call->event, seq);
		trace_trigger_show(trigger, seq);
	}
	trace_plat_unlock(&trace_config_lock);
	return seq->len ? 1 : 0;
}

static void triggers_rewind(struct trace_handle *handle)
{
	handle->private = NULL;
}

const struct trace_file trace_show_event_triggers_file = {
	.name = "show_event_triggers",
	.mode = TRACE_MODE_READ,
	.next = triggers_next,
	.rewind = triggers_rewind,
};
