/*
 * Users of the host's hooks inside trace/: each says which it wants; the host is told the union.
 *
 * Context:   add, remove - thread. The members of a user - as <trace/hooks.h> says of the hook.
 * Locking:   its own; a member may not add or remove.
 * Ownership: a user's memory is its owner's again when trace_hooks_remove() returns.
 */
#ifndef TRACE_HOOKS_PRIVATE_H
#define TRACE_HOOKS_PRIVATE_H

#include <trace/hooks.h>

struct trace_hook_user;

/* Interrupts or preemption go off (`is_off`) or on. */
typedef void (*trace_section_fn)(struct trace_hook_user *user, bool is_off, uintptr_t ip,
				 uintptr_t parent);

struct trace_hook_user {
	/* What is NULL is not wanted. */
	trace_section_fn irqs;
	trace_section_fn preempt;
	void (*idle)(struct trace_hook_user *user, bool begins, uintptr_t ip);
	struct trace_hook_user *_Atomic next; /* hooks.c */
};

void trace_hooks_add(struct trace_hook_user *user);
/* Nobody is inside one of its members when it returns. */
void trace_hooks_remove(struct trace_hook_user *user);

#endif
