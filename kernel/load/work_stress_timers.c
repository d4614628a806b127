/*
 * stress timers: timers that fire, in time order, exactly once, and never early; timers that are
 * cancelled and do not fire; sleeps that are not too short; work that runs exactly once.
 */
#include <stdatomic.h>
#include <kernel/lock.h>
#include <kernel/mm.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <kernel/timer.h>
#include <kernel/work.h>
#include "work_stress.h"

#define NR_TIMERS    12
#define DELAY_MAX_US 3000u

struct checked_timer {
	struct timer timer;
	struct work work;
	uint64_t deadline_ns;
	_Atomic uint32_t nr_fired;
	_Atomic uint32_t nr_worked;
	_Atomic uint32_t nr_early;
	struct completion worked;
};

static void stress_timers_do_work(struct work *work)
{
	struct checked_timer *checked = container_of(work, struct checked_timer, work);

	atomic_fetch_add(&checked->nr_worked, 1);
	complete(&checked->worked);
}

static void stress_timers_fire(struct timer *timer)
{
	struct checked_timer *checked = container_of(timer, struct checked_timer, timer);

	if (ktime_get_ns() < checked->deadline_ns)
		atomic_fetch_add(&checked->nr_early, 1);
	atomic_fetch_add(&checked->nr_fired, 1);
	queue_work(&checked->work);
}

static void stress_timers_start_timer(struct stress_worker *worker, struct checked_timer *checked)
{
	uint64_t delay_us = stress_random(worker, DELAY_MAX_US);

	*checked = (struct checked_timer){ 0 };
	timer_setup(&checked->timer, stress_timers_fire);
	work_init(&checked->work, stress_timers_do_work);
	checked->deadline_ns = ktime_get_ns() + delay_us * NSEC_PER_USEC;
	timer_start(&checked->timer, checked->deadline_ns);
}

/*
 * With `cancels`, cancel the timer if it has not fired yet. Otherwise wait until it has fired and
 * its work is done. Then check how often that happened.
 */
static void stress_timers_finish_timer(struct stress_worker *worker, struct checked_timer *checked,
				       bool cancels)
{
	bool was_cancelled = cancels && timer_cancel_sync(&checked->timer);
	uint32_t expected = !was_cancelled;

	if (!was_cancelled)
		wait_for_completion(&checked->worked);
	timer_cancel_sync(&checked->timer);
	if (checked->nr_fired != expected || checked->nr_worked != expected)
		stress_fail(worker->run, "%s timer fired %u times, its work ran %u times",
			    was_cancelled ? "cancelled" : "started", checked->nr_fired,
			    checked->nr_worked);
	if (checked->nr_early)
		stress_fail(worker->run, "a timer fired before its time");
}

static void stress_timers_check_sleep(struct stress_worker *worker)
{
	uint64_t ns = stress_random(worker, DELAY_MAX_US) * NSEC_PER_USEC;
	uint64_t start_ns = ktime_get_ns();

	if (thread_sleep_ns(ns) == 0 && ktime_get_ns() - start_ns < ns)
		stress_fail(worker->run, "a sleep of %lu ns took %lu", ns,
			    ktime_get_ns() - start_ns);
}

static void timers_round(struct stress_worker *worker)
{
	struct checked_timer *timers = kcalloc(NR_TIMERS, sizeof(*timers));

	if (!timers)
		return;
	for (uint32_t i = 0; i < NR_TIMERS; i++)
		stress_timers_start_timer(worker, &timers[i]);
	stress_timers_check_sleep(worker);
	for (uint32_t i = 0; i < NR_TIMERS; i++)
		stress_timers_finish_timer(worker, &timers[i], i % 4 == 0);
	work_flush();
	kfree(timers);
}

const struct stress_kind stress_timers = {
	.name = "timers",
	.checked = "each fired once, never early",
	.shared_bytes = 1,
	.round = timers_round,
};
