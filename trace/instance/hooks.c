/*
 * See hooks.h. A list that hooks walk with preemption off.
 */
#include "hooks.h"
#include <stdatomic.h>

static struct trace_plat_lock lock;	      /* changes of the list */
static struct trace_hook_user *_Atomic users; /* hooks follow it without the lock */

static struct trace_hook_user *first_user(void)
{
	/* Acquire: with the release in trace_hooks_add(). */
	return atomic_load_explicit(&users, memory_order_acquire);
}

static struct trace_hook_user *next_user(struct trace_hook_user *user)
{
	return atomic_load_explicit(&user->next, memory_order_acquire);
}

static uint32_t wanted_hooks(void)
{
	uint32_t mask = 0;

	for (struct trace_hook_user *user = first_user(); user; user = next_user(user)) {
		if (user->irqs)
			mask |= TRACE_HOOK_IRQS;
		if (user->preempt)
			mask |= TRACE_HOOK_PREEMPT;
		if (user->idle)
			mask |= TRACE_HOOK_IDLE;
	}
	return mask;
}

void trace_hooks_add(struct trace_hook_user *user)
{
	trace_plat_lock(&lock);
	atomic_store_explicit(&user->next, first_user(), memory_order_relaxed);
	atomic_store_explicit(&users, user, memory_order_release);
	trace_plat_set_hooks(wanted_hooks());
	trace_plat_unlock(&lock);
}

void trace_hooks_remove(struct trace_hook_user *user)
{
	struct trace_hook_user *_Atomic *link = &users;

	trace_plat_lock(&lock);
	while (atomic_load(link) && atomic_load(link) != user)
		link = &atomic_load(link)->next;
	if (atomic_load(link))
		atomic_store_explicit(link, next_user(user), memory_order_release);
	trace_plat_set_hooks(wanted_hooks());
	trace_plat_unlock(&lock);
	trace_plat_synchronize_preempt();
}

static void tell_irqs(bool is_off, uintptr_t ip, uintptr_t parent)
{
	for (struct trace_hook_user *user = first_user(); user; user = next_user(user)) {
		if (user->irqs)
			user->irqs(user, is_off, ip, parent);
	}
}

void trace_hook_irqs_off(uintptr_t ip, uintptr_t parent)
{
	tell_irqs(true, ip, parent);
}

void trace_hook_irqs_on(uintptr_t ip, uintptr_t parent)
{
	tell_irqs(false, ip, parent);
}

static void preempt_changed(bool is_off, uintptr_t ip, uintptr_t parent)
{
	for (struct trace_hook_user *user = first_user(); user; user = next_user(user)) {
		if (user->preempt)
			user->preempt(user, is_off, ip, parent);
	}
}

void trace_hook_preempt_off(uintptr_t ip, uintptr_t parent)
{
	preempt_changed(true, ip, parent);
}

void trace_hook_preempt_on(uintptr_t ip, uintptr_t parent)
{
	preempt_changed(false, ip, parent);
}

static void idle_changed(bool begins, uintptr_t ip)
{
	for (struct trace_hook_user *user = first_user(); user; user = next_user(user)) {
		if (user->idle)
			user->idle(user, begins, ip);
	}
}

void trace_hook_idle_begin(uintptr_t ip)
{
	idle_changed(true, ip);
}

void trace_hook_idle_end(uintptr_t ip)
{
	idle_changed(false, ip);
}
