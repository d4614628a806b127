/*
 * The files `hist` and so on of a trace event: its histograms, one after the other, each file in a
 * form of its own. See fs_file.h, events/hist.h.
 */
#include "events/event_file.h"
#include "events/hist.h"
#include "events/hist_trigger.h"
#include "fs_file.h"

/* NULL: a mere type, which nothing can be set at. */
static const struct trace_event_call *call_of(const struct trace_handle *handle)
{
	return ((const struct trace_event *)(uintptr_t)handle->node->arg)->call;
}

static const struct hist_form *form_of(const struct trace_handle *handle)
{
	return handle->node->file->about;
}

static void end(struct trace_handle *handle)
{
	hist_view_destroy(handle->private);
	handle->private = NULL;
}

static void print_head(const struct trace_handle *handle, const struct trace_trigger *trigger,
		       struct trace_seq *seq)
{
	bool is_short = form_of(handle)->is_short;

	if (handle->index)
		trace_seq_puts(seq, form_of(handle)->separator);
	trace_seq_puts(seq, is_short ? "# " : "# event histogram\n#\n# trigger info: ");
	trace_hist_trigger_print(trigger, seq);
	trace_seq_puts(seq, is_short ? "" : "#\n\n");
}

/* Begin with histogram number handle->index. 1; 0 behind the last; -ENOMEM. Config lock held. */
static int begin(struct trace_handle *handle, struct trace_seq *seq)
{
	const struct trace_event_call *call = call_of(handle);
	const struct trace_event_file *file = call ? trace_event_file_find(handle->tr, call) : NULL;
	struct trace_trigger *trigger = file ? trace_hist_trigger_at(file, handle->index) : NULL;
	const struct hist_form *form = form_of(handle);

	if (!trigger && !handle->index && form->none) {
		trace_seq_puts(seq, form->none);
		handle->index++;
		return 1;
	}
	if (!trigger)
		return 0;
	handle->private = hist_view_create(trace_hist_of(trigger));
	if (!handle->private)
		return -ENOMEM;
	if (form->begin && form->begin(handle->private)) {
		end(handle);
		return -ENOMEM;
	}
	print_head(handle, trigger, seq);
	return 1;
}

static int hist_next(struct trace_handle *handle, struct trace_seq *seq)
{
	int result = 1;

	trace_plat_lock(&trace_config_lock);
	if (handle->private && !form_of(handle)->next(handle->private, seq)) {
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

#define HIST_FILE(form)                                                                            \
	.mode = TRACE_MODE_READ, .next = hist_next, .close = hist_close, .rewind = hist_rewind,    \
	.about = &(form)

static const struct trace_file hist_file = { .name = "hist", HIST_FILE(hist_form_text) };
static const struct trace_file picture_file = { .name = "hist_picture",
						HIST_FILE(hist_form_picture) };
static const struct trace_file ascii_file = { .name = "hist_ascii", HIST_FILE(hist_form_ascii) };
static const struct trace_file folded_file = { .name = "hist_folded", HIST_FILE(hist_form_folded) };
static const struct trace_file debug_file = { .name = "hist_debug", HIST_FILE(hist_form_debug) };

const struct trace_file *const trace_event_hist_files[] = { &hist_file,	 &picture_file,
							    &ascii_file, &folded_file,
							    &debug_file, NULL };
/* Empty, as on Linux; the other forms would say how to set one. */
const struct trace_file *const trace_type_hist_files[] = { &hist_file, &debug_file, NULL };
