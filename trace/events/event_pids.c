/* Events of chosen threads. See event_pids.h. */
#include "event_file.h"
#include "event_pids.h"

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
