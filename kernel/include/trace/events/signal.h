/*
 * Events of signals. Names, fields and text are Linux's. See <trace/trace_events.h>.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM signal

#if !defined(KERNEL_EVENTS_SIGNAL_H) || defined(TRACE_HEADER_MULTI_READ)
#define KERNEL_EVENTS_SIGNAL_H

#include <kernel/signal_told.h>
#include <trace/trace_events.h>

/* A signal was sent. */
TRACE_EVENT_ATOMIC(signal_generate,
	TP_PROTO(const struct trace_signal *to),
	TP_ARGS(to),
	TP_STRUCT__entry(
		__field(int, sig)
		__field(int, errno)
		__field(int, code)
		__array(char, comm, 16)
		__field_as(pid_t, int, pid)
		__field(int, group)
		__field(int, result)
	),
	TP_fast_assign(
		__entry->sig = to->sig;
		__entry->errno = to->error;
		__entry->code = to->code;
		memcpy(__entry->comm, to->comm, 16);
		__entry->pid = to->pid;
		__entry->group = to->group;
		__entry->result = to->result;
	),
	TP_printk("sig=%d errno=%d code=%d comm=%s pid=%d grp=%d res=%d",
		__entry->sig, __entry->errno, __entry->code, __entry->comm, __entry->pid,
		__entry->group, __entry->result)
);

/* The thread takes a signal: `sa_handler` is called, 0: what is done by default. */
TRACE_EVENT(signal_deliver,
	TP_PROTO(const struct trace_signal *to, unsigned long handler, unsigned long flags),
	TP_ARGS(to, handler, flags),
	TP_STRUCT__entry(
		__field(int, sig)
		__field(int, errno)
		__field(int, code)
		__field(unsigned long, sa_handler)
		__field(unsigned long, sa_flags)
	),
	TP_fast_assign(
		__entry->sig = to->sig;
		__entry->errno = to->error;
		__entry->code = to->code;
		__entry->sa_handler = handler;
		__entry->sa_flags = flags;
	),
	TP_printk("sig=%d errno=%d code=%d sa_handler=%lx sa_flags=%lx",
		__entry->sig, __entry->errno, __entry->code, __entry->sa_handler,
		__entry->sa_flags)
);

#endif

#include <trace/define_trace.h>
