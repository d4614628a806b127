/*
 * What the host tells tracers about its critical sections, as long as somebody
 * wants to know: trace_plat_set_hooks() says which. A hook that is off should cost the host nothing
 * that can be measured.
 *
 * Context:   as each hook says; no hook sleeps, none is traced. Not in NMIs.
 * Ownership: arguments are good until the hook returns.
 */
#ifndef TRACE_HOOKS_H
#define TRACE_HOOKS_H

#include <trace/platform.h>

enum trace_hook {
	TRACE_HOOK_IRQS = 1u << 0,
	TRACE_HOOK_PREEMPT = 1u << 1,
	TRACE_HOOK_IDLE = 1u << 2,
};
#define TRACE_NR_HOOKS 3

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
