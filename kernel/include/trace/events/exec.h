/*
 * The event of a thread that begins another program. Name, fields and text are Linux's. See
 * <trace/trace_events.h>.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sched

#if !defined(KERNEL_EVENTS_EXEC_H) || defined(TRACE_HEADER_MULTI_READ)
#define KERNEL_EVENTS_EXEC_H

#include <trace/trace_events.h>

TRACE_EVENT(sched_process_exec,
	TP_PROTO(const char *filename, int pid, int old_pid),
	TP_ARGS(filename, pid, old_pid),
	TP_STRUCT__entry(
		__string(filename, filename)
		__field_as(pid_t, int, pid)
		__field_as(pid_t, int, old_pid)
	),
	TP_fast_assign(
		__assign_str(filename, filename);
		__entry->pid = pid;
		__entry->old_pid = old_pid;
	),
	TP_printk("filename=%s pid=%d old_pid=%d",
		__get_str(filename), __entry->pid, __entry->old_pid)
);

#endif

#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE exec
#include <trace/define_trace.h>
