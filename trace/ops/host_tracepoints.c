/*
 * The tracepoints by which the host reports on its scheduler and its critical sections. See
 * <trace/host_tracepoints.h>.
 */
#include <trace/host_tracepoints.h>
#include <trace/platform.h>

DEFINE_TRACE_ATOMIC(sched_switch,
		    TP_PROTO(const struct trace_sched_thread *prev,
			     const struct trace_sched_thread *next),
		    TP_ARGS(prev, next));

DEFINE_TRACE_ATOMIC(sched_waking,
		    TP_PROTO(const struct trace_sched_thread *waker,
			     const struct trace_sched_thread *wakee),
		    TP_ARGS(waker, wakee));

DEFINE_TRACE_ATOMIC(sched_wakeup,
		    TP_PROTO(const struct trace_sched_thread *waker,
			     const struct trace_sched_thread *wakee),
		    TP_ARGS(waker, wakee));

DEFINE_TRACE_ATOMIC(sched_wakeup_new,
		    TP_PROTO(const struct trace_sched_thread *waker,
			     const struct trace_sched_thread *wakee),
		    TP_ARGS(waker, wakee));

DEFINE_TRACE_ATOMIC(sched_migrate_task,
		    TP_PROTO(const struct trace_sched_thread *thread, uint32_t orig_cpu),
		    TP_ARGS(thread, orig_cpu));

DEFINE_TRACE(sched_process_fork,
	     TP_PROTO(const struct trace_sched_thread *parent,
		      const struct trace_sched_thread *child),
	     TP_ARGS(parent, child));

DEFINE_TRACE(sched_process_exit, TP_PROTO(const struct trace_sched_thread *thread),
	     TP_ARGS(thread));

DEFINE_TRACE(sched_process_free, TP_PROTO(const struct trace_sched_thread *thread),
	     TP_ARGS(thread));

DEFINE_TRACE(sched_process_wait, TP_PROTO(const struct trace_sched_thread *waiter, int32_t pid),
	     TP_ARGS(waiter, pid));

DEFINE_TRACE_ATOMIC(sched_stat_runtime,
		    TP_PROTO(const struct trace_sched_thread *thread, uint64_t runtime,
			     uint64_t vruntime),
		    TP_ARGS(thread, runtime, vruntime));

DEFINE_TRACE_ATOMIC(sched_stat_wait,
		    TP_PROTO(const struct trace_sched_thread *thread, uint64_t delay),
		    TP_ARGS(thread, delay));

DEFINE_TRACE_ATOMIC(sched_stat_sleep,
		    TP_PROTO(const struct trace_sched_thread *thread, uint64_t delay),
		    TP_ARGS(thread, delay));

DEFINE_TRACE_ATOMIC(sched_stat_blocked,
		    TP_PROTO(const struct trace_sched_thread *thread, uint64_t delay),
		    TP_ARGS(thread, delay));

DEFINE_TRACE_ATOMIC(irq_disable, TP_PROTO(uintptr_t ip, uintptr_t parent), TP_ARGS(ip, parent));

DEFINE_TRACE_ATOMIC(irq_enable, TP_PROTO(uintptr_t ip, uintptr_t parent), TP_ARGS(ip, parent));

DEFINE_TRACE_ATOMIC(preempt_disable, TP_PROTO(uintptr_t ip, uintptr_t parent), TP_ARGS(ip, parent));

DEFINE_TRACE_ATOMIC(preempt_enable, TP_PROTO(uintptr_t ip, uintptr_t parent), TP_ARGS(ip, parent));

DEFINE_TRACE_ATOMIC(cpu_idle, TP_PROTO(uint32_t state, uint32_t cpu, uintptr_t ip),
		    TP_ARGS(state, cpu, ip));
