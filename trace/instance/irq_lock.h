/*
 * A lock of one word, for a few instructions: who holds it has interrupts off, so that on its own
 * CPU nobody but an NMI can find it taken.
 *
 * Context: any; NMI only tries.
 */
#ifndef TRACE_IRQ_LOCK_H
#define TRACE_IRQ_LOCK_H

#include <stdatomic.h>
#include <trace/platform_full.h>

/* True: it is taken, and `out_flags` are for trace_irq_unlock(). */
static inline bool trace_irq_trylock(_Atomic bool *lock, uint64_t *out_flags)
{
	*out_flags = trace_plat_irq_save();
	if (!atomic_exchange_explicit(lock, true, memory_order_acquire))
		return true;
	trace_plat_irq_restore(*out_flags);
	return false;
}

static inline uint64_t trace_irq_lock(_Atomic bool *lock)
{
	uint64_t flags;

	while (!trace_irq_trylock(lock, &flags))
		;
	return flags;
}

static inline void trace_irq_unlock(_Atomic bool *lock, uint64_t flags)
{
	atomic_store_explicit(lock, false, memory_order_release);
	trace_plat_irq_restore(flags);
}

#endif
