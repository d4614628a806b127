/*
 * set_event_pid and set_event_notrace_pid: the threads whose events an instance records. See
 * fs_pids.h, events/event_pids.h.
 */
#include "event_pids.h"
#include "fs/fs_pids.h"
#include "text/str.h"

static const struct trace_pids_about event_pids_files_only = { .user = &trace_event_pids };
static const struct trace_pids_about event_pids_files_except = { .user = &trace_event_pids,
								 .is_except = true };
static const struct trace_file set_event_pid_file =
	TRACE_PIDS_FILE("set_event_pid", &event_pids_files_only);
static const struct trace_file set_event_notrace_pid_file =
	TRACE_PIDS_FILE("set_event_notrace_pid", &event_pids_files_except);

static const struct trace_file *const event_pids_files[] = {
	&set_event_pid_file,
	&set_event_notrace_pid_file,
};

const struct trace_file_table trace_event_pid_files = { .files = event_pids_files,
							.nr = TRACE_ARRAY_SIZE(event_pids_files) };
