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

static bool mutex_try_lock_again(void *arg)
{
	return mutex_trylock(arg);
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
	waitq_wake_one(&mutex->queue);
}

bool mutex_held(const struct mutex *mutex)
{
	return atomic_load_explicit(&mutex->owner, memory_order_relaxed) == current_thread();
}
