/*
 * available_events and set_event: lists of all events, and of those that are on. See fs_file.h,
 * events/event_file.h.
 */
#include "event_file.h"
#include "fs/fs_file.h"
#include "instance/event_private.h"
#include "text/str.h"

#define SET_EVENT_MAX 1024u

static void event_set_files_print_name(const struct trace_event *event, struct trace_seq *seq)
{
	trace_seq_printf(seq, "%s:%s\n", event->system, event->name);
}

/* Types that are no trace events are not listed: they cannot be switched on. */
static int available_events_next(struct trace_handle *handle, struct trace_seq *seq)
{
	trace_events_lock();
	while (!seq->len && handle->index < trace_nr_events()) {
		const struct trace_event *event = trace_event_at(handle->index++);

		if (trace_event_is_switched(event))
			event_set_files_print_name(event, seq);
	}
	trace_events_unlock();
	return seq->len ? 1 : 0;
}

const struct trace_file trace_available_events_file = {
	.name = "available_events",
	.root_only = true,
	.mode = TRACE_MODE_READ,
	.next = available_events_next,
};

static int set_event_next(struct trace_handle *handle, struct trace_seq *seq)
{
	trace_plat_lock(&trace_config_lock);
	trace_events_lock();
	while (!seq->len && handle->index < trace_nr_events()) {
		const struct trace_event *event = trace_event_at(handle->index++);
		const struct trace_event_file *file;

		file = trace_event_is_switched(event)
			       ? trace_event_file_find(handle->tr, event->call)
			       : NULL;
		if (file && file->is_registered)
			event_set_files_print_name(event, seq);
	}
	trace_events_unlock();
	trace_plat_unlock(&trace_config_lock);
	return seq->len ? 1 : 0;
}

static int set_event_open(struct trace_handle *handle)
{
	int err;

	if (!(handle->flags & TRACE_FS_TRUNC))
		return 0;
	trace_plat_lock(&trace_config_lock);
	err = trace_events_clear(handle->tr);
	trace_plat_unlock(&trace_config_lock);
	return err;
}

/* Switch events word by word; words before a wrong one have taken effect, as on Linux. */
static int set_event_store(struct trace_handle *handle, char *text)
{
	char *word;
	int err = 0;

	while (!err && (word = trace_handle_word(&text))) {
		trace_plat_lock(&trace_config_lock);
		err = trace_events_set_word(handle->tr, word);
		trace_plat_unlock(&trace_config_lock);
		if (err == -EINVAL)
			trace_handle_blame(handle, word, "no such event");
	}
	return err;
}

const struct trace_file trace_set_event_file = {
	.name = "set_event",
	.mode = TRACE_MODE_WRITE,
	.next = set_event_next,
	.open = set_event_open,
	.store = set_event_store,
	.store_max = SET_EVENT_MAX,
};
