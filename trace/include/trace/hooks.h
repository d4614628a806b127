/*
 * What the host tells tracers about its scheduler and its critical sections, as long as somebody
 * wants to know: trace_plat_set_hooks() says which. A hook that is off costs the host a branch.
 *
 * Context:   as each hook says; no hook sleeps, none is traced.
 * Ownership: arguments are good until the hook returns.
 */
#ifndef TRACE_HOOKS_H
#define TRACE_HOOKS_H

#include <trace/platform.h>
#include <trace/thread.h>

enum trace_hook {
	TRACE_HOOK_SWITCH = 1u << 0,
};

/* A thread as the scheduler sees it. */
struct trace_sched_thread {
	struct trace_thread *thread;
	int32_t pid;
	int32_t prio; /* as Linux counts: 0 to 99 real time, 0 the most urgent; 120 normal */
	char state;   /* a letter, as ps shows it */
};

/* This CPU goes from `prev` to `next`. Interrupts off, `prev` still runs. */
void trace_hook_switch(const struct trace_sched_thread *prev,
		       const struct trace_sched_thread *next);

#endif
