/*
 * The files `hist` and so on of a trace event: its histograms, one after the other, each file in a
 * form of its own. See fs_file.h, hist/hist.h.
 */
#include "events/event_dir.h"
#include "events/event_file.h"
#include "hist.h"
#include "hist_trigger.h"
#include "fs/fs_file.h"
#include "hist_action.h"
#include "hist_why.h"
#include "feature/feature.h"

/* NULL: a mere type, which nothing can be set at. */
static const struct trace_event_call *hist_files_call_of(const struct trace_handle *handle)
{
	return ((const struct trace_event *)(uintptr_t)handle->node->arg)->call;
}

static const struct hist_form *form_of(const struct trace_handle *handle)
{
	return handle->node->file->about;
}

/* An open file. */
struct reader {
	struct hist_view *view; /* the histogram that is being read, or NULL */
	/* Events counted when it was last read, and when poll last reported news. */
	uint64_t read_hits, told_hits;
};

static struct reader *reader_of(const struct trace_handle *handle)
{
	return handle->private;
}

/* The number of events counted by all histograms of the event. Config lock held. */
static uint64_t hits_of(const struct trace_handle *handle)
{
	const struct trace_event_call *call = hist_files_call_of(handle);
	const struct trace_event_file *file = call ? trace_event_file_find(handle->tr, call) : NULL;
	const struct trace_trigger *trigger;
	uint64_t hits = 0;

	for (size_t i = 0; file && (trigger = trace_hist_trigger_at(file, i)); i++)
		hits += trace_hist_map_hits(trace_hist_of(trigger)->map);
	return hits;
}

static void hist_files_end(struct trace_handle *handle)
{
	trace_hist_view_destroy(reader_of(handle)->view);
	reader_of(handle)->view = NULL;
}

static void hist_files_print_head(const struct trace_handle *handle,
				  const struct trace_trigger *trigger, struct trace_seq *seq)
{
	bool is_short = form_of(handle)->is_short;

	if (handle->index)
		trace_seq_puts(seq, form_of(handle)->separator);
	trace_seq_puts(seq, is_short ? "# " : "# event histogram\n#\n# trigger info: ");
	trace_hist_trigger_print(trigger, seq);
	trace_seq_puts(seq, is_short ? "" : "#\n\n");
}

/* Begin with histogram number handle->index. 1; 0 behind the last; -ENOMEM. Config lock held. */
static int hist_files_begin(struct trace_handle *handle, struct trace_seq *seq)
{
	const struct trace_event_call *call = hist_files_call_of(handle);
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
	reader_of(handle)->view = trace_hist_view_create(trace_hist_of(trigger));
	if (!reader_of(handle)->view)
		return -ENOMEM;
	if (form->begin && form->begin(reader_of(handle)->view)) {
		hist_files_end(handle);
		return -ENOMEM;
	}
	hist_files_print_head(handle, trigger, seq);
	return 1;
}

static int hist_next(struct trace_handle *handle, struct trace_seq *seq)
{
	int result = 1;

	trace_plat_lock(&trace_config_lock);
	/* Events counted from here on may already be in the text, and are news all the same. */
	if (!handle->index && !reader_of(handle)->view)
		reader_of(handle)->read_hits = hits_of(handle);
	if (reader_of(handle)->view && !form_of(handle)->next(reader_of(handle)->view, seq)) {
		hist_files_end(handle);
		handle->index++;
	}
	if (!seq->len)
		result = hist_files_begin(handle, seq);
	trace_plat_unlock(&trace_config_lock);
	return result;
}

static int hist_open(struct trace_handle *handle)
{
	struct reader *reader = trace_plat_alloc(sizeof(*reader));

	if (!reader)
		return -ENOMEM;
	handle->private = reader;
	trace_plat_lock(&trace_config_lock);
	reader->told_hits = hits_of(handle);
	trace_plat_unlock(&trace_config_lock);
	return 0;
}

static uint32_t hist_events(struct trace_handle *handle, uint32_t wanted)
{
	struct reader *reader = reader_of(handle);
	uint32_t events = 0;
	uint64_t hits;

	trace_plat_lock(&trace_config_lock);
	hits = hits_of(handle);
	if (hits != reader->read_hits)
		events |= TRACE_FS_IN;
	if (wanted & TRACE_FS_PRI && hits != reader->told_hits) {
		events |= TRACE_FS_PRI;
		reader->told_hits = hits;
	}
	trace_plat_unlock(&trace_config_lock);
	return events;
}

static void hist_rewind(struct trace_handle *handle)
{
	trace_plat_lock(&trace_config_lock);
	hist_files_end(handle);
	trace_plat_unlock(&trace_config_lock);
}

static int hist_close(struct trace_handle *handle)
{
	hist_rewind(handle);
	trace_plat_free(handle->private, sizeof(struct reader));
	return 0;
}

#define HIST_FILE(form)                                                                            \
	.mode = TRACE_MODE_READ, .open = hist_open, .next = hist_next, .events = hist_events,      \
	.close = hist_close, .rewind = hist_rewind, .about = &(form)

static const struct trace_file hist_file = { .name = "hist", HIST_FILE(trace_hist_form_text) };
static const struct trace_file picture_file = { .name = "hist_picture",
						HIST_FILE(trace_hist_form_picture) };
static const struct trace_file ascii_file = { .name = "hist_ascii",
					      HIST_FILE(trace_hist_form_ascii) };
static const struct trace_file folded_file = { .name = "hist_folded",
					       HIST_FILE(trace_hist_form_folded) };
static const struct trace_file debug_file = { .name = "hist_debug",
					      HIST_FILE(trace_hist_form_debug) };

static const struct trace_file *const event_hist_files[] = { &hist_file,  &picture_file,
							     &ascii_file, &folded_file,
							     &debug_file, NULL };
/* Empty, as on Linux; the other forms would say how to set one. */
static const struct trace_file *const type_hist_files[] = { &hist_file, &debug_file, NULL };

/* ---- The feature ---- */

static struct trace_event_dir_files hist_dir_files = { .event_files = event_hist_files,
						       .type_files = type_hist_files };
static struct trace_triggers hist_triggers = { .commands = trace_hist_triggers };
static struct hist_action_entry hist_save_entry = { .type = &trace_hist_save_type };
static struct trace_whys hist_whys = { .checks = trace_hist_whys };

static int hist_init(void)
{
	trace_event_dir_register(&hist_dir_files);
	trace_triggers_register(&hist_triggers);
	trace_hist_action_register(&hist_save_entry);
	trace_whys_register(&hist_whys);
	return 0;
}

const struct trace_feature trace_feature_hist = {
	.name = "hist",
	.init = hist_init,
};
