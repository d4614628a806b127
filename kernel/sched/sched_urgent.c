/*
 * Urgent threads, see thread_urgent_begin() in <kernel/thread.h>, and sched.h. An urgent thread is a
 * normal one that cannot wait for the end of the share of real-time threads. Where it waits behind
 * one of those, both take turns.
 *
 *   real time, 10 ms on end or more --tick--> urgent, 30 ms or less --tick, or none waits--> ...
 *
 * Real-time threads that run for less than that, and then sleep, are never held up.
 */
#include <kernel/time.h>
#include "sched.h"

#define RT_TURN_NS     (10 * NSEC_PER_MSEC)
#define URGENT_TURN_NS (30 * NSEC_PER_MSEC)
#define LET_GO_NS      (20 * NSEC_PER_MSEC)

static bool sched_is_urgent(const struct thread *thread)
{
	return atomic_load_explicit(&thread->nr_urgent, memory_order_relaxed) ||
	       atomic_load_explicit(&thread->urgent_until_ns, memory_order_relaxed) >
		       local_clock_ns();
}

struct thread *sched_urgent_first(const struct run_queue *rq)
{
	struct thread *first = NULL;
	struct list *pos;

	list_for_each(pos, &rq->waiting) {
		struct thread *thread = list_entry(pos, struct thread, run_link);

		if (sched_is_urgent(thread) && (!first || thread->vruntime_ns < first->vruntime_ns))
			first = thread;
	}
	return first;
}

void sched_urgent_tick(struct run_queue *rq)
{
	uint64_t now = rq->running->exec_start_ns;

	if (rq->is_urgent_turn) {
		rq->is_urgent_turn = now - rq->urgent_since_ns < URGENT_TURN_NS;
	} else if (sched_is_rt(rq->running) && now - rq->rt_since_ns >= RT_TURN_NS &&
		   sched_rt_has_limit() && sched_urgent_first(rq)) {
		rq->is_urgent_turn = true;
		rq->urgent_since_ns = now;
	}
}

void sched_urgent_let_go(struct thread *thread)
{
	if (atomic_load(&thread->on_queue) != ON_QUEUE_NO)
		atomic_store(&thread->urgent_until_ns, local_clock_ns() + LET_GO_NS);
}

bool thread_is_pressing(const struct thread *thread)
{
	return sched_is_rt(thread) || sched_is_urgent(thread);
}

void thread_press(struct thread *thread)
{
	if (atomic_fetch_add(&thread->nr_urgent, 1))
		return;
	/* It may sleep for another thread, which is to inherit the same. */
	atomic_store(&thread->is_pressed_anew, true);
	if (atomic_load(&thread->sleeps_in_waitq))
		wake_up_process(thread);
}

void thread_unpress(struct thread *thread)
{
	uint32_t before = atomic_fetch_sub(&thread->nr_urgent, 1);

	ASSERT(before);
}

void thread_urgent_begin(void)
{
	atomic_fetch_add(&current_thread()->nr_urgent, 1);
}

void thread_urgent_end(void)
{
	thread_unpress(current_thread());
}
