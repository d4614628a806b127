/*
 * The event of a thread that begins another program. Name, text and fields are Linux's, but for `base`: the number that was
 * added to the addresses in the program's file; 0: it lies where its file says. See <trace/trace_events.h>.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sched

#if !defined(KERNEL_EVENTS_EXEC_H) || defined(TRACE_HEADER_MULTI_READ)
#define KERNEL_EVENTS_EXEC_H

#include <trace/trace_events.h>

TRACE_EVENT(sched_process_exec,
	TP_PROTO(const char *filename, int pid, int old_pid, unsigned long base),
	TP_ARGS(filename, pid, old_pid, base),
	TP_STRUCT__entry(
		__string(filename, filename)
		__field_as(pid_t, int, pid)
		__field_as(pid_t, int, old_pid)
		__field(unsigned long, base)
	),
	TP_fast_assign(
		__assign_str(filename, filename);
		__entry->pid = pid;
		__entry->old_pid = old_pid;
		__entry->base = base;
	),
	TP_printk("filename=%s pid=%d old_pid=%d",
		__get_str(filename), __entry->pid, __entry->old_pid)
);

#endif

#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE exec
#include <trace/define_trace.h>
