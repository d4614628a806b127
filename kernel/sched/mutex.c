/* Sleeping locks, see <kernel/lock.h>. */
#include <stdatomic.h>
#include <arch/cpu.h>
#include <kernel/config.h>
#include <kernel/lock.h>
#include <kernel/thread.h>
#include <trace/events/lock.h>
#include "lock_order.h"

bool mutex_trylock(struct mutex *mutex)
{
	struct thread *nobody = NULL;

	if (!atomic_compare_exchange_strong(&mutex->owner, &nobody, current_thread()))
		return false;
	if (KERNEL_DEBUG)
		lock_order_add(&current_thread()->held_mutexes, mutex);
	return true;
}

/* The owner does not keep that waiter any more. */
static void mutex_let_off(struct thread *owner)
{
	atomic_fetch_sub(&owner->nr_held_up, 1);
	thread_unpress(owner);
}

/*
 * The owner inherits the waiter's urgency. mutex_unlock() clears `owner` and then reads `pressed`;
 * this function sets `pressed` and then reads `owner` again. So one of the two sees the other, and
 * an owner that was pressed is still in mutex_unlock().
 */
static void mutex_press_owner(struct mutex *mutex)
{
	uint64_t flags = spin_lock_irqsave(&mutex->queue.lock);
	struct thread *before = atomic_load(&mutex->pressed), *owner;

	while ((owner = atomic_load(&mutex->owner)) && owner != before) {
		atomic_store(&mutex->pressed, owner);
		if (atomic_load(&mutex->owner) != owner) {
			atomic_store(&mutex->pressed, before);
			continue;
		}
		atomic_fetch_add(&owner->nr_held_up, 1);
		thread_press(owner);
		if (before)
			mutex_let_off(before);
		break;
	}
	spin_unlock_irqrestore(&mutex->queue.lock, flags);
}

/* The calling thread has given the mutex up: take back the urgency that it had from a waiter. */
static TRACE_NOINLINE void mutex_unpress(struct mutex *mutex)
{
	uint64_t flags = spin_lock_irqsave(&mutex->queue.lock);

	if (atomic_load(&mutex->pressed) == current_thread()) {
		atomic_store(&mutex->pressed, NULL);
		mutex_let_off(current_thread());
	}
	spin_unlock_irqrestore(&mutex->queue.lock, flags);
}

static bool mutex_try_lock_again(void *arg)
{
	struct mutex *mutex = arg;

	if (mutex_trylock(mutex))
		return true;
	if (!thread_is_pressing(current_thread()))
		return false;
	mutex_press_owner(mutex);
	return mutex_trylock(mutex);
}

static void mutex_check_lock(struct mutex *mutex)
{
	ASSERT(!in_interrupt());
	if (mutex_held(mutex))
		panic("mutex %p is locked twice by %s", (void *)mutex, current_thread()->name);
	lock_order_check(&current_thread()->held_mutexes, mutex);
}

static int mutex_wait(struct mutex *mutex, bool interruptible)
{
	int err;

	trace_contention_begin(mutex, LCB_F_MUTEX);
	err = waitq_wait(&mutex->queue, mutex_try_lock_again, mutex, interruptible, WAIT_FOREVER);
	trace_contention_end(mutex, err);
	return err;
}

void mutex_lock(struct mutex *mutex)
{
	if (KERNEL_DEBUG)
		mutex_check_lock(mutex);
	if (!mutex_trylock(mutex))
		mutex_wait(mutex, false);
}

int mutex_lock_interruptible(struct mutex *mutex)
{
	if (KERNEL_DEBUG)
		mutex_check_lock(mutex);
	if (mutex_trylock(mutex))
		return 0;
	return mutex_wait(mutex, true);
}

void mutex_unlock(struct mutex *mutex)
{
	ASSERT(mutex_held(mutex));
	if (KERNEL_DEBUG)
		lock_order_remove(&current_thread()->held_mutexes, mutex);
	atomic_store(&mutex->owner, NULL);
	/* Urgent until the waiter is awake: without that a real-time thread could keep this one from waking it. */
	waitq_wake_one(&mutex->queue);
	if (atomic_load(&mutex->pressed))
		mutex_unpress(mutex);
}

bool mutex_held(const struct mutex *mutex)
{
	return atomic_load_explicit(&mutex->owner, memory_order_relaxed) == current_thread();
}
