/* Sets of threads whose events an instance records: events/event_pids.h. See instance/feature.h. */
#include "events/event_pids.h"
#include "features.h"
#include "fs/fs_file.h"

static void event_pids_gone(struct trace_array *tr)
{
	trace_pid_filter_release(tr, &trace_event_pids);
}

const struct trace_feature trace_feature_event_pids = {
	.name = "event_pids",
	.instance_gone = event_pids_gone,
	.files = &trace_event_pid_files,
};
