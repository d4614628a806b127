/*
 * Real-time threads, see sched.h: fixed priorities above all normal threads.
 *
 * Each queue's list is sorted, the most urgent first, in order of arrival among equals; there are
 * few such threads. A thread that waits while another CPU does less urgent things is pulled there:
 * that CPU looks around whenever it decides what to run next, and is told to decide when a thread
 * has to wait.
 */
#include <arch/cpu.h>
#include <arch/smp.h>
#include <kernel/time.h>
#include "sched.h"

_Atomic uint64_t sched_rt_waiting_mask;

static struct thread *sched_rt_thread_of(struct list *link)
{
	return list_entry(link, struct thread, run_link);
}

static void sched_rt_note_first(struct run_queue *rq)
{
	struct thread *first = sched_rt_first(rq);

	atomic_store(&rq->rt_prio, first ? sched_prio(first) : PRIO_NONE);
	if (first)
		atomic_fetch_or(&sched_rt_waiting_mask, 1ull << rq->cpu);
	else
		atomic_fetch_and(&sched_rt_waiting_mask, ~(1ull << rq->cpu));
}

void sched_rt_put(struct run_queue *rq, struct thread *thread)
{
	int32_t prio = sched_prio(thread);
	struct list *pos;

	list_for_each(pos, &rq->rt_waiting) {
		int32_t other = sched_prio(sched_rt_thread_of(pos));

		if (other > prio || (other == prio && thread->keeps_turn))
			break;
	}
	thread->keeps_turn = false;
	list_add_tail(pos, &thread->run_link); /* in front of `pos` */
	sched_rt_note_first(rq);
}

void sched_rt_take(struct run_queue *rq, struct thread *thread)
{
	list_remove(&thread->run_link);
	sched_rt_note_first(rq);
}

/*
 * The queue on another CPU where the most urgent thread waits, if that is more urgent than `prio`,
 * or NULL. Without locks, so that it may be out of date.
 */
static struct run_queue *sched_rt_most_urgent_queue(const struct run_queue *rq, int32_t prio)
{
	struct run_queue *best = NULL;

	for (uint64_t left = atomic_load(&sched_rt_waiting_mask); left; left &= left - 1) {
		struct run_queue *other = &run_queues[__builtin_ctzll(left)];
		int32_t waiting = atomic_load_explicit(&other->rt_prio, memory_order_relaxed);

		if (other != rq && waiting < prio) {
			best = other;
			prio = waiting;
		}
	}
	return best;
}

static struct thread *sched_rt_first_movable(struct run_queue *from, uint32_t to_cpu)
{
	struct list *pos;

	list_for_each(pos, &from->rt_waiting) {
		if (sched_rt_thread_of(pos)->affinity & 1ull << to_cpu)
			return sched_rt_thread_of(pos);
	}
	return NULL;
}

void sched_rt_pull(struct run_queue *rq, int32_t prio)
{
	struct run_queue *from = sched_rt_most_urgent_queue(rq, prio);
	struct thread *thread;

	if (!from)
		return;
	/*
	 * Two CPUs that pull from each other must not wait for each other: this one looks again
	 * soon.
	 */
	if (!spin_trylock(&from->lock)) {
		resched_cpu(rq);
		return;
	}
	thread = sched_rt_first_movable(from, rq->cpu);
	if (thread && sched_prio(thread) < prio) {
		sched_dequeue(from, thread, ON_QUEUE_MOVING);
		sched_enqueue(rq, thread);
		rq->stats.nr_migrations++;
		if (trace_sched_migrate_task_enabled())
			sched_tell_migrate(thread, from->cpu);
	}
	spin_unlock(&from->lock);
}

uint32_t sched_rt_select_cpu(const struct thread *thread, uint64_t allowed)
{
	int32_t lowest = sched_prio(thread);
	uint32_t best = MAX_CPUS;

	for (; allowed; allowed &= allowed - 1) {
		uint32_t cpu = (uint32_t)__builtin_ctzll(allowed);
		int32_t prio =
			atomic_load_explicit(&run_queues[cpu].running_prio, memory_order_relaxed);

		if (prio > lowest) {
			lowest = prio;
			best = cpu;
		}
	}
	return best;
}

void sched_rt_push(struct run_queue *rq)
{
	struct thread *first = sched_rt_first(rq);
	uint32_t cpu;

	if (!first)
		return;
	cpu = sched_rt_select_cpu(first, first->affinity & cpu_active_mask & smp_online_mask() &
						 ~(1ull << rq->cpu));
	if (cpu < MAX_CPUS)
		resched_cpu(&run_queues[cpu]);
}

bool sched_rt_tick(struct run_queue *rq, struct thread *running)
{
	struct thread *first = sched_rt_first(rq);

	if (!first || running->policy != THREAD_RR || sched_prio(first) != sched_prio(running))
		return first && sched_prio(first) < sched_prio(running);
	return running->exec_start_ns - running->slice_start_ns >= THREAD_RR_TURN_NS;
}
