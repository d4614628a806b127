/* Run queues, see sched.h. */
#include <arch/smp.h>
#include <kernel/time.h>
#include "sched.h"

/*
 * When a thread is put on a queue, its virtual run time is made to lie within these two distances,
 * below and above, of the queue's minimum.
 */
#define SLEEPER_CREDIT_NS (3 * NSEC_PER_MSEC)
#define LEAD_MAX_NS	  (50 * NSEC_PER_MSEC)
/* A woken thread preempts the running one if its virtual run time is less by more than this. */
#define WAKEUP_GAP_NS (1 * NSEC_PER_MSEC)

static void sched_update_min_vruntime(struct run_queue *rq)
{
	struct heap_node *first = heap_first(&rq->queue);
	uint64_t min = UINT64_MAX;

	if (rq->running != rq->idle)
		min = rq->running->vruntime_ns;
	if (first && first->key < min)
		min = first->key;
	if (min != UINT64_MAX && min > rq->min_vruntime_ns)
		atomic_store_explicit(&rq->min_vruntime_ns, min, memory_order_relaxed);
}

/* Time as it counts for the thread's place in the queue: a quarter more for each step of `nice`. */
static uint64_t sched_nice_time(uint64_t ran_ns, int nice)
{
	for (; nice > 0; nice--)
		ran_ns += ran_ns / 4;
	for (; nice < 0; nice++)
		ran_ns -= ran_ns / 5;
	return ran_ns;
}

void sched_account(struct run_queue *rq)
{
	struct thread *running = rq->running;
	uint64_t now = local_clock_ns();

	if (now > running->exec_start_ns) {
		uint64_t ran = now - running->exec_start_ns;

		if (sched_is_rt(running))
			rq->rt_ran_ns += ran;
		running->runtime_ns += ran;
		running->vruntime_ns += sched_nice_time(ran, running->nice);
		if (trace_sched_stat_runtime_enabled() && running != rq->idle)
			sched_tell_runtime(running, ran);
	}
	running->exec_start_ns = now;
	sched_update_min_vruntime(rq);
}

void sched_put_waiting(struct run_queue *rq, struct thread *thread)
{
	if (trace_sched_stat_wait_enabled() && !thread->waits_since_ns)
		thread->waits_since_ns = local_clock_ns();
	if (sched_is_rt(thread)) {
		sched_rt_put(rq, thread);
		return;
	}
	thread->run_node.key = thread->vruntime_ns;
	heap_insert(&rq->queue, &thread->run_node);
	list_add_tail(&rq->waiting, &thread->run_link);
}

void sched_take_waiting(struct run_queue *rq, struct thread *thread)
{
	if (sched_is_rt(thread)) {
		sched_rt_take(rq, thread);
		return;
	}
	heap_remove(&rq->queue, &thread->run_node);
	list_remove(&thread->run_link);
}

/* A thread that slept is a little ahead of the others; none is far ahead or far behind. */
static void sched_place_vruntime(struct run_queue *rq, struct thread *thread)
{
	uint64_t min = rq->min_vruntime_ns;
	uint64_t floor = min > SLEEPER_CREDIT_NS ? min - SLEEPER_CREDIT_NS : 0;

	if (thread->vruntime_ns < floor)
		thread->vruntime_ns = floor;
	if (thread->vruntime_ns > min + LEAD_MAX_NS)
		thread->vruntime_ns = min + LEAD_MAX_NS;
}

void sched_enqueue(struct run_queue *rq, struct thread *thread)
{
	sched_place_vruntime(rq, thread);
	atomic_store(&thread->cpu, rq->cpu);
	atomic_store(&thread->on_queue, ON_QUEUE_YES);
	atomic_fetch_add(&rq->nr_running, 1);
	sched_put_waiting(rq, thread);
}

void sched_dequeue(struct run_queue *rq, struct thread *thread, uint32_t on_queue)
{
	if (thread != rq->running)
		sched_take_waiting(rq, thread);
	atomic_fetch_sub(&rq->nr_running, 1);
	atomic_store(&thread->on_queue, on_queue);
}

static struct thread *sched_pick_normal(struct run_queue *rq)
{
	struct heap_node *first = heap_first(&rq->queue);

	if (!first && sched_pull(rq, 2))
		first = heap_first(&rq->queue);
	return first ? container_of(first, struct thread, run_node) : NULL;
}

static struct thread *sched_pick_rt(struct run_queue *rq)
{
	if (atomic_load_explicit(&sched_rt_waiting_mask, memory_order_relaxed))
		sched_rt_pull(rq, atomic_load(&rq->rt_prio));
	return sched_rt_first(rq);
}

/* Real-time threads that have had their share still run if there is no normal thread. */
struct thread *sched_pick_next(struct run_queue *rq)
{
	struct thread *next;

	if (rq->is_closed)
		return rq->idle;
	next = rq->is_rt_throttled ? sched_pick_normal(rq) : NULL;
	if (!next && rq->is_urgent_turn) {
		next = sched_urgent_first(rq);
		rq->is_urgent_turn = next != NULL;
		if (next)
			next->has_turn = sched_is_rt(next);
	}
	if (!next)
		next = sched_pick_rt(rq);
	if (!next)
		next = sched_pick_normal(rq);
	if (!next)
		return rq->idle;
	sched_take_waiting(rq, next);
	if (trace_sched_stat_wait_enabled() && next->waits_since_ns && next != rq->running)
		sched_tell_waited(next);
	next->waits_since_ns = 0;
	return next;
}

void resched_cpu(struct run_queue *rq)
{
	if (rq->cpu == cpu_local_read(id)) {
		set_need_resched();
		return;
	}
	if (!atomic_exchange(&rq->resched_sent, 1))
		smp_send_reschedule(rq->cpu);
}

void sched_check_preempt(struct run_queue *rq, struct thread *woken)
{
	struct thread *running = rq->running;
	uint64_t now, ran_to;

	if (running == rq->idle) {
		resched_cpu(rq);
		return;
	}
	if (rq->is_rt_throttled && sched_is_rt(running) && !sched_is_rt(woken)) {
		resched_cpu(rq);
		return;
	}
	if (sched_is_rt(woken) || sched_is_rt(running)) {
		if (sched_prio(woken) < sched_prio(running))
			resched_cpu(rq);
		return;
	}
	ran_to = running->vruntime_ns;
	now = local_clock_ns();
	if (now > running->exec_start_ns)
		ran_to += now - running->exec_start_ns;
	if (woken->vruntime_ns + WAKEUP_GAP_NS < ran_to)
		resched_cpu(rq);
}
