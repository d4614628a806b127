/*
 * Events of the sources of noise: while osnoise or timerlat runs, the end of each NMI, interrupt, softirq and
 * other thread that took time of a CPU. Durations are net: without those of what came in between. Names, text
 * and fields are Linux's, but that softirq_noise has the name of the softirq as a field, because hosts have
 * softirqs of their own. See <trace/noise.h>, <trace/trace_events.h>.
 *
 * SPDX-License-Identifier: MIT
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM osnoise

#if !defined(TRACE_EVENTS_OSNOISE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TRACE_EVENTS_OSNOISE_H

#include <trace/host_tracepoints.h>
#include <trace/trace_events.h>

TRACE_EVENT_ATOMIC(thread_noise,
	TP_PROTO(const struct trace_sched_thread *thread, uint64_t start, uint64_t duration),
	TP_ARGS(thread, start, duration),
	TP_STRUCT__entry(
		__array(char, comm, TRACE_COMM_LEN)
		__field_as(u64, unsigned long long, start)
		__field_as(u64, unsigned long long, duration)
		__field_as(pid_t, int, pid)
	),
	TP_fast_assign(
		memcpy(__entry->comm, thread->comm, TRACE_COMM_LEN);
		__entry->start = start;
		__entry->duration = duration;
		__entry->pid = thread->pid;
	),
	TP_printk("%8s:%d start %llu.%09llu duration %llu ns",
		__entry->comm, __entry->pid,
		__entry->start / 1000000000, __entry->start % 1000000000, __entry->duration)
);

TRACE_EVENT_ATOMIC(softirq_noise,
	TP_PROTO(int vector, const char *desc, uint64_t start, uint64_t duration),
	TP_ARGS(vector, desc, start, duration),
	TP_STRUCT__entry(
		__field_as(u64, unsigned long long, start)
		__field_as(u64, unsigned long long, duration)
		__field(int, vector)
		__string(desc, desc)
	),
	TP_fast_assign(
		__entry->start = start;
		__entry->duration = duration;
		__entry->vector = vector;
		__assign_str(desc, desc);
	),
	TP_printk("%8s:%d start %llu.%09llu duration %llu ns",
		__get_str(desc), __entry->vector,
		__entry->start / 1000000000, __entry->start % 1000000000, __entry->duration)
);

TRACE_EVENT_ATOMIC(irq_noise,
	TP_PROTO(int vector, const char *desc, uint64_t start, uint64_t duration),
	TP_ARGS(vector, desc, start, duration),
	TP_STRUCT__entry(
		__field_as(u64, unsigned long long, start)
		__field_as(u64, unsigned long long, duration)
		__string(desc, desc)
		__field(int, vector)
	),
	TP_fast_assign(
		__entry->start = start;
		__entry->duration = duration;
		__assign_str(desc, desc);
		__entry->vector = vector;
	),
	TP_printk("%s:%d start %llu.%09llu duration %llu ns",
		__get_str(desc), __entry->vector,
		__entry->start / 1000000000, __entry->start % 1000000000, __entry->duration)
);

TRACE_EVENT_ATOMIC(nmi_noise,
	TP_PROTO(uint64_t start, uint64_t duration),
	TP_ARGS(start, duration),
	TP_STRUCT__entry(
		__field_as(u64, unsigned long long, start)
		__field_as(u64, unsigned long long, duration)
	),
	TP_fast_assign(
		__entry->start = start;
		__entry->duration = duration;
	),
	TP_printk("start %llu.%09llu duration %llu ns",
		__entry->start / 1000000000, __entry->start % 1000000000, __entry->duration)
);

/* osnoise saw a time above its threshold, in which `interference` interruptions began. */
TRACE_EVENT(sample_threshold,
	TP_PROTO(uint64_t start, uint64_t duration, uint64_t interference),
	TP_ARGS(start, duration, interference),
	TP_STRUCT__entry(
		__field_as(u64, unsigned long long, start)
		__field_as(u64, unsigned long long, duration)
		__field_as(u64, unsigned long long, interference)
	),
	TP_fast_assign(
		__entry->start = start;
		__entry->duration = duration;
		__entry->interference = interference;
	),
	TP_printk("start %llu.%09llu duration %llu ns interference %llu",
		__entry->start / 1000000000, __entry->start % 1000000000,
		__entry->duration, __entry->interference)
);

#endif

#include <trace/define_trace.h>
