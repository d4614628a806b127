/*
 * Urgent threads, see thread_urgent_begin() in <kernel/thread.h>, and sched.h. An urgent thread
 * cannot wait for the end of the share of real-time threads. Where it waits behind one of those, both
 * take turns. It is a normal thread, or a real-time one that is to leave code or holds a mutex.
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

static bool sched_is_let_go(const struct thread *thread)
{
	return atomic_load_explicit(&thread->urgent_until_ns, memory_order_relaxed) >
	       local_clock_ns();
}

static bool sched_is_urgent(const struct thread *thread)
{
	return atomic_load_explicit(&thread->nr_urgent, memory_order_relaxed) ||
	       sched_is_let_go(thread);
}

/* Does it have a turn, though it is a real-time thread? */
static bool sched_has_reason(const struct thread *thread)
{
	return sched_is_let_go(thread) ||
	       atomic_load_explicit(&thread->nr_held_up, memory_order_relaxed);
}

/*
 * A real-time thread that is to leave code, or holds a mutex that others wait for, may stand behind
 * others of its priority, which never sleep. Of several the one that has not run for longest. Other
 * reasons to be urgent leave real-time threads in the order of their priorities.
 */
static struct thread *sched_urgent_first_rt(const struct run_queue *rq)
{
	struct thread *first = NULL;
	struct list *pos;

	list_for_each(pos, &rq->rt_waiting) {
		struct thread *thread = list_entry(pos, struct thread, run_link);

		if (sched_has_reason(thread) &&
		    (!first || thread->exec_start_ns < first->exec_start_ns))
			first = thread;
	}
	return first;
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
	return first ? first : sched_urgent_first_rt(rq);
}

void sched_urgent_tick(struct run_queue *rq)
{
	uint64_t now = rq->running->exec_start_ns;

	if (rq->is_urgent_turn) {
		rq->is_urgent_turn = now - rq->urgent_since_ns < URGENT_TURN_NS;
		if (!rq->is_urgent_turn)
			rq->rt_since_ns = now;
		/* Nothing else would end the run of a thread that is as urgent as the next. */
		if (rq->running->has_turn && !(rq->is_urgent_turn && sched_has_reason(rq->running)))
			set_need_resched();
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
