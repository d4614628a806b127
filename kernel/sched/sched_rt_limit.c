/*
 * The share of a CPU that real-time threads may have, see sched.h and <kernel/thread.h>. When they
 * have run for `runtime` in a period, normal threads go first until the next period begins.
 * Otherwise a real-time thread that spins would keep the CPU for ever, also from the shell that
 * could end it. Each CPU counts for itself, to the accuracy of a tick.
 */
#include <kernel/time.h>
#include "sched.h"

#define NO_LIMIT (-1)

static struct mutex limit_lock; /* taken to change one of the next two */
static _Atomic int32_t period_us = 1000000;
static _Atomic int32_t runtime_us = 950000;
static _Atomic bool is_said; /* the log has the message, which comes only once */

/* As in Linux, 0 means no limit: otherwise real-time threads would never run again. */
bool sched_rt_has_limit(void)
{
	int32_t runtime = atomic_load_explicit(&runtime_us, memory_order_relaxed);

	return runtime > 0 && runtime < atomic_load_explicit(&period_us, memory_order_relaxed);
}

bool sched_rt_limit_tick(struct run_queue *rq)
{
	uint64_t now = rq->running->exec_start_ns;
	int32_t period = atomic_load_explicit(&period_us, memory_order_relaxed);
	int32_t runtime = atomic_load_explicit(&runtime_us, memory_order_relaxed);

	if (now - rq->rt_period_start_ns >= (uint64_t)period * NSEC_PER_USEC) {
		rq->rt_period_start_ns = now;
		rq->rt_ran_ns = 0;
		rq->is_rt_throttled = false;
		return false;
	}
	if (!sched_rt_has_limit() || rq->is_rt_throttled ||
	    rq->rt_ran_ns <= (uint64_t)runtime * NSEC_PER_USEC)
		return false;
	rq->is_rt_throttled = true;
	return !atomic_exchange(&is_said, true);
}

void sched_rt_limit_say(void)
{
	pr_warn("sched: RT throttling activated\n");
}

static bool sched_rt_is_valid(int32_t period, int32_t runtime)
{
	return period > 0 && runtime >= NO_LIMIT && runtime <= period;
}

int sched_rt_period_us(void)
{
	return atomic_load(&period_us);
}

int sched_rt_runtime_us(void)
{
	return atomic_load(&runtime_us);
}

int sched_rt_set_period_us(int us)
{
	int err = -EINVAL;

	mutex_lock(&limit_lock);
	if (sched_rt_is_valid(us, atomic_load(&runtime_us))) {
		atomic_store(&period_us, us);
		err = 0;
	}
	mutex_unlock(&limit_lock);
	return err;
}

int sched_rt_set_runtime_us(int us)
{
	int err = -EINVAL;

	mutex_lock(&limit_lock);
	if (sched_rt_is_valid(atomic_load(&period_us), us)) {
		atomic_store(&runtime_us, us);
		err = 0;
	}
	mutex_unlock(&limit_lock);
	return err;
}
