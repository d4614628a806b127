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

DEFINE_TRACE_ATOMIC(irq_disable, TP_PROTO(uintptr_t ip, uintptr_t parent), TP_ARGS(ip, parent));

DEFINE_TRACE_ATOMIC(irq_enable, TP_PROTO(uintptr_t ip, uintptr_t parent), TP_ARGS(ip, parent));

DEFINE_TRACE_ATOMIC(preempt_disable, TP_PROTO(uintptr_t ip, uintptr_t parent), TP_ARGS(ip, parent));

DEFINE_TRACE_ATOMIC(preempt_enable, TP_PROTO(uintptr_t ip, uintptr_t parent), TP_ARGS(ip, parent));

DEFINE_TRACE_ATOMIC(cpu_idle, TP_PROTO(uint32_t state, uint32_t cpu, uintptr_t ip),
		    TP_ARGS(state, cpu, ip));
