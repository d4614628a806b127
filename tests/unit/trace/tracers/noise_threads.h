/*
 * Threads of a host that take turns by hand, on a clock that a test moves: for tests of hwlat, osnoise and
 * timerlat.
 */
#ifndef NOISE_THREADS_H
#define NOISE_THREADS_H

#include "unit.h"
#include "tracefs.h"
#include <setjmp.h>
#include <trace/errno.h>
#include <trace/noise.h>

#define US	   1000u
#define NR_THREADS 4

static struct thread_of_host {
	char name[TRACE_COMM_LEN];
	int (*fn)(void *arg);
	void *arg;
	uint32_t cpu; /* where it was moved to; NR_THREADS: nowhere */
	uint64_t slept_ns, until_ns;
	bool is_urgent;
	bool is_there;
} threads[NR_THREADS];

static struct thread_of_host *running;
static jmp_buf turn_end;
static uint32_t nr_started, fails_at;

static void *start(const char *name, int (*fn)(void *arg), void *arg)
{
	struct thread_of_host *thread = threads;

	if (fails_at && nr_started + 1 == fails_at)
		return NULL;
	nr_started++;
	while (thread->is_there)
		thread++;
	assert_true(thread < threads + NR_THREADS);
	*thread = (struct thread_of_host){
		.fn = fn, .arg = arg, .cpu = NR_THREADS, .is_there = true
	};
	strcpy(thread->name, name);
	return thread;
}

/* The thread is in its sleep: it looks, and ends. */
static void join(void *handle)
{
	struct thread_of_host *thread = handle;

	assert_true(thread->is_there);
	assert_int_equal(thread->fn(thread->arg), 0);
	thread->is_there = false;
	fake_bind(0);
}

/* A turn ends here, unless the thread is to end. */
static void sleep_host(uint64_t ns, bool (*done)(void *arg), void *arg)
{
	assert_false(trace_plat_irqs_disabled());
	if (done(arg))
		return;
	running->slept_ns = ns;
	longjmp(turn_end, 1);
}

static void wake(void)
{
}

static int move(uint32_t cpu)
{
	if (running)
		running->cpu = cpu;
	fake_bind(cpu);
	return 0;
}

/* Thread `nr` runs up to its next sleep, on a clock that goes on by `step_ns` with each reading. */
HELPER void turn(int nr, uint64_t step_ns)
{
	running = &threads[nr];
	fake_clock_step = step_ns;
	if (!setjmp(turn_end)) {
		threads[nr].fn(threads[nr].arg);
		fail(); /* it has ended */
	}
	fake_clock_step = 0;
	running = NULL;
	fake_bind(0);
}

HELPER void says(const char *path, const char *text)
{
	assert_string_equal(cat(path), text);
}

HELPER void no_threads(void)
{
	for (int i = 0; i < NR_THREADS; i++)
		assert_false(threads[i].is_there);
}

#endif
