/*
 * The tracepoints that a host may have in its scheduler and its critical sections, with the names
 * that Linux gives them: what tracers of trace/ listen to. trace/ defines them. A host that does
 * not call one of them lacks the tracers that need it.
 *
 * Context:   as each says; probes do not sleep, none is traced. Not in NMIs.
 * Ownership: arguments are good until the call returns.
 */
#ifndef TRACE_HOST_TRACEPOINTS_H
#define TRACE_HOST_TRACEPOINTS_H

#include <stdint.h>
#include <trace/compiler.h>
#include <trace/tracepoint.h>

TRACE_BEGIN_DECLS

#define TRACE_PRIO_REAL_TIME 100 /* below: real time, the smaller the more urgent */
#define TRACE_PRIO_NORMAL    120

struct trace_thread;

/* A thread as the scheduler sees it. */
struct trace_sched_thread {
	struct trace_thread *thread;
	const char *comm; /* of TRACE_COMM_LEN bytes, NUL included */
	int32_t pid;
	int32_t prio;	/* as Linux counts: 0 to 99 real time, 0 the most urgent; 120 normal */
	char state;	/* a letter, as ps shows it */
	uint8_t policy; /* as Linux counts: 0 normal, 1 FIFO, 2 RR */
	uint32_t cpu;	/* where it runs, or will */
	/* Of a thread that runs here: the function that it is in, and that one's caller. Else 0. */
	uintptr_t ip;
	uintptr_t parent_ip;
};

/* This CPU goes from `prev` to `next`. Interrupts off, `prev` still runs. */
DECLARE_TRACE(sched_switch,
	      TP_PROTO(const struct trace_sched_thread *prev,
		       const struct trace_sched_thread *next),
	      TP_ARGS(prev, next));

/*
 * `waker`, which runs here, has put `wakee`, which slept or is new, on a run queue; nobody can
 * switch to it before this returns. Interrupts off.
 */
DECLARE_TRACE(sched_wakeup,
	      TP_PROTO(const struct trace_sched_thread *waker,
		       const struct trace_sched_thread *wakee),
	      TP_ARGS(waker, wakee));

/* `thread`, which waits for a CPU, waits for another one now: thread->cpu. Interrupts off. */
DECLARE_TRACE(sched_migrate_task, TP_PROTO(const struct trace_sched_thread *thread),
	      TP_ARGS(thread));

/*
 * Interrupts of this CPU were just switched off, are about to be switched on; preemption likewise,
 * softirqs being held off or served included: its count has, still has, its first unit. They are
 * off during the call. `ip` is in the function that does it; `parent`, not 0 for locks and the
 * like, in the one on whose behalf.
 *
 * enable may come without disable, and disable twice.
 */
DECLARE_TRACE(irq_disable, TP_PROTO(uintptr_t ip, uintptr_t parent), TP_ARGS(ip, parent));
DECLARE_TRACE(irq_enable, TP_PROTO(uintptr_t ip, uintptr_t parent), TP_ARGS(ip, parent));
DECLARE_TRACE(preempt_disable, TP_PROTO(uintptr_t ip, uintptr_t parent), TP_ARGS(ip, parent));
DECLARE_TRACE(preempt_enable, TP_PROTO(uintptr_t ip, uintptr_t parent), TP_ARGS(ip, parent));

/*
 * CPU `cpu`, this one, is in the function at `ip` with interrupts off. It is about to wait for an
 * interrupt, in idle state `state` (1 where there are no several), or TRACE_CPU_IDLE_EXIT: it no
 * longer waits.
 */
#define TRACE_CPU_IDLE_EXIT UINT32_MAX
DECLARE_TRACE(cpu_idle, TP_PROTO(uint32_t state, uint32_t cpu, uintptr_t ip),
	      TP_ARGS(state, cpu, ip));

TRACE_END_DECLS

#endif
