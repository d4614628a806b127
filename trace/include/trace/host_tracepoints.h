/*
 * The tracepoints that a host calls in its scheduler and its critical sections; tracers of trace/
 * listen to them. They have the names that Linux gives them, and trace/ defines them. If a host
 * does not call one of them, the tracers that need it see nothing.
 *
 * Context:   as each says; probes do not sleep, none is traced. Not in NMIs.
 * Ownership: arguments are good until the call returns.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_HOST_TRACEPOINTS_H
#define TRACE_HOST_TRACEPOINTS_H

#include <stdint.h>
#include <trace/compiler.h>
#include <trace/tracepoint.h>

TRACE_BEGIN_DECLS

#define TRACE_PRIO_REAL_TIME 100 /* priorities 0 to 99 are real time, 0 the most urgent */
#define TRACE_PRIO_NORMAL    120

struct trace_thread;

/* A thread as the scheduler sees it. */
struct trace_sched_thread {
	struct trace_thread *thread;
	const char *comm; /* of TRACE_COMM_LEN bytes, NUL included */
	int32_t pid;
	int32_t prio;	/* as Linux counts: 0 to 99 real time, 0 the most urgent; 120 normal */
	char state;	/* the letter that ps shows: R, S, D and so on */
	uint8_t policy; /* as Linux counts: 0 normal, 1 FIFO, 2 RR */
	uint32_t cpu;	/* the CPU on which it runs, or will run */
	/*
	 * If it runs on this CPU: where it is, as addresses in a function and its caller; else 0.
	 */
	uintptr_t ip;
	uintptr_t parent_ip;
};

/*
 * The bit that Linux has for a state of a thread, given as the letter that ps shows: 0 for R, 1 for
 * S, 2 for D, and so on.
 */
static inline uint32_t trace_sched_state_bit(char state)
{
	switch (state) {
	case 'S':
		return 0x01;
	case 'D':
		return 0x02;
	case 'T':
		return 0x04;
	case 't':
		return 0x08;
	case 'X':
		return 0x10;
	case 'Z':
		return 0x20;
	case 'P':
		return 0x40;
	case 'I':
		return 0x80;
	default:
		return 0;
	}
}

/* This CPU goes from `prev` to `next`. Interrupts off, `prev` still runs. */
DECLARE_TRACE(sched_switch,
	      TP_PROTO(const struct trace_sched_thread *prev,
		       const struct trace_sched_thread *next),
	      TP_ARGS(prev, next));

/*
 * `waker`, which runs here, is about to wake `wakee`, which sleeps: before a CPU is chosen, so
 * wakee->cpu is the one where it ran last. Interrupts off.
 */
DECLARE_TRACE(sched_waking,
	      TP_PROTO(const struct trace_sched_thread *waker,
		       const struct trace_sched_thread *wakee),
	      TP_ARGS(waker, wakee));

/*
 * `waker`, which runs here, has put `wakee`, which slept, on a run queue; no CPU can switch to it
 * before this returns. Interrupts off.
 */
DECLARE_TRACE(sched_wakeup,
	      TP_PROTO(const struct trace_sched_thread *waker,
		       const struct trace_sched_thread *wakee),
	      TP_ARGS(waker, wakee));
/* The same for a wakee that is new and has not run yet. */
DECLARE_TRACE(sched_wakeup_new,
	      TP_PROTO(const struct trace_sched_thread *waker,
		       const struct trace_sched_thread *wakee),
	      TP_ARGS(waker, wakee));

/*
 * `thread`, which is on a run queue, was moved there from CPU `orig_cpu`: while it waited to run,
 * or because it wakes on another CPU than it ran on last. Interrupts off.
 */
DECLARE_TRACE(sched_migrate_task,
	      TP_PROTO(const struct trace_sched_thread *thread, uint32_t orig_cpu),
	      TP_ARGS(thread, orig_cpu));

/*
 * The life of a thread: `parent` has made `child`, which does not run yet; `thread` ends, still
 * running; the rest of it is freed; `waiter`, which runs here, waits for the end of thread `pid`.
 * Thread context.
 */
DECLARE_TRACE(sched_process_fork,
	      TP_PROTO(const struct trace_sched_thread *parent,
		       const struct trace_sched_thread *child),
	      TP_ARGS(parent, child));
DECLARE_TRACE(sched_process_exit, TP_PROTO(const struct trace_sched_thread *thread),
	      TP_ARGS(thread));
DECLARE_TRACE(sched_process_free, TP_PROTO(const struct trace_sched_thread *thread),
	      TP_ARGS(thread));
DECLARE_TRACE(sched_process_wait, TP_PROTO(const struct trace_sched_thread *waiter, int32_t pid),
	      TP_ARGS(waiter, pid));

/*
 * Times in nanoseconds, each told when it has passed. Interrupts off.
 *
 *   runtime   the CPU time that `thread` has used since the last call; `vruntime` is its virtual
 *             run time, by which the scheduler orders threads
 *   wait      it was on a run queue and did not run, and now it runs
 *   sleep     it slept, where it could be interrupted, and now it is on a run queue
 *   blocked   the same where it could not be interrupted
 */
DECLARE_TRACE(sched_stat_runtime,
	      TP_PROTO(const struct trace_sched_thread *thread, uint64_t runtime,
		       uint64_t vruntime),
	      TP_ARGS(thread, runtime, vruntime));
DECLARE_TRACE(sched_stat_wait, TP_PROTO(const struct trace_sched_thread *thread, uint64_t delay),
	      TP_ARGS(thread, delay));
DECLARE_TRACE(sched_stat_sleep, TP_PROTO(const struct trace_sched_thread *thread, uint64_t delay),
	      TP_ARGS(thread, delay));
DECLARE_TRACE(sched_stat_blocked, TP_PROTO(const struct trace_sched_thread *thread, uint64_t delay),
	      TP_ARGS(thread, delay));

/*
 * Critical sections of this CPU. irq_disable is called just after interrupts were switched off,
 * irq_enable just before they are switched on; so they are off during the call. preempt_disable and
 * preempt_enable are the same for preemption: just after the preempt count became non-zero, just
 * before it becomes 0, where holding off or serving softirqs counts, too.
 *
 * `ip` is an address in the function that does it. `parent` is one in the function on whose behalf
 * it does, for locks and the like; otherwise 0.
 *
 * Calls need not be balanced: enable may come without disable, and disable twice.
 */
DECLARE_TRACE(irq_disable, TP_PROTO(uintptr_t ip, uintptr_t parent), TP_ARGS(ip, parent));
DECLARE_TRACE(irq_enable, TP_PROTO(uintptr_t ip, uintptr_t parent), TP_ARGS(ip, parent));
DECLARE_TRACE(preempt_disable, TP_PROTO(uintptr_t ip, uintptr_t parent), TP_ARGS(ip, parent));
DECLARE_TRACE(preempt_enable, TP_PROTO(uintptr_t ip, uintptr_t parent), TP_ARGS(ip, parent));

/*
 * This CPU, `cpu`, is about to wait for an interrupt in idle state `state` (1 when there is only
 * one); or, with TRACE_CPU_IDLE_EXIT, it has stopped waiting. Interrupts off. `ip` is an address in
 * the function that waits.
 */
#define TRACE_CPU_IDLE_EXIT UINT32_MAX
DECLARE_TRACE(cpu_idle, TP_PROTO(uint32_t state, uint32_t cpu, uintptr_t ip),
	      TP_ARGS(state, cpu, ip));

TRACE_END_DECLS

#endif
