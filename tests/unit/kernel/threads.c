/* See threads.h. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <asm/prctl.h>
#include <kernel/mm.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include "kernel/threads.h"

#define PATIENCE_S 20

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards nr_wakes */
static pthread_cond_t woken = PTHREAD_COND_INITIALIZER;
static uint64_t nr_wakes;
static _Atomic uint32_t nr_naps;
static _Atomic uint64_t now_ns;

static __thread struct cpu_local cpu;
static __thread struct thread own;

static void become(struct thread *thread)
{
	cpu.current = thread;
	syscall(SYS_arch_prctl, ARCH_SET_GS, &cpu);
}

void threads_begin(void)
{
	become(&own);
}

bool threads_is_interrupted(void)
{
	return atomic_load(&cpu.current->interrupted);
}

void threads_wait(pthread_cond_t *changed, pthread_mutex_t *held)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += PATIENCE_S;
	if (pthread_cond_timedwait(changed, held, &end)) {
		fprintf(stderr, "a thread waits for something that does not come\n");
		abort();
	}
}

uint64_t threads_nr_wakes(void)
{
	uint64_t nr;

	pthread_mutex_lock(&lock);
	nr = nr_wakes;
	pthread_mutex_unlock(&lock);
	return nr;
}

/* For ever: the program may end meanwhile. */
void threads_sleep(uint64_t wakes)
{
	pthread_mutex_lock(&lock);
	while (nr_wakes == wakes)
		pthread_cond_wait(&woken, &lock);
	pthread_mutex_unlock(&lock);
}

static void wake(void)
{
	pthread_mutex_lock(&lock);
	nr_wakes++;
	pthread_cond_broadcast(&woken);
	pthread_mutex_unlock(&lock);
}

uint32_t threads_nr_naps(void)
{
	return nr_naps;
}

void threads_let_pass(uint64_t ns)
{
	now_ns += ns;
}

/* ---- Functions of the kernel ---- */

uint64_t ktime_get_ns(void)
{
	return now_ns;
}

int thread_sleep_ns(uint64_t ns)
{
	(void)ns;
	usleep(100);
	nr_naps++;
	return 0;
}

void spin_lock(struct spinlock *spin)
{
	while (atomic_exchange(&spin->locked, 1))
		sched_yield();
}

void spin_unlock(struct spinlock *spin)
{
	if (!atomic_exchange(&spin->locked, 0))
		abort();
}

void mutex_lock(struct mutex *mutex)
{
	struct thread *none = NULL;

	if (atomic_load(&mutex->owner) == cpu.current)
		abort();
	while (!atomic_compare_exchange_strong(&mutex->owner, &none, cpu.current)) {
		none = NULL;
		sched_yield();
	}
}

void mutex_unlock(struct mutex *mutex)
{
	if (atomic_exchange(&mutex->owner, NULL) != cpu.current)
		abort();
}

/* Whoever wakes looks whether there is a waiter: from the first wait on there always is. */
int waitq_wait(struct waitq *queue, bool (*done)(void *arg), void *arg, bool interruptible,
	       uint64_t timeout_ns)
{
	static struct waiter waiter;
	uint64_t wakes;

	if (interruptible || timeout_ns != WAIT_FOREVER)
		abort();
	atomic_store((struct waiter * _Atomic *)&queue->first, &waiter);
	for (;;) {
		wakes = threads_nr_wakes();
		if (done(arg))
			return 0;
		threads_sleep(wakes);
	}
}

void waitq_wake_all_waiters(struct waitq *queue)
{
	(void)queue;
	wake();
}

static void *thread_body(void *arg)
{
	struct thread *thread = arg;

	become(thread);
	thread->exit_status = thread->fn(thread->arg);
	return NULL;
}

struct thread *thread_create(const char *name, int (*fn)(void *arg), void *arg, uint32_t flags)
{
	struct thread *thread = kzalloc(sizeof(*thread));
	pthread_t id;

	(void)name;
	if (!thread)
		return NULL;
	thread->fn = fn;
	thread->arg = arg;
	thread->flags = flags;
	if (pthread_create(&id, NULL, thread_body, thread))
		abort();
	thread->stack = (void *)id;
	return thread;
}

int thread_join_wait(struct thread *thread)
{
	int status;

	if (pthread_join((pthread_t)thread->stack, NULL))
		abort();
	status = thread->exit_status;
	kfree(thread);
	return status;
}

void threads_start(int (*fn)(void *arg), void *arg)
{
	thread_create("endless", fn, arg, THREAD_DETACHED);
}

void thread_interrupt(struct thread *thread)
{
	atomic_store(&thread->interrupted, 1);
	wake();
}

void thread_clear_interrupt(void)
{
	atomic_store(&cpu.current->interrupted, 0);
}
