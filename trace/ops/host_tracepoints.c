/*
 * See <trace/host_tracepoints.h>.
 */
#include <trace/host_tracepoints.h>
#include <trace/platform.h>

DEFINE_TRACE_ATOMIC(sched_switch,
		    TP_PROTO(const struct trace_sched_thread *prev,
			     const struct trace_sched_thread *next),
		    TP_ARGS(prev, next));

DEFINE_TRACE_ATOMIC(sched_wakeup,
		    TP_PROTO(const struct trace_sched_thread *waker,
			     const struct trace_sched_thread *wakee),
		    TP_ARGS(waker, wakee));

DEFINE_TRACE_ATOMIC(sched_migrate_task, TP_PROTO(const struct trace_sched_thread *thread),
		    TP_ARGS(thread));
