/*
 * The choice of a thread's CPU, see sched.h: made when it wakes, corrected by a CPU that has
 * nothing to do (sched_pull) and by the tick of a CPU that has less than others.
 */
#include <arch/cpu.h>
#include <arch/smp.h>
#include <kernel/softirq.h>
#include "sched.h"

#define BALANCE_TICKS 8

_Atomic uint64_t sched_idle_mask;

/* Claim an idle CPU out of `allowed`, `prefer` if it is one. MAX_CPUS when there is none. */
static uint32_t sched_claim_idle_cpu(uint64_t allowed, uint32_t prefer)
{
	uint64_t idle = atomic_load(&sched_idle_mask) & allowed;

	while (idle) {
		uint32_t cpu = idle & 1ull << prefer ? prefer : (uint32_t)__builtin_ctzll(idle);
		uint64_t bit = 1ull << cpu;

		if (atomic_fetch_and(&sched_idle_mask, ~bit) & bit)
			return cpu;
		idle &= ~bit;
	}
	return MAX_CPUS;
}

static uint32_t sched_nr_running_on(uint32_t cpu)
{
	return atomic_load_explicit(&run_queues[cpu].nr_running, memory_order_relaxed);
}

static uint32_t sched_select_cpu(struct thread *thread)
{
	uint64_t active = atomic_load(&cpu_active_mask), allowed = thread->affinity & active;
	uint32_t here = cpu_local_read(id), last = atomic_load(&thread->cpu), cpu;

	if (!allowed)
		allowed = active & 1ull << here ? 1ull << here
						: active; /* it may use none that is up */
	cpu = sched_claim_idle_cpu(allowed, last);
	if (cpu == MAX_CPUS && sched_is_rt(thread))
		cpu = sched_rt_select_cpu(thread, allowed);
	if (cpu < MAX_CPUS)
		return cpu;
	if (!(allowed & 1ull << last))
		last = (uint32_t)__builtin_ctzll(allowed);
	if ((allowed & 1ull << here) && sched_nr_running_on(here) < sched_nr_running_on(last))
		return here;
	return last;
}

struct run_queue *sched_lock_queue_for(struct thread *thread)
{
	for (;;) {
		struct run_queue *rq = &run_queues[sched_select_cpu(thread)];

		spin_lock(&rq->lock);
		if (!rq->is_closed)
			return rq;
		spin_unlock(&rq->lock); /* it was closed meanwhile, and is not selected again */
	}
}

static struct run_queue *sched_busiest_queue(const struct run_queue *rq, uint32_t min_running)
{
	struct run_queue *busiest = NULL;

	for (uint64_t left = cpu_active_mask; left; left &= left - 1) {
		uint32_t cpu = (uint32_t)__builtin_ctzll(left);

		if (cpu != rq->cpu && sched_nr_running_on(cpu) >= min_running) {
			busiest = &run_queues[cpu];
			min_running = sched_nr_running_on(cpu) + 1;
		}
	}
	return busiest;
}

static struct thread *sched_movable_thread(struct run_queue *from, uint32_t to_cpu)
{
	struct list *pos;

	list_for_each(pos, &from->waiting) {
		struct thread *thread = list_entry(pos, struct thread, run_link);

		if (thread->affinity & 1ull << to_cpu)
			return thread;
	}
	return NULL;
}

bool sched_pull(struct run_queue *rq, uint32_t min_running)
{
	struct run_queue *from = sched_busiest_queue(rq, min_running);
	struct thread *thread;

	/* Two CPUs that pull from each other must not wait for each other. */
	if (rq->is_closed || !from || !spin_trylock(&from->lock))
		return false;
	thread = sched_movable_thread(from, rq->cpu);
	if (thread) {
		uint64_t lag = thread->vruntime_ns - from->min_vruntime_ns;

		sched_dequeue(from, thread, ON_QUEUE_MOVING);
		thread->vruntime_ns = rq->min_vruntime_ns + ((int64_t)lag > 0 ? lag : 0);
		sched_enqueue(rq, thread);
		rq->stats.nr_migrations++;
		if (trace_sched_migrate_task_enabled())
			sched_tell_migrate(thread, from->cpu);
	}
	spin_unlock(&from->lock);
	return thread != NULL;
}

/* SOFTIRQ_SCHED: take a thread from the busiest CPU if that has at least two more than this one. */
static void sched_balance(void)
{
	struct run_queue *rq = this_run_queue();
	uint64_t flags = spin_lock_irqsave(&rq->lock);

	sched_pull(rq, atomic_load(&rq->nr_running) + 2);
	spin_unlock_irqrestore(&rq->lock, flags);
}

void sched_balance_tick(struct run_queue *rq)
{
	if (atomic_load(&rq->nr_running) > 1 && atomic_load(&sched_idle_mask)) {
		/* An idle CPU has no tick: tell one that there is something to pull. */
		uint32_t cpu = sched_claim_idle_cpu(cpu_active_mask, rq->cpu);

		if (cpu < MAX_CPUS)
			resched_cpu(&run_queues[cpu]);
	}
	if (rq->nr_ticks % BALANCE_TICKS == 0)
		raise_softirq(SOFTIRQ_SCHED);
}

void sched_balance_init(void)
{
	open_softirq(SOFTIRQ_SCHED, sched_balance);
}
