/*
 * Events of chosen threads, and the files set_event_pid and set_event_notrace_pid: see event_pids.h,
 * fs/fs_pids.h.
 */
#include "event_file.h"
#include "event_pids.h"
#include "fs/fs_pids.h"
#include "text/str.h"

static int event_pids_changed(struct trace_array *tr)
{
	bool is_used = trace_pid_filter_is_used(tr, TRACE_PIDS_EVENTS);
	struct trace_event_file *file;

	for (file = trace_events_of(tr)->files; file; file = file->next_of_array) {
		if (is_used) /* before the flag, which makes probes look at it */
			file->own.pid_mask = tr->event_pid_mask;
		trace_event_flag(file, TRACE_EVENT_PIDS, is_used);
		trace_event_flag_early(file);
	}
	if (!is_used)
		tracepoint_synchronize_unregister(); /* probes may still look at the bit */
	return 0;
}

const struct trace_pid_user trace_event_pids = {
	.kind = TRACE_PIDS_EVENTS,
	.changed = event_pids_changed,
};

/* ---- Files ---- */

static const struct trace_pids_about event_pids_only = { .user = &trace_event_pids };
static const struct trace_pids_about event_pids_except = { .user = &trace_event_pids,
							   .is_except = true };
static const struct trace_file set_event_pid_file =
	TRACE_PIDS_FILE("set_event_pid", &event_pids_only);
static const struct trace_file set_event_notrace_pid_file =
	TRACE_PIDS_FILE("set_event_notrace_pid", &event_pids_except);

static const struct trace_file *const event_pids_files[] = {
	&set_event_pid_file,
	&set_event_notrace_pid_file,
};

const struct trace_file_table trace_event_pid_files = { .files = event_pids_files,
							.nr = TRACE_ARRAY_SIZE(event_pids_files) };
