/* Spin locks, see <kernel/lock.h>. */
#include <stdatomic.h>
#include <arch/cpu.h>
#include <kernel/config.h>
#include <kernel/lock.h>
#include <kernel/preempt.h>
#include <trace/events/lock.h>
#include "lock_order.h"

static struct held_locks held[MAX_CPUS]; /* debug: the spin locks that each CPU holds */

/* Debug builds: rules that a lock's users must keep. Called before the lock is taken. */
static void spinlock_check_before(struct spinlock *lock)
{
	if (in_nmi())
		panic("spin lock %p in an NMI", (void *)lock);
	if (atomic_load_explicit(&lock->locked, memory_order_relaxed) &&
	    lock->owner_cpu == cpu_local_read(id) + 1)
		panic("spin lock %p is taken twice by CPU %u", (void *)lock, cpu_local_read(id));
	lock_order_check(&held[cpu_local_read(id)], lock);
}

/*
 * Bits of lock->used_in: contexts that it was taken in. The first two exclude each other, and so do
 * the last two: if a thread that holds the lock is interrupted there, the interrupt or softirq
 * would wait for it for ever.
 */
#define USED_IN_IRQ	 1u
#define USED_IRQS_ON	 2u
#define USED_IN_SOFTIRQ	 4u
#define USED_SOFTIRQS_ON 8u

static uint8_t spinlock_context_now(void)
{
	bool irqs_on = !arch_irqs_disabled();

	if (in_irq())
		return USED_IN_IRQ;
	if (preempt_count() & PREEMPT_SOFTIRQ_ONE)
		return irqs_on ? USED_IN_SOFTIRQ | USED_IRQS_ON : USED_IN_SOFTIRQ;
	if (!irqs_on)
		return 0;
	return in_interrupt() ? USED_IRQS_ON : USED_IRQS_ON | USED_SOFTIRQS_ON;
}

static void spinlock_check_after(struct spinlock *lock)
{
	lock->owner_cpu = cpu_local_read(id) + 1;
	lock_order_add(&held[cpu_local_read(id)], lock);
	lock->used_in |= spinlock_context_now();
	if ((lock->used_in & USED_IN_IRQ) && (lock->used_in & USED_IRQS_ON))
		panic("spin lock %p: used in interrupts and with interrupts on", (void *)lock);
	if ((lock->used_in & USED_IN_SOFTIRQ) && (lock->used_in & USED_SOFTIRQS_ON))
		panic("spin lock %p: used in softirqs and with softirqs on", (void *)lock);
}

static void spinlock_check_unlock(struct spinlock *lock)
{
	if (!atomic_load_explicit(&lock->locked, memory_order_relaxed) ||
	    lock->owner_cpu != cpu_local_read(id) + 1)
		panic("spin lock %p is not held by CPU %u", (void *)lock, cpu_local_read(id));
	lock->owner_cpu = 0;
	lock_order_remove(&held[cpu_local_read(id)], lock);
}

#define CALLER ((uintptr_t)__builtin_return_address(0))

static bool spinlock_try_take(struct spinlock *lock)
{
	/* acquire: pairs with the release in spinlock_release_lock(). */
	return !atomic_load_explicit(&lock->locked, memory_order_relaxed) &&
	       !atomic_exchange_explicit(&lock->locked, 1, memory_order_acquire);
}

static TRACE_NOINLINE void spinlock_wait(struct spinlock *lock)
{
	trace_contention_begin(lock, LCB_F_SPIN);
	while (!spinlock_try_take(lock))
		arch_cpu_relax();
	trace_contention_end(lock, 0);
}

/*
 * This one and the next are inlined: as functions they would be a quarter of the trace of a kernel
 * under load.
 */
static TRACE_ALWAYS_INLINE void spinlock_take(struct spinlock *lock)
{
	if (KERNEL_DEBUG)
		spinlock_check_before(lock);
	if (TRACE_UNLIKELY(!spinlock_try_take(lock)))
		spinlock_wait(lock);
	if (KERNEL_DEBUG)
		spinlock_check_after(lock);
	trace_lock_acquired(lock);
}

static TRACE_ALWAYS_INLINE void spinlock_release_lock(struct spinlock *lock)
{
	trace_lock_release(lock);
	if (KERNEL_DEBUG)
		spinlock_check_unlock(lock);
	atomic_store_explicit(&lock->locked, 0, memory_order_release);
}

void spin_lock(struct spinlock *lock)
{
	preempt_disable_from(CALLER);
	spinlock_take(lock);
}

bool spin_trylock(struct spinlock *lock)
{
	preempt_disable_from(CALLER);
	if (spinlock_try_take(lock)) {
		if (KERNEL_DEBUG)
			spinlock_check_after(lock);
		trace_lock_acquired(lock);
		return true;
	}
	preempt_enable_from(CALLER);
	return false;
}

void spin_unlock(struct spinlock *lock)
{
	spinlock_release_lock(lock);
	preempt_enable_from(CALLER);
}

uint64_t spin_lock_irqsave(struct spinlock *lock)
{
	uint64_t flags = arch_irq_save_from(CALLER);

	preempt_disable_from(CALLER);
	spinlock_take(lock);
	return flags;
}

bool spin_trylock_irqsave(struct spinlock *lock, uint64_t *out_flags)
{
	uint64_t flags = arch_irq_save_from(CALLER);

	if (spin_trylock(lock)) {
		*out_flags = flags;
		return true;
	}
	arch_irq_restore_from(flags, CALLER);
	return false;
}

void spin_unlock_irqrestore(struct spinlock *lock, uint64_t flags)
{
	spinlock_release_lock(lock);
	arch_irq_restore_from(flags, CALLER);
	preempt_enable_from(CALLER);
}
