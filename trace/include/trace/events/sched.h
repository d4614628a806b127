/*
 * Events of the host's scheduler, on the tracepoints of <trace/host_tracepoints.h>. Names, fields
 * and text are Linux's. See <trace/trace_events.h>.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sched

#if !defined(TRACE_EVENTS_SCHED_H) || defined(TRACE_HEADER_MULTI_READ)
#define TRACE_EVENTS_SCHED_H

#include <trace/host_tracepoints.h>
#include <trace/trace_events.h>

TRACE_EVENT_EXISTING(sched_switch,
	TP_PROTO(const struct trace_sched_thread *prev, const struct trace_sched_thread *next),
	TP_ARGS(prev, next),
	TP_STRUCT__entry(
		__array(char, prev_comm, 16)
		__field(int, prev_pid)
		__field(int, prev_prio)
		__field(unsigned int, prev_state)
		__array(char, next_comm, 16)
		__field(int, next_pid)
		__field(int, next_prio)
	),
	TP_fast_assign(
		memcpy(__entry->prev_comm, prev->comm, 16);
		__entry->prev_pid = prev->pid;
		__entry->prev_prio = prev->prio;
		__entry->prev_state = trace_sched_state_bit(prev->state);
		memcpy(__entry->next_comm, next->comm, 16);
		__entry->next_pid = next->pid;
		__entry->next_prio = next->prio;
	),
	TP_printk("prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s ==> next_comm=%s next_pid=%d next_prio=%d",
		__entry->prev_comm, __entry->prev_pid, __entry->prev_prio,
		__entry->prev_state ?
		__print_flags(__entry->prev_state, "|",
			{ 0x01, "S" }, { 0x02, "D" }, { 0x04, "T" }, { 0x08, "t" }, { 0x10, "X" },
			{ 0x20, "Z" }, { 0x40, "P" }, { 0x80, "I" }) : "R",
		__entry->next_comm, __entry->next_pid, __entry->next_prio)
);

#endif

#include <trace/define_trace.h>
