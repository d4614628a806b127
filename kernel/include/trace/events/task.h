/*
 * Events of a thread of programs that is born, and of a thread that gets another name. Names, fields and
 * texts are Linux's. See <trace/trace_events.h>.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM task

#if !defined(KERNEL_EVENTS_TASK_H) || defined(TRACE_HEADER_MULTI_READ)
#define KERNEL_EVENTS_TASK_H

#include <trace/thread.h>
#include <trace/trace_events.h>

/* A call with `clone_flags` has made the thread, which does not run yet. */
TRACE_EVENT(task_newtask,
	TP_PROTO(int pid, const char *comm, unsigned long clone_flags),
	TP_ARGS(pid, comm, clone_flags),
	TP_STRUCT__entry(
		__field_as(pid_t, int, pid)
		__array(char, comm, TRACE_COMM_LEN)
		__field(unsigned long, clone_flags)
		__field(short, oom_score_adj)
	),
	TP_fast_assign(
		__entry->pid = pid;
		strlcpy(__entry->comm, comm, TRACE_COMM_LEN);
		__entry->clone_flags = clone_flags;
		__entry->oom_score_adj = 0;
	),
	TP_printk("pid=%d comm=%s clone_flags=%lx oom_score_adj=%hd", __entry->pid, __entry->comm,
		__entry->clone_flags, __entry->oom_score_adj)
);

/* The thread still has its old name. */
TRACE_EVENT(task_rename,
	TP_PROTO(int pid, const char *oldcomm, const char *newcomm),
	TP_ARGS(pid, oldcomm, newcomm),
	TP_STRUCT__entry(
		__field_as(pid_t, int, pid)
		__array(char, oldcomm, TRACE_COMM_LEN)
		__array(char, newcomm, TRACE_COMM_LEN)
		__field(short, oom_score_adj)
	),
	TP_fast_assign(
		__entry->pid = pid;
		strlcpy(__entry->oldcomm, oldcomm, TRACE_COMM_LEN);
		strlcpy(__entry->newcomm, newcomm, TRACE_COMM_LEN);
		__entry->oom_score_adj = 0;
	),
	TP_printk("pid=%d oldcomm=%s newcomm=%s oom_score_adj=%hd", __entry->pid, __entry->oldcomm,
		__entry->newcomm, __entry->oom_score_adj)
);

#endif

#include <trace/define_trace.h>
