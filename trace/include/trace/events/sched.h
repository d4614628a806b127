/*
 * Events of the host's scheduler, on the tracepoints of <trace/host_tracepoints.h>. Names, fields
 * and text are Linux's. See <trace/trace_events.h>.
 *
 * SPDX-License-Identifier: MIT
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
		__field_as(pid_t, int, prev_pid)
		__field(int, prev_prio)
		__field_as(long, int, prev_state)
		__array(char, next_comm, 16)
		__field_as(pid_t, int, next_pid)
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

DECLARE_EVENT_CLASS(sched_wakeup_template,
	TP_PROTO(const struct trace_sched_thread *waker, const struct trace_sched_thread *wakee),
	TP_ARGS(waker, wakee),
	TP_STRUCT__entry(
		__array(char, comm, 16)
		__field_as(pid_t, int, pid)
		__field(int, prio)
		__field(int, target_cpu)
	),
	TP_fast_assign(
		memcpy(__entry->comm, wakee->comm, 16);
		__entry->pid = wakee->pid;
		__entry->prio = wakee->prio;
		__entry->target_cpu = wakee->cpu;
	),
	TP_printk("comm=%s pid=%d prio=%d target_cpu=%03d",
		__entry->comm, __entry->pid, __entry->prio, __entry->target_cpu)
);

DEFINE_EVENT_EXISTING(sched_wakeup_template, sched_waking,
	TP_PROTO(const struct trace_sched_thread *waker, const struct trace_sched_thread *wakee),
	TP_ARGS(waker, wakee));

DEFINE_EVENT_EXISTING(sched_wakeup_template, sched_wakeup,
	TP_PROTO(const struct trace_sched_thread *waker, const struct trace_sched_thread *wakee),
	TP_ARGS(waker, wakee));

DEFINE_EVENT_EXISTING(sched_wakeup_template, sched_wakeup_new,
	TP_PROTO(const struct trace_sched_thread *waker, const struct trace_sched_thread *wakee),
	TP_ARGS(waker, wakee));

TRACE_EVENT_EXISTING(sched_migrate_task,
	TP_PROTO(const struct trace_sched_thread *thread, uint32_t orig_cpu),
	TP_ARGS(thread, orig_cpu),
	TP_STRUCT__entry(
		__array(char, comm, 16)
		__field_as(pid_t, int, pid)
		__field(int, prio)
		__field(int, orig_cpu)
		__field(int, dest_cpu)
	),
	TP_fast_assign(
		memcpy(__entry->comm, thread->comm, 16);
		__entry->pid = thread->pid;
		__entry->prio = thread->prio;
		__entry->orig_cpu = orig_cpu;
		__entry->dest_cpu = thread->cpu;
	),
	TP_printk("comm=%s pid=%d prio=%d orig_cpu=%d dest_cpu=%d",
		__entry->comm, __entry->pid, __entry->prio, __entry->orig_cpu, __entry->dest_cpu)
);

TRACE_EVENT_EXISTING(sched_process_fork,
	TP_PROTO(const struct trace_sched_thread *parent, const struct trace_sched_thread *child),
	TP_ARGS(parent, child),
	TP_STRUCT__entry(
		__array(char, parent_comm, 16)
		__field_as(pid_t, int, parent_pid)
		__array(char, child_comm, 16)
		__field_as(pid_t, int, child_pid)
	),
	TP_fast_assign(
		memcpy(__entry->parent_comm, parent->comm, 16);
		__entry->parent_pid = parent->pid;
		memcpy(__entry->child_comm, child->comm, 16);
		__entry->child_pid = child->pid;
	),
	TP_printk("comm=%s pid=%d child_comm=%s child_pid=%d",
		__entry->parent_comm, __entry->parent_pid, __entry->child_comm, __entry->child_pid)
);

DECLARE_EVENT_CLASS(sched_process_template,
	TP_PROTO(const struct trace_sched_thread *thread),
	TP_ARGS(thread),
	TP_STRUCT__entry(
		__array(char, comm, 16)
		__field_as(pid_t, int, pid)
		__field(int, prio)
	),
	TP_fast_assign(
		memcpy(__entry->comm, thread->comm, 16);
		__entry->pid = thread->pid;
		__entry->prio = thread->prio;
	),
	TP_printk("comm=%s pid=%d prio=%d", __entry->comm, __entry->pid, __entry->prio)
);

DEFINE_EVENT_EXISTING(sched_process_template, sched_process_exit,
	TP_PROTO(const struct trace_sched_thread *thread),
	TP_ARGS(thread));

DEFINE_EVENT_EXISTING(sched_process_template, sched_process_free,
	TP_PROTO(const struct trace_sched_thread *thread),
	TP_ARGS(thread));

/* The pid is that of the thread whose end is waited for, as in Linux. */
TRACE_EVENT_EXISTING(sched_process_wait,
	TP_PROTO(const struct trace_sched_thread *waiter, int32_t pid),
	TP_ARGS(waiter, pid),
	TP_STRUCT__entry(
		__array(char, comm, 16)
		__field_as(pid_t, int, pid)
		__field(int, prio)
	),
	TP_fast_assign(
		memcpy(__entry->comm, waiter->comm, 16);
		__entry->pid = pid;
		__entry->prio = waiter->prio;
	),
	TP_printk("comm=%s pid=%d prio=%d", __entry->comm, __entry->pid, __entry->prio)
);

TRACE_EVENT_EXISTING(sched_stat_runtime,
	TP_PROTO(const struct trace_sched_thread *thread, uint64_t runtime, uint64_t vruntime),
	TP_ARGS(thread, runtime, vruntime),
	TP_STRUCT__entry(
		__array(char, comm, 16)
		__field_as(pid_t, int, pid)
		__field_as(u64, unsigned long long, runtime)
		__field_as(u64, unsigned long long, vruntime)
	),
	TP_fast_assign(
		memcpy(__entry->comm, thread->comm, 16);
		__entry->pid = thread->pid;
		__entry->runtime = runtime;
		__entry->vruntime = vruntime;
	),
	TP_printk("comm=%s pid=%d runtime=%llu [ns] vruntime=%llu [ns]",
		__entry->comm, __entry->pid, __entry->runtime, __entry->vruntime)
);

DECLARE_EVENT_CLASS(sched_stat_template,
	TP_PROTO(const struct trace_sched_thread *thread, uint64_t delay),
	TP_ARGS(thread, delay),
	TP_STRUCT__entry(
		__array(char, comm, 16)
		__field_as(pid_t, int, pid)
		__field_as(u64, unsigned long long, delay)
	),
	TP_fast_assign(
		memcpy(__entry->comm, thread->comm, 16);
		__entry->pid = thread->pid;
		__entry->delay = delay;
	),
	TP_printk("comm=%s pid=%d delay=%llu [ns]",
		__entry->comm, __entry->pid, __entry->delay)
);

DEFINE_EVENT_EXISTING(sched_stat_template, sched_stat_wait,
	TP_PROTO(const struct trace_sched_thread *thread, uint64_t delay),
	TP_ARGS(thread, delay));

DEFINE_EVENT_EXISTING(sched_stat_template, sched_stat_sleep,
	TP_PROTO(const struct trace_sched_thread *thread, uint64_t delay),
	TP_ARGS(thread, delay));

DEFINE_EVENT_EXISTING(sched_stat_template, sched_stat_blocked,
	TP_PROTO(const struct trace_sched_thread *thread, uint64_t delay),
	TP_ARGS(thread, delay));

#endif

#include <trace/define_trace.h>
