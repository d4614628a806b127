/*
 * Telling tracers what the scheduler does: see <trace/hooks.h>. Off, each costs a load and a
 * branch.
 *
 * Context: as <trace/hooks.h> says of each.
 */
#ifndef KERNEL_HOOKS_H
#define KERNEL_HOOKS_H

#include <stdatomic.h>
#include <stdint.h>
#include <trace/hooks.h>

extern _Atomic uint32_t trace_hooks_wanted; /* trace_host.c; enum trace_hook */

static TRACE_ALWAYS_INLINE bool hook_wanted(enum trace_hook hook)
{
	return TRACE_UNLIKELY(atomic_load_explicit(&trace_hooks_wanted, memory_order_relaxed) &
			      hook);
}

#endif
