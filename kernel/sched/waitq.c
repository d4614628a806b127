/*
 * Wait queues, see <kernel/lock.h>.
 *
 * A waiter is queued once and stays queued until waitq_remove(). A wake-up sets its is_woken and
 * wakes the thread; waitq_add() clears is_woken before the condition is looked at, so a wake-up
 * that comes between the look and the sleep is seen by waitq_sleep().
 */
#include <stdatomic.h>
#include <arch/cpu.h>
#include <kernel/config.h>
#include <kernel/lock.h>
#include <kernel/thread.h>
#include <kernel/time.h>

static void waitq_append_locked(struct waitq *queue, struct waiter *waiter)
{
	waiter->next = NULL;
	waiter->prev = queue->last;
	if (queue->last)
		queue->last->next = waiter;
	else
		queue->first = waiter;
	queue->last = waiter;
	waiter->is_queued = true;
}

static void waitq_remove_locked(struct waitq *queue, struct waiter *waiter)
{
	if (waiter->prev)
		waiter->prev->next = waiter->next;
	else
		queue->first = waiter->next;
	if (waiter->next)
		waiter->next->prev = waiter->prev;
	else
		queue->last = waiter->prev;
	waiter->is_queued = false;
}

void waitq_add(struct waitq *queue, struct waiter *waiter)
{
	uint64_t flags;

	if (waiter->is_queued) { /* only its own thread changes that */
		atomic_store(&waiter->is_woken, 0);
		return;
	}
	waiter->thread = current_thread();
	atomic_store(&waiter->is_woken, 0);
	flags = spin_lock_irqsave(&queue->lock);
	waitq_append_locked(queue, waiter);
	spin_unlock_irqrestore(&queue->lock, flags);
	/*
	 * The condition is read after we can be seen: pairs with the fence in waitq_has_waiters().
	 */
	atomic_thread_fence(memory_order_seq_cst);
}

static bool waitq_take_press(struct thread *self)
{
	if (!atomic_load(&self->is_pressed_anew))
		return false;
	atomic_store(&self->is_pressed_anew, false);
	return true;
}

/* A wake-up since the last waitq_add() ends the sleep at once. */
int waitq_sleep(struct waiter *waiter, bool interruptible, uint64_t deadline_ns)
{
	struct thread *self = current_thread();
	bool passed = false;

	DEBUG_ASSERT(preempt_count() == 0 && !arch_irqs_disabled());
	set_current_state(interruptible ? THREAD_INTERRUPTIBLE : THREAD_UNINTERRUPTIBLE);
	if (interruptible && thread_interrupted()) {
		set_current_state(THREAD_RUNNING);
		return -EINTR;
	}
	atomic_store(&self->sleeps_in_waitq, true);
	/*
	 * A thread pressed before this looks again at its condition, and for the thread that it
	 * waits for; one pressed after it is woken.
	 */
	if (!atomic_load(&waiter->is_woken) && !waitq_take_press(self))
		passed = schedule_until(deadline_ns);
	atomic_store_explicit(&self->sleeps_in_waitq, false, memory_order_relaxed);
	set_current_state(THREAD_RUNNING);
	return passed ? -ETIMEDOUT : 0;
}

void waitq_remove(struct waitq *queue, struct waiter *waiter)
{
	uint64_t flags;

	if (!waiter->is_queued)
		return;
	flags = spin_lock_irqsave(&queue->lock);
	waitq_remove_locked(queue, waiter);
	spin_unlock_irqrestore(&queue->lock, flags);
}

int waitq_wait(struct waitq *queue, bool (*done)(void *arg), void *arg, bool interruptible,
	       uint64_t timeout_ns)
{
	struct waiter waiter = { 0 };
	uint64_t deadline_ns = WAIT_FOREVER;
	int err = 0;

	if (done(arg))
		return 0;
	if (timeout_ns != WAIT_FOREVER)
		deadline_ns = ktime_get_ns() + timeout_ns;
	for (;;) {
		waitq_add(queue, &waiter);
		if (done(arg))
			break;
		err = waitq_sleep(&waiter, interruptible, deadline_ns);
		if (!err)
			continue;
		if (done(arg))
			err = 0;
		break;
	}
	waitq_remove(queue, &waiter);
	/*
	 * If waitq_wake_one() chose us after the last prepare, we did not need it: wake the next.
	 */
	if (atomic_load(&waiter.is_woken))
		waitq_wake_one(queue);
	return err;
}

/*
 * Nothing is done for a waiter that is woken already: it clears is_woken before it looks at its
 * condition again, so it will see what this waker has changed.
 */
static void waitq_wake_locked(struct waiter *waiter)
{
	struct waiter *told = waiter->group ? waiter->group : waiter;

	if (atomic_load(&told->is_woken))
		return;
	atomic_store(&told->is_woken, 1);
	wake_up_process(waiter->thread);
}

void waitq_wake_all_waiters(struct waitq *queue)
{
	uint64_t flags;

	flags = spin_lock_irqsave(&queue->lock);
	for (struct waiter *w = queue->first; w; w = w->next)
		waitq_wake_locked(w);
	spin_unlock_irqrestore(&queue->lock, flags);
}

/*
 * The first urgent or real-time waiter that is not woken yet; otherwise the one that waits longest.
 * Lock held.
 */
static struct waiter *waitq_next_waiter(const struct waitq *queue)
{
	struct waiter *oldest = NULL;

	for (struct waiter *w = queue->first; w; w = w->next) {
		if (atomic_load(&w->is_woken))
			continue;
		if (thread_is_pressing(w->thread))
			return w;
		if (!oldest)
			oldest = w;
	}
	return oldest;
}

void waitq_wake_one_waiter(struct waitq *queue)
{
	struct waiter *waiter;
	uint64_t flags;

	flags = spin_lock_irqsave(&queue->lock);
	waiter = waitq_next_waiter(queue);
	if (waiter)
		waitq_wake_locked(waiter);
	spin_unlock_irqrestore(&queue->lock, flags);
}
