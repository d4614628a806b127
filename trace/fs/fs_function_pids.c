/*
 * set_ftrace_pid and set_ftrace_notrace_pid: the threads whose functions an instance traces. See
 * fs_pids.h.
 */
#include <trace/ftrace.h>
#include "fs_pids.h"
#include "text/str.h"
#include "feature/feature.h"
#include "fs_file.h"
#include "instance/pid_filter.h"

static const struct trace_pids_about fs_function_pids_only = { .user = &trace_function_pids,
							       .if_empty = "no pid\n" };
static const struct trace_pids_about fs_function_pids_except = { .user = &trace_function_pids,
								 .is_except = true,
								 .if_empty = "no pid\n" };
static const struct trace_file set_ftrace_pid_file =
	TRACE_PIDS_FILE("set_ftrace_pid", &fs_function_pids_only);
static const struct trace_file set_ftrace_notrace_pid_file =
	TRACE_PIDS_FILE("set_ftrace_notrace_pid", &fs_function_pids_except);

static const struct trace_file *const fs_function_pids_files[] = {
	&set_ftrace_pid_file,
	&set_ftrace_notrace_pid_file,
};

static const struct trace_file_table function_pid_files = {
	.files = fs_function_pids_files, .nr = TRACE_ARRAY_SIZE(fs_function_pids_files)
};

/* ---- The feature ---- */

/* When tracing is dead sites may go on calling callbacks that use the instance's mask: keep it. */
static void function_pids_gone(struct trace_array *tr)
{
	if (!ftrace_is_dead())
		trace_pid_filter_release(tr, &trace_function_pids);
}

static struct trace_files function_pid_entry = { .table = &function_pid_files };

static int function_pids_init(void)
{
	trace_files_register(&function_pid_entry);
	return 0;
}

const struct trace_feature trace_feature_function_pids = {
	.name = "function_pids",
	.init = function_pids_init,
	.instance_gone = function_pids_gone,
};
