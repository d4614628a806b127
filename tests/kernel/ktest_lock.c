/* Spin locks, mutexes, wait queues, completions, semaphores. */
#include <stdatomic.h>
#include <arch/smp.h>
#include "ktest.h"
#include <kernel/lock.h>
#include <kernel/thread.h>
#include <kernel/time.h>

#define ROUNDS 2000

static struct spinlock spin;
static struct mutex mutex;
static volatile uint64_t counter; /* guarded by the lock under test */
static _Atomic int32_t inside;

static unsigned int nr_workers(void)
{
	return smp_nr_online() + 2;
}

static int count_under_spinlock(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t flags;

		if (i % 2) {
			flags = spin_lock_irqsave(&spin);
			counter = counter + 1;
			spin_unlock_irqrestore(&spin, flags);
		} else {
			spin_lock(&spin);
			counter = counter + 1;
			spin_unlock(&spin);
		}
	}
	return preempt_count() != 0;
}

static void test_spinlock(void)
{
	counter = 0;
	KTEST_CHECK(ktest_threads(nr_workers(), count_under_spinlock, NULL) == 0);
	KTEST_CHECK(counter == (uint64_t)ROUNDS * nr_workers());
	KTEST_CHECK(spin_trylock(&spin));
	KTEST_CHECK(!spin_trylock(&spin) && preempt_count() == 1);
	spin_unlock(&spin);
}

static int count_under_mutex(void *arg)
{
	int bad = 0;

	(void)arg;
	for (int i = 0; i < ROUNDS / 10; i++) {
		mutex_lock(&mutex);
		bad += atomic_fetch_add(&inside, 1) != 0;
		counter = counter + 1;
		if (i % 8 == 0)
			yield(); /* sleep with the lock: the others must wait */
		bad += !mutex_held(&mutex);
		atomic_fetch_sub(&inside, 1);
		mutex_unlock(&mutex);
	}
	return bad;
}

static void test_mutex(void)
{
	counter = 0;
	KTEST_CHECK(ktest_threads(nr_workers(), count_under_mutex, NULL) == 0);
	KTEST_CHECK(counter == (uint64_t)ROUNDS / 10 * nr_workers());
	KTEST_CHECK(!mutex_held(&mutex) && mutex_trylock(&mutex) && !mutex_trylock(&mutex));
	mutex_unlock(&mutex);
}

static int lock_interruptibly(void *arg)
{
	int err = mutex_lock_interruptible(arg);

	if (!err)
		mutex_unlock(arg);
	return err;
}

static void test_mutex_interrupt(void)
{
	struct thread *thread;

	mutex_lock(&mutex);
	thread = thread_create("ktest", lock_interruptibly, &mutex, 0);
	if (KTEST_NEED(thread != NULL)) {
		thread_sleep_ns(2 * NSEC_PER_MSEC);
		thread_interrupt(thread);
		KTEST_CHECK(thread_join_wait(thread) == -EINTR);
	}
	mutex_unlock(&mutex);
}

/* A queue of tokens: as many must be taken as were put, with wake-ups of one. */
static struct waitq tokens_waitq;
static _Atomic int32_t tokens;

static bool take_token(void *arg)
{
	int32_t seen = atomic_load(&tokens);

	(void)arg;
	while (seen > 0) {
		if (atomic_compare_exchange_weak(&tokens, &seen, seen - 1))
			return true;
	}
	return false;
}

static int consume(void *arg)
{
	for (int i = 0; i < 300; i++) {
		if (waitq_wait(&tokens_waitq, take_token, arg, false, 5 * NSEC_PER_SEC))
			return 1; /* a wake-up was lost */
	}
	return 0;
}

static int produce(void *arg)
{
	(void)arg;
	for (int i = 0; i < 300; i++) {
		atomic_fetch_add(&tokens, 1);
		waitq_wake_one(&tokens_waitq);
		if (i % 16 == 0)
			yield();
	}
	return 0;
}

