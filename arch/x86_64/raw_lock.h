/*
 * A lock that spins, for the few places of arch/ that several CPUs share. The locks of kernel/ can
 * do more, but arch/ cannot use them.
 *
 * Context: any but NMI. Interrupts are off while it is held.
 */
#ifndef RAW_LOCK_H
#define RAW_LOCK_H

#include <arch/cpu.h>
#include <stdatomic.h>

struct raw_lock {
	_Atomic uint32_t held;
};

static TRACE_ALWAYS_INLINE bool raw_try_lock(struct raw_lock *lock)
{
	return atomic_exchange_explicit(&lock->held, 1, memory_order_acquire) == 0;
}

/* Returns the flags for raw_unlock(). */
static TRACE_ALWAYS_INLINE uint64_t raw_lock(struct raw_lock *lock)
{
	uint64_t flags = arch_irq_save();

	while (!raw_try_lock(lock))
		arch_cpu_relax();
	return flags;
}

static TRACE_ALWAYS_INLINE void raw_unlock(struct raw_lock *lock, uint64_t flags)
{
	atomic_store_explicit(&lock->held, 0, memory_order_release);
	arch_irq_restore(flags);
}

#endif
