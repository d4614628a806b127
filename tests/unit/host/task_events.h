/*
 * Two events of the scheduler, with what samples of Linux need of them.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sched

#if !defined(TASK_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define TASK_EVENTS_H

#include <linux/tracepoint.h>

/* clang-format off */
TRACE_EVENT(task_waking,
	TP_PROTO(const char *comm, int pid),
	TP_ARGS(comm, pid),
	TP_STRUCT__entry(
		__array(char, comm, 16)
		__field(pid_t, pid)
		__field(int, prio)
	),
	TP_fast_assign(
		strscpy(__entry->comm, comm, sizeof(__entry->comm));
		__entry->pid = pid;
		__entry->prio = 120;
	),
	TP_printk("comm=%s pid=%d prio=%d", __entry->comm, __entry->pid, __entry->prio)
);

TRACE_EVENT(task_switch,
	TP_PROTO(const char *next_comm, int next_pid),
	TP_ARGS(next_comm, next_pid),
	TP_STRUCT__entry(
		__array(char, next_comm, 16)
		__field(pid_t, next_pid)
		__field(int, next_prio)
	),
	TP_fast_assign(
		strscpy(__entry->next_comm, next_comm, sizeof(__entry->next_comm));
		__entry->next_pid = next_pid;
		__entry->next_prio = 120;
	),
	TP_printk("next_comm=%s next_pid=%d next_prio=%d", __entry->next_comm, __entry->next_pid,
		  __entry->next_prio)
);
/* clang-format on */

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH host
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE task_events
#include <trace/define_trace.h>
