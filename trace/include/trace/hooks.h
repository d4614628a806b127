/*
 * What the host tells tracers about its scheduler and its critical sections, as long as somebody
 * wants to know: trace_plat_set_hooks() says which. A hook that is off should cost the host nothing
 * that can be measured.
 *
 * Context:   as each hook says; no hook sleeps, none is traced. Not in NMIs.
 * Ownership: arguments are good until the hook returns.
 */
#ifndef TRACE_HOOKS_H
#define TRACE_HOOKS_H

#include <trace/platform.h>
#include <trace/thread.h>

enum trace_hook {
	TRACE_HOOK_SWITCH = 1u << 0,
	TRACE_HOOK_WAKEUP = 1u << 1,
	TRACE_HOOK_IRQS = 1u << 2,
	TRACE_HOOK_PREEMPT = 1u << 3,
	TRACE_HOOK_IDLE = 1u << 4,
	TRACE_HOOK_MIGRATE = 1u << 5,
};
#define TRACE_NR_HOOKS 6

#define TRACE_PRIO_REAL_TIME 100 /* below: real time, the smaller the more urgent */
#define TRACE_PRIO_NORMAL    120

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
void trace_hook_switch(const struct trace_sched_thread *prev,
		       const struct trace_sched_thread *next);

/*
 * `waker`, which runs here, has put `wakee` on a run queue; nobody can switch to it before this
 * returns. Interrupts off.
 */
void trace_hook_wakeup(const struct trace_sched_thread *waker,
		       const struct trace_sched_thread *wakee);

/* `thread`, which waits for a CPU, waits for another one now: thread->cpu. Interrupts off. */
void trace_hook_migrate(const struct trace_sched_thread *thread);

/*
 * Interrupts of this CPU were just switched off, are about to be switched on; preemption likewise,
 * softirqs being held off or served included: its count has, still has, its first unit. They are
 * off during the call. `ip` is in the function that does it; `parent`, not 0 for locks and the
 * like, in the one on whose behalf.
 *
 * On may come without off, and off twice.
 */
void trace_hook_irqs_off(uintptr_t ip, uintptr_t parent);
void trace_hook_irqs_on(uintptr_t ip, uintptr_t parent);
void trace_hook_preempt_off(uintptr_t ip, uintptr_t parent);
void trace_hook_preempt_on(uintptr_t ip, uintptr_t parent);

/* This CPU, in idle with interrupts off, waits for an interrupt; it no longer waits. */
void trace_hook_idle_begin(uintptr_t ip);
void trace_hook_idle_end(uintptr_t ip);

#endif
