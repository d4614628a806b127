/*
 * Completions and semaphores, see <kernel/lock.h>.
 *
 * A completion is often on the stack of a waiter, who returns as soon as it is done. The last thing
 * that complete() does with it is to release the queue's lock, and a waiter takes that lock once
 * before it returns. So the memory is not used after that. A semaphore has no such protection: it
 * must stay until every semaphore_up() has returned.
 */
#include <stdatomic.h>
#include <kernel/lock.h>
#include <kernel/thread.h>
#include <trace/events/lock.h>

#define DONE_FOR_ALL 0x80000000u /* of `done`, after complete_all() */

static bool completion_try_take(_Atomic uint32_t *done)
{
	uint32_t seen = atomic_load(done);

	while (seen != 0) {
		if (seen >= DONE_FOR_ALL)
			return true;
		if (atomic_compare_exchange_weak(done, &seen, seen - 1))
			return true;
	}
	return false;
}

static bool completion_done(void *arg)
{
	return completion_try_take(&((struct completion *)arg)->done);
}

/* Wait until the lock's holder, if there is one, has released it. */
static void completion_pass_lock(struct spinlock *lock)
{
	spin_unlock_irqrestore(lock, spin_lock_irqsave(lock));
}

void complete(struct completion *completion)
{
	struct waiter *waiter;
	uint64_t flags = spin_lock_irqsave(&completion->queue.lock);

	if (atomic_load(&completion->done) < DONE_FOR_ALL)
		atomic_fetch_add(&completion->done, 1);
	waiter = completion->queue.first;
	while (waiter && atomic_load(&waiter->is_woken))
		waiter = waiter->next;
	if (waiter) {
		atomic_store(&waiter->is_woken, 1);
		wake_up_process(waiter->thread);
	}
	spin_unlock_irqrestore(&completion->queue.lock, flags);
}

void complete_all(struct completion *completion)
{
	uint64_t flags = spin_lock_irqsave(&completion->queue.lock);

	atomic_store(&completion->done, DONE_FOR_ALL);
	for (struct waiter *w = completion->queue.first; w; w = w->next) {
		atomic_store(&w->is_woken, 1);
		wake_up_process(w->thread);
	}
	spin_unlock_irqrestore(&completion->queue.lock, flags);
}

static int completion_wait_for(struct completion *completion, bool interruptible,
			       uint64_t timeout_ns)
{
	int err = waitq_wait(&completion->queue, completion_done, completion, interruptible,
			     timeout_ns);

	completion_pass_lock(&completion->queue.lock);
	return err;
}

void wait_for_completion(struct completion *completion)
{
	completion_wait_for(completion, false, WAIT_FOREVER);
}

int wait_for_completion_interruptible(struct completion *completion, uint64_t timeout_ns)
{
	return completion_wait_for(completion, true, timeout_ns);
}

void semaphore_init(struct semaphore *sem, int32_t count)
{
	*sem = (struct semaphore){ .count = count };
}

static bool completion_try_down(void *arg)
{
	struct semaphore *sem = arg;
	int32_t seen = atomic_load(&sem->count);

	while (seen > 0) {
		if (atomic_compare_exchange_weak(&sem->count, &seen, seen - 1))
			return true;
	}
	return false;
}

void semaphore_up(struct semaphore *sem)
{
	atomic_fetch_add(&sem->count, 1);
	waitq_wake_one(&sem->queue);
}

void semaphore_down(struct semaphore *sem)
{
	if (completion_try_down(sem))
		return;
	trace_contention_begin(sem, 0);
	waitq_wait(&sem->queue, completion_try_down, sem, false, WAIT_FOREVER);
	trace_contention_end(sem, 0);
}
