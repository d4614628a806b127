/*
 * <arch/hooks.h> of the simulated machine: hooks are wanted when a test says so, and it sees them.
 */
#ifndef SIM_ARCH_HOOKS_H
#define SIM_ARCH_HOOKS_H

#include_next <arch/hooks.h>

/* Defined by a test that cares: whether the hook is wanted; that it was called, as "irqs_off". */
bool sim_hook_wanted(enum hook_key key);
void sim_hook_call(const char *name, unsigned long parent);

#undef hook_wanted
#undef HOOK_CALL
#define hook_wanted(key)	sim_hook_wanted(key)
#define HOOK_CALL(name, parent) sim_hook_call(name, parent)

#endif
