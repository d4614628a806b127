/*
 * Sets of threads whose events an instance records, or leaves out, and their files set_event_pid and
 * set_event_notrace_pid: see instance/pid_filter.h, fs/fs_pids.h. While a set is in use, every event
 * of the instance has the flag TRACE_EVENT_PIDS, and its writer looks at the bit of the running
 * thread first. An event about two threads, such as those of the scheduler, is recorded when either
 * thread is wanted.
 */
#include "event_file.h"
#include "feature/feature.h"
#include "fs/fs_pids.h"
#include "instance/pid_filter.h"
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

static const struct trace_pid_user event_pids = {
	.kind = TRACE_PIDS_EVENTS,
	.changed = event_pids_changed,
};

/* ---- Files ---- */

static const struct trace_pids_about event_pids_only = { .user = &event_pids };
static const struct trace_pids_about event_pids_except = { .user = &event_pids, .is_except = true };
static const struct trace_file set_event_pid_file =
	TRACE_PIDS_FILE("set_event_pid", &event_pids_only);
static const struct trace_file set_event_notrace_pid_file =
	TRACE_PIDS_FILE("set_event_notrace_pid", &event_pids_except);

static const struct trace_file *const event_pids_files[] = {
	&set_event_pid_file,
	&set_event_notrace_pid_file,
};

static const struct trace_file_table event_pid_table = { .files = event_pids_files,
							 .nr = TRACE_ARRAY_SIZE(event_pids_files) };

/* ---- The feature ---- */

static void event_pids_gone(struct trace_array *tr)
{
	trace_pid_filter_release(tr, &event_pids);
}

static struct trace_files event_pid_entry = { .table = &event_pid_table };

static int event_pids_init(void)
{
	trace_files_register(&event_pid_entry);
	return 0;
}

const struct trace_feature trace_feature_event_pids = {
	.name = "event_pids",
	.init = event_pids_init,
	.instance_gone = event_pids_gone,
};
