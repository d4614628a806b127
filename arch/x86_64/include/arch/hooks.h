/*
 * Calls of <trace/hooks.h> from the middle of inline functions: through an assembly routine that
 * preserves every register, so that a branch that is not taken costs the code around it nothing
 * but its NOP.
 *
 * Context: as <trace/hooks.h> says of each. hook_keys are switched by trace_plat_set_hooks().
 */
#ifndef ARCH_HOOKS_H
#define ARCH_HOOKS_H

#include <trace/compiler.h>
#include <trace/static_key.h>

enum hook_key {
	HOOK_KEY_IRQS,
	HOOK_KEY_PREEMPT,
	HOOK_KEY_IDLE,
	NR_HOOK_KEYS,
};

/* In the order of the bits of enum trace_hook. */
extern struct trace_static_key hook_keys[NR_HOOK_KEYS];

#define hook_wanted(key) trace_static_key_enabled(&hook_keys[key])

/* hook_call.asm. rdi: parent; what they pass on as ip is where they are called. */
void hook_call_irqs_off(void);
void hook_call_irqs_on(void);
void hook_call_preempt_off(void);
void hook_call_preempt_on(void);

#define HOOK_CALL(name, parent)                                                                    \
	__asm__ volatile("call hook_call_" name : : "D"(parent) : "memory", "cc")

#endif
