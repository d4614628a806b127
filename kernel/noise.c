/*
 * Threads for the tracers of noise: the host of <trace/noise.h>. No call sites, because it is told of
 * NMIs.
 */
#include <arch/smp.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <kernel/upcall.h>
#include <trace/noise.h>
#include "kernel_init.h"

static struct waitq noise_sleepers;

void upcall_nmi(bool enters)
{
	trace_noise_nmi(enters);
}

static void *noise_start(const char *name, int (*fn)(void *arg), void *arg)
{
	return thread_create(name, fn, arg, THREAD_SERVICE);
}

static void noise_join(void *thread)
{
	thread_join_wait(thread);
}

static void noise_sleep(uint64_t ns, bool (*done)(void *arg), void *arg)
{
	waitq_wait(&noise_sleepers, done, arg, false, ns);
}

static void noise_wake(void)
{
	waitq_wake_all(&noise_sleepers);
}

static int noise_move(uint32_t cpu)
{
	int err = thread_set_affinity(current_thread(), 1ull << cpu);

	if (!err)
		yield();
	return err;
}

static void noise_real(uint64_t *out_ns)
{
	*out_ns = ktime_get_real_ns();
}

static const struct trace_noise_host noise_host = {
	.start = noise_start,
	.join = noise_join,
	.sleep = noise_sleep,
	.wake = noise_wake,
	.move = noise_move,
	.real = noise_real,
};

void noise_init(void)
{
	trace_noise_host_set(&noise_host);
}
