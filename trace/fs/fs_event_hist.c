/*
 * The file `hist` of a trace event: its histograms, one after the other. See fs_file.h,
 * events/hist.h.
 */
#include "events/event_file.h"
#include "events/hist.h"
#include "events/hist_trigger.h"
#include "fs_file.h"

static const struct trace_event_call *call_of(const struct trace_handle *handle)
{
	return ((const struct trace_event *)(uintptr_t)handle->node->arg)->call;
}

/* Begin with histogram number handle->index. 1; 0 behind the last; -ENOMEM. Config lock held. */
static int begin(struct trace_handle *handle, struct trace_seq *seq)
{
	const struct trace_event_file *file = trace_event_file_find(handle->tr, call_of(handle));
	struct trace_trigger *trigger = file ? trace_hist_trigger_at(file, handle->index) : NULL;

	if (!trigger)
		return 0;
	handle->private = hist_view_create(trace_hist_of(trigger));
	if (!handle->private)
		return -ENOMEM;
	trace_seq_puts(seq, handle->index ? "\n\n" : "");
	trace_seq_puts(seq, "# event histogram\n#\n# trigger info: ");
	trace_hist_trigger_print(trigger, seq);
	trace_seq_puts(seq, "#\n\n");
	return 1;
}

static void end(struct trace_handle *handle)
{
	hist_view_destroy(handle->private);
	handle->private = NULL;
}

static int hist_next(struct trace_handle *handle, struct trace_seq *seq)
{
	int result = 1;

	trace_plat_lock(&trace_config_lock);
	if (handle->private && !hist_view_next(handle->private, seq)) {
		end(handle);
		handle->index++;
	}
	if (!seq->len)
		result = begin(handle, seq);
	trace_plat_unlock(&trace_config_lock);
	return result;
}

static int hist_close(struct trace_handle *handle)
{
	trace_plat_lock(&trace_config_lock);
	end(handle);
	trace_plat_unlock(&trace_config_lock);
	return 0;
}

static void hist_rewind(struct trace_handle *handle)
{
	(void)hist_close(handle);
}

static const struct trace_file hist_file = {
	.name = "hist",
	.mode = TRACE_MODE_READ,
	.next = hist_next,
	.close = hist_close,
	.rewind = hist_rewind,
};

const struct trace_file *const trace_event_hist_files[] = { &hist_file, NULL };
