/*
 * Locks and waiting.
 *
 *   spinlock    short sections, any context but NMI; the _irqsave forms where interrupts use it too
 *   mutex       thread context, sleeps; has an owner; not recursive
 *   waitq       threads that wait for a condition; wake from any context but NMI
 *   completion  a one-way event with a count
 *
 * Everything zeroed is ready for use, unlocked and empty.
 *
 * Spinlocks are test-and-set with a read-only spin, not tickets: a fair queue stalls for a whole
 * time slice of the host when the next waiter's virtual CPU is not running.
 *
 * Debug builds assert: no sleeping with preemption or interrupts off, no recursion, unlock by the
 * owner, and that a spinlock taken in an interrupt is never taken with interrupts on, nor one
 * taken in a softirq with softirqs on; and that locks are taken in one order (lock_order.h).
 */
#ifndef KERNEL_LOCK_H
#define KERNEL_LOCK_H

#include <stdatomic.h>
#include <kernel/base.h>

struct thread;

struct spinlock {
	_Atomic uint32_t locked;
	uint32_t owner_cpu; /* debug: CPU + 1, 0 for none */
	uint8_t used_in;    /* debug: kinds of contexts, see spinlock.c */
};

#define SPINLOCK_INIT                                                                              \
	{                                                                                          \
		0                                                                                  \
	}

/* Preemption stays off while the lock is held. */
void spin_lock(struct spinlock *lock);
bool spin_trylock(struct spinlock *lock);
void spin_unlock(struct spinlock *lock);
/* The same with interrupts off; `flags` go to the unlock. */
uint64_t spin_lock_irqsave(struct spinlock *lock);
bool spin_trylock_irqsave(struct spinlock *lock, uint64_t *out_flags);
void spin_unlock_irqrestore(struct spinlock *lock, uint64_t flags);

struct waitq {
	struct spinlock lock;
	struct waiter *first; /* oldest; guarded by lock */
	struct waiter *last;
};

struct waiter { /* on the waiting thread's stack; guarded by the queue's lock */
	struct waiter *next;
	struct waiter *prev;
	struct thread *thread;
	bool is_queued;
	_Atomic uint32_t is_woken; /* since the last waitq_prepare() */
};

#define WAIT_FOREVER UINT64_MAX

/*
 * Sleep until done(arg), which is asked again after every wake-up, with no lock held; it may sleep
 * itself.
 * Returns 0, -EINTR when the thread is interrupted (only with `interruptible`), -ETIMEDOUT after
 * timeout_ns (WAIT_FOREVER: never). Thread context, preemption and interrupts on.
 */
int waitq_wait(struct waitq *queue, bool (*done)(void *arg), void *arg, bool interruptible,
	       uint64_t timeout_ns);
static TRACE_ALWAYS_INLINE bool waitq_has_waiters(struct waitq *queue)
{
	/* The caller changed the condition before: pairs with the fence in waitq_prepare(). */
	atomic_thread_fence(memory_order_seq_cst);
	return *(struct waiter *volatile *)&queue->first != NULL;
}

void waitq_wake_all_waiters(struct waitq *queue);
void waitq_wake_one_waiter(struct waitq *queue);

/* Wake everyone; the oldest not woken yet. Thread, softirq, irq; interrupts off too. Not NMI. */
static TRACE_ALWAYS_INLINE void waitq_wake_all(struct waitq *queue)
{
	if (waitq_has_waiters(queue))
		waitq_wake_all_waiters(queue);
}

static TRACE_ALWAYS_INLINE void waitq_wake_one(struct waitq *queue)
{
	if (waitq_has_waiters(queue))
		waitq_wake_one_waiter(queue);
}

/*
 * For loops of the caller's own: zeroed waiter, then { prepare, test the condition, sleep },
 * finish. A wake-up since the last prepare ends the sleep at once. waitq_sleep(): 0, -EINTR,
 * -ETIMEDOUT.
 */
void waitq_prepare(struct waitq *queue, struct waiter *waiter);
int waitq_sleep(struct waiter *waiter, bool interruptible, uint64_t deadline_ns);
void waitq_finish(struct waitq *queue, struct waiter *waiter);

#define LOCK_ORDER_DEPTH 12 /* watched locks held at once */

struct held_locks { /* debug: see kernel/sched/lock_order.h */
	uint32_t nr;
	uint32_t locks[LOCK_ORDER_DEPTH]; /* offsets in the image */
};

struct mutex {
	struct thread *_Atomic owner;
	struct waitq queue;
};

void mutex_lock(struct mutex *mutex);
/* 0 or -EINTR, then not locked. */
int mutex_lock_interruptible(struct mutex *mutex);
bool mutex_trylock(struct mutex *mutex);
void mutex_unlock(struct mutex *mutex);
/* By the calling thread. */
bool mutex_held(const struct mutex *mutex);

struct completion {
	_Atomic uint32_t done;
	struct waitq queue;
};

void complete(struct completion *completion);
void complete_all(struct completion *completion);
void wait_for_completion(struct completion *completion);
/* 0, -EINTR or -ETIMEDOUT. */
int wait_for_completion_interruptible(struct completion *completion, uint64_t timeout_ns);

struct semaphore {
	_Atomic int32_t count;
	struct waitq queue;
};

void semaphore_init(struct semaphore *sem, int32_t count);
void semaphore_up(struct semaphore *sem);
void semaphore_down(struct semaphore *sem);

#endif
