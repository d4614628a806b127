/*
 * Locks and waiting.
 *
 *   spinlock    short sections, any context but NMI; the _irqsave forms where interrupts use it too
 *   mutex       thread context, sleeps; has an owner; not recursive
 *   waitq       threads that wait for a condition; wake from any context but NMI
 *   completion  threads wait until something is done; the word comes from any context but NMI
 *   semaphore   a number of permits; taking one sleeps, giving one back: any context but NMI
 *
 * Zeroed memory is any of them, unlocked and empty.
 *
 * Spinlocks are test-and-set with a read-only spin, not tickets: a fair queue stalls for a whole
 * time slice of the host when the next waiter's virtual CPU is not running.
 *
 * Debug builds panic when one of these rules is broken:
 *   no thread sleeps with preemption or interrupts off;
 *   no thread takes a lock that it holds already, or releases one that another holds;
 *   a spinlock that is taken in an interrupt is never taken with interrupts on;
 *   a spinlock that is taken in a softirq is never taken by a thread with interrupts on;
 *   no two locks are taken in one order here and in the other there (lock_order.h).
 */
#ifndef KERNEL_LOCK_H
#define KERNEL_LOCK_H

#include <stdatomic.h>
#include <kernel/base.h>

struct thread;

struct spinlock {
	_Atomic uint32_t locked;
	uint32_t owner_cpu; /* debug: CPU + 1, 0 for none */
	uint8_t used_in;    /* debug: contexts it was taken in, USED_* of spinlock.c */
};

/* Preemption stays off while the lock is held. trylock does not wait; false: not taken. */
void spin_lock(struct spinlock *lock);
bool spin_trylock(struct spinlock *lock);
void spin_unlock(struct spinlock *lock);
/*
 * The same, with interrupts off while the lock is held. The flags that locking gives tell the
 * unlock whether they were on before.
 */
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
	struct waiter *group; /* the one that is woken in its place; NULL: itself */
	bool is_queued;
	_Atomic uint32_t is_woken; /* since it was last prepared */
};

#define WAIT_FOREVER UINT64_MAX

/*
 * Sleep until done(arg) says true. It is asked at once and after every wake-up; the queue's lock is
 * not held then, and done() may sleep.
 * Returns 0, -EINTR when the thread is interrupted (only with `interruptible`), -ETIMEDOUT after
 * timeout_ns (WAIT_FOREVER: never). Thread context, preemption and interrupts on.
 */
int waitq_wait(struct waitq *queue, bool (*done)(void *arg), void *arg, bool interruptible,
	       uint64_t timeout_ns);
/*
 * Waiting in several queues, as poll.h does: a waiter for each, zeroed but for `group`, which leads to one that is in
 * no queue. Each is added before its condition is looked at; then the thread sleeps until the group is woken, returns
 * as waitq_wait() does (`deadline_ns` as ktime_get_ns() counts), and removes them all. Wakers use waitq_wake_all().
 */
void waitq_add(struct waitq *queue, struct waiter *waiter);
int waitq_sleep(struct waiter *group, bool interruptible, uint64_t deadline_ns);
void waitq_remove(struct waitq *queue, struct waiter *waiter);

/* Is a thread queued? For wakers, which have changed the condition before they ask. */
static TRACE_ALWAYS_INLINE bool waitq_has_waiters(struct waitq *queue)
{
	/* With the fence in waitq_prepare(): a waiter sees the new condition, or we see it. */
	atomic_thread_fence(memory_order_seq_cst);
	return *(struct waiter *volatile *)&queue->first != NULL;
}

/* The slow halves of the next two functions; only these call them. */
void waitq_wake_all_waiters(struct waitq *queue);
void waitq_wake_one_waiter(struct waitq *queue);

/* Wake all threads in the queue. Any context but NMI, interrupts off too. */
static TRACE_ALWAYS_INLINE void waitq_wake_all(struct waitq *queue)
{
	if (waitq_has_waiters(queue))
		waitq_wake_all_waiters(queue);
}

/* Wake the thread that waits longest of those not woken yet. Any context but NMI. */
static TRACE_ALWAYS_INLINE void waitq_wake_one(struct waitq *queue)
{
	if (waitq_has_waiters(queue))
		waitq_wake_one_waiter(queue);
}

#define LOCK_ORDER_DEPTH 12 /* locks that one holder may hold at once in debug builds */

/* debug: the locks that a thread or a CPU holds, see kernel/sched/lock_order.h */
struct held_locks {
	uint32_t nr;
	uint32_t locks[LOCK_ORDER_DEPTH]; /* offsets in the kernel's image */
};

/* While an urgent or real-time thread waits, the owner is urgent: see thread_urgent_begin(). */
struct mutex {
	struct thread *_Atomic owner;	/* NULL: free */
	struct thread *_Atomic pressed; /* an owner that is urgent for a waiter; under queue.lock */
	struct waitq queue;
};

void mutex_lock(struct mutex *mutex);
/* 0; -EINTR when the thread is interrupted first: not locked then. */
int mutex_lock_interruptible(struct mutex *mutex);
/* Does not wait; false: not locked. */
bool mutex_trylock(struct mutex *mutex);
/* By the thread that has locked it; asserted in every build. */
void mutex_unlock(struct mutex *mutex);
/* Does the calling thread hold it? */
bool mutex_held(const struct mutex *mutex);

struct completion {
	_Atomic uint32_t done; /* how many waiters may still go on; DONE_FOR_ALL: all, for ever */
	struct waitq queue;
};

/* Let one waiter go on, or the next that comes. Any context but NMI. */
void complete(struct completion *completion);
/* Let all go on, now and for ever. Any context but NMI. */
void complete_all(struct completion *completion);
/*
 * Sleep until complete() or complete_all(). Then they do not touch the completion any more, so that
 * it may be on the stack of its only waiter. Thread context.
 */
void wait_for_completion(struct completion *completion);
/* The same: 0, or, while nothing was completed, -EINTR or -ETIMEDOUT. */
int wait_for_completion_interruptible(struct completion *completion, uint64_t timeout_ns);

struct semaphore {
	_Atomic int32_t count;
	struct waitq queue;
};

void semaphore_init(struct semaphore *sem, int32_t count);
/* Give a permit back. Any context but NMI. */
void semaphore_up(struct semaphore *sem);
/* Take one; sleeps until there is one, not interruptible. Thread context. */
void semaphore_down(struct semaphore *sem);

#endif
