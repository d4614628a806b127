/*
 * A spinlock for a few instructions. Whoever holds it has interrupts off, so on the same CPU only
 * an NMI can find it taken. A zeroed word is unlocked.
 *
 * Context: any; an NMI may only use trylock.
 */
#ifndef TRACE_IRQ_LOCK_H
#define TRACE_IRQ_LOCK_H

#include <stdatomic.h>
#include <trace/platform_full.h>

/* True: the caller has the lock, and gives *out_flags to trace_irq_unlock(). False: it is taken. */
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
