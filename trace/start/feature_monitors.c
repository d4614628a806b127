/*
 * Monitors of trace events: monitors/monitor.h. See instance/feature.h.
 */
#include "features.h"
#include "fs/fs_file.h"
#include "monitors/monitor.h"

const struct trace_feature trace_feature_monitors = {
	.name = "monitors",
	.init = trace_monitors_init,
	.thread_created = trace_monitors_thread_created,
	.thread_exited = trace_monitors_thread_exited,
	.files = &trace_monitor_files,
	.reactors = trace_reactors,
};