static int produce_or_consume(void *arg)
{
	return atomic_fetch_add((_Atomic int *)arg, 1) % 2 ? produce(arg) : consume(arg);
}

static void test_waitq_loses_nothing(void)
{
	_Atomic int turn = 0;

	KTEST_CHECK(ktest_threads(2 * nr_workers(), produce_or_consume, (void *)&turn) == 0);
	KTEST_CHECK(atomic_load(&tokens) == 0);
	KTEST_CHECK(!waitq_has_waiters(&tokens_waitq));
}

static bool never(void *arg)
{
	(void)arg;
	return false;
}

static void test_waitq_timeout(void)
{
	uint64_t start = ktime_get_ns();
	struct waitq queue = { 0 };

	KTEST_CHECK(waitq_wait(&queue, never, NULL, true, 5 * NSEC_PER_MSEC) == -ETIMEDOUT);
	KTEST_CHECK(ktime_get_ns() - start >= 5 * NSEC_PER_MSEC);
}

static int wait_for_ever(void *arg)
{
	return waitq_wait(arg, never, NULL, true, WAIT_FOREVER);
}

static void test_waitq_interrupt(void)
{
	struct waitq queue = { 0 };
	struct thread *thread = thread_create("ktest", wait_for_ever, &queue, 0);

	if (!KTEST_NEED(thread != NULL))
		return;
	thread_sleep_ns(2 * NSEC_PER_MSEC);
	KTEST_CHECK(thread_kill(thread->pid) == 0);
	KTEST_CHECK(thread_join_wait(thread) == -EINTR);
	KTEST_CHECK(thread_kill(1 << 30) == -ESRCH && thread_kill(0) == -ESRCH);
}

/* Completions on a stack that is used again at once. */
static int complete_it(void *arg)
{
	complete(arg);
	return 0;
}

static void test_completion(void)
{
	for (int i = 0; i < 200; i++) {
		struct completion done = { 0 };
		struct thread *thread = thread_create("ktest", complete_it, &done, 0);

		if (!KTEST_NEED(thread != NULL))
			return;
		wait_for_completion(&done);
		KTEST_CHECK(atomic_load(&done.done) == 0 && !done.queue.first);
		thread_join_wait(thread);
	}
}

static int wait_for_all(void *arg)
{
	wait_for_completion(arg);
	return 0;
}

static void test_complete_all(void)
{
	struct completion done = { 0 };

	KTEST_CHECK(wait_for_completion_interruptible(&done, NSEC_PER_MSEC) == -ETIMEDOUT);
	complete_all(&done);
	KTEST_CHECK(ktest_threads(4, wait_for_all, &done) == 0);
	wait_for_completion(&done);
}

static struct semaphore semaphore;

static int pass_semaphore(void *arg)
{
	int bad = 0;

	(void)arg;
	for (int i = 0; i < 200; i++) {
		semaphore_down(&semaphore);
		bad += atomic_fetch_add(&inside, 1) >= 2;
		yield();
		atomic_fetch_sub(&inside, 1);
		semaphore_up(&semaphore);
	}
	return bad;
}

static void test_semaphore(void)
{
	semaphore_init(&semaphore, 2);
	KTEST_CHECK(ktest_threads(nr_workers(), pass_semaphore, NULL) == 0);
	KTEST_CHECK(atomic_load(&semaphore.count) == 2);
}

const struct ktest ktest_lock[] = {
	{ "lock_spinlock", test_spinlock },
	{ "lock_mutex", test_mutex },
	{ "lock_mutex_interrupt", test_mutex_interrupt },
	{ "lock_waitq_loses_nothing", test_waitq_loses_nothing },
	{ "lock_waitq_timeout", test_waitq_timeout },
	{ "lock_waitq_interrupt", test_waitq_interrupt },
	{ "lock_completion", test_completion },
	{ "lock_complete_all", test_complete_all },
	{ "lock_semaphore", test_semaphore },
	{ 0 },
};
