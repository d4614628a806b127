/* Switching threads, see sched.h and <kernel/thread.h>. */
#include <arch/cpu.h>
#include <arch/per_cpu_array.h>
#include <arch/sections.h>
#include <arch/smp.h>
#include <arch/switch.h>
#include <arch/timer.h>
#include <kernel/config.h>
#include <kernel/mm.h>
#include <kernel/process.h>
#include <kernel/softirq.h>
#include <kernel/time.h>
#include <kernel/upcall.h>
#include <trace/events/timer.h>
#include "sched.h"
#include "softirq_priv.h"
#include "thread_list.h"

struct run_queue run_queues[MAX_CPUS];
PER_CPU_ARRAY(run_queues);

static TRACE_ALWAYS_INLINE uintptr_t sched_stack_top(const struct thread *thread)
{
	return thread->stack ? (uintptr_t)thread->stack + STACK_BYTES : (uintptr_t)boot_stack_top;
}

void sched_init_cpu(uint32_t cpu, struct thread *idle, struct cpu_local *local)
{
	struct run_queue *rq = &run_queues[cpu];

	rq->cpu = cpu;
	rq->is_closed = false;
	atomic_store(&rq->resched_sent, 0); /* one that was on its way to a CPU that went offline */
	list_init(&rq->waiting);
	list_init(&rq->rt_waiting);
	atomic_store(&rq->rt_prio, PRIO_NONE);
	atomic_store(&rq->running_prio, PRIO_IDLE);
	rq->idle = idle;
	rq->running = idle;
	atomic_store(&idle->cpu, cpu);
	atomic_store(&idle->on_cpu, 1);
	local->kernel_private = rq;
	local->current = idle;
	local->current_pid = 0;
	local->trace_thread = &idle->trace;
	local->preempt_count = PREEMPT_NO_RESCHED | 1; /* idle runs with preemption off */
	local->kernel_stack_top = sched_stack_top(idle);
}

/* `prev` is runnable, on no queue, and may not run on this CPU any more: hand it to one where it may. */
static void sched_move_switched_out(struct thread *prev)
{
	uint32_t orig_cpu = atomic_load(&prev->cpu);
	struct run_queue *rq;

	spin_lock(&prev->wake_lock);
	rq = sched_lock_queue_for(prev);
	sched_enqueue(rq, prev);
	if (trace_sched_migrate_task_enabled())
		sched_tell_migrate(prev, orig_cpu);
	sched_check_preempt(rq, prev);
	spin_unlock(&rq->lock);
	spin_unlock(&prev->wake_lock);
}

/* On the new thread's stack, interrupts off, queue lock held: let go of the old thread. */
static TRACE_ALWAYS_INLINE void sched_finish_switch(void)
{
	struct run_queue *rq = this_run_queue();
	struct thread *prev = rq->switched_out;
	bool moving = atomic_load(&prev->on_queue) == ON_QUEUE_MOVING;
	bool is_dead = atomic_load_explicit(&prev->state, memory_order_relaxed) == THREAD_DEAD;

	/* release: a CPU that sees 0 may run or free the thread; pairs with the loads of on_cpu. */
	atomic_store_explicit(&prev->on_cpu, 0, memory_order_release);
	spin_unlock(&rq->lock);
	if (moving)
		sched_move_switched_out(prev);
	if (is_dead)
		thread_left_cpu();
}

static void sched_switch_to(struct run_queue *rq, struct thread *prev, struct thread *next)
{
	if (trace_sched_switch_enabled())
		sched_tell_switch(prev, next);
	rq->running = next;
	if (sched_is_rt(next) && !sched_is_rt(prev))
		rq->rt_since_ns = prev->exec_start_ns;
	rq->switched_out = prev;
	rq->stats.nr_switches++;
	next->exec_start_ns =
		prev->exec_start_ns; /* sched_account() has just read the clock for it */
	next->slice_start_ns = next->exec_start_ns;
	atomic_store_explicit(&next->on_cpu, 1, memory_order_relaxed);
	cpu_local_write(current, next);
	cpu_local_write(current_pid, next->pid);
	cpu_local_write(trace_thread, &next->trace);
	cpu_local_write(kernel_stack_top, sched_stack_top(next));
	if (TRACE_UNLIKELY((prev->flags | next->flags) & THREAD_USER))
		task_switch(prev->task, next->task, sched_stack_top(next));
	arch_switch(&prev->context, &next->context);
	/* Here `prev` runs again, perhaps on another CPU. */
	sched_finish_switch();
}

static void sched_sleeps(struct run_queue *rq, struct thread *thread, uint32_t state)
{
	sched_dequeue(rq, thread, ON_QUEUE_NO);
	if (trace_sched_stat_sleep_enabled() || trace_sched_stat_blocked_enabled()) {
		thread->sleeps_since_ns = thread->exec_start_ns;
		thread->is_blocked = state == THREAD_UNINTERRUPTIBLE;
	}
}

/* Decide what becomes of the thread that leaves the CPU. */
static void sched_put_previous(struct run_queue *rq, struct thread *prev, bool preempted)
{
	bool had_turn = prev->has_turn;

	if (prev == rq->idle)
		return;
	prev->has_turn = false;
	if (preempted) {
		prev->nr_involuntary++;
	} else {
		uint32_t state = atomic_load(&prev->state);

		atomic_fetch_add_explicit(&prev->nr_voluntary, 1, memory_order_relaxed);
		if (state == THREAD_INTERRUPTIBLE && atomic_load(&prev->interrupted))
			atomic_store(&prev->state, THREAD_RUNNING);
		else if (state != THREAD_RUNNING)
			sched_sleeps(rq, prev, state);
	}
	if (atomic_load(&prev->on_queue) == ON_QUEUE_NO)
		return;
	prev->keeps_turn =
		preempted && !had_turn && !(prev->policy == THREAD_RR && sched_rt_tick(rq, prev));
	if (!rq->is_closed &&
	    (prev->affinity & 1ull << rq->cpu || !(prev->affinity & cpu_active_mask)))
		sched_put_waiting(rq, prev);
	else
		sched_dequeue(rq, prev, ON_QUEUE_MOVING);
}

/*
 * Note the priority of the running thread for CPUs that look for less urgent work: there is none
 * here while normal threads go first.
 */
static void sched_note_prio(struct run_queue *rq, const struct thread *running)
{
	bool is_first = (rq->is_rt_throttled || rq->is_urgent_turn) && running != rq->idle;

	atomic_store_explicit(&rq->running_prio, is_first ? 0 : sched_prio(running),
			      memory_order_relaxed);
}

void sched_switch(bool preempted)
{
	uint64_t flags = arch_irq_save();
	struct run_queue *rq = this_run_queue();
	struct thread *prev = rq->running, *next;

	spin_lock(&rq->lock);
	clear_need_resched();
	atomic_fetch_add_explicit(&rq->nr_passes, 1, memory_order_relaxed);
	atomic_store(&rq->resched_sent, 0);
	sched_account(rq);
	sched_put_previous(rq, prev, preempted);
	next = sched_pick_next(rq);
	sched_note_prio(rq, next);
	if (sched_rt_first(rq))
		sched_rt_push(rq);
	if (next != prev)
		sched_switch_to(rq, prev, next);
	else
		spin_unlock(&rq->lock);
	arch_irq_restore(flags);
}

void sched_thread_begins(void)
{
	sched_finish_switch();
	arch_irq_enable();
	preempt_enable();
}

void schedule(void)
{
	if (KERNEL_DEBUG && (preempt_count() != 0 || arch_irqs_disabled()))
		panic("%s: sleeps with preempt_count %#x, interrupts %s", current_thread()->name,
		      preempt_count(), arch_irqs_disabled() ? "off" : "on");
	do {
		preempt_disable();
		sched_switch(false);
		preempt_enable_no_resched();
	} while (need_resched());
}

void yield(void)
{
	struct run_queue *rq;
	struct heap_node *first;
	uint64_t flags = arch_irq_save();

	rq = this_run_queue();
	spin_lock(&rq->lock);
	sched_account(rq);
	first = heap_first(&rq->queue);
	if (first && first->key >= rq->running->vruntime_ns)
		rq->running->vruntime_ns = first->key + 1;
	spin_unlock(&rq->lock);
	arch_irq_restore(flags);
	schedule();
}

void cond_resched(void)
{
	if (need_resched())
		schedule();
}

/* At the tick: is another thread to run? */
static bool sched_is_turn_over(struct run_queue *rq, struct thread *running)
{
	struct heap_node *first = heap_first(&rq->queue);

	if (!(running->affinity & 1ull << rq->cpu))
		return true;
	if (sched_is_rt(running) && (rq->is_urgent_turn || (rq->is_rt_throttled && first)))
		return true;
	if (sched_rt_tick(rq, running) &&
	    (!(rq->is_rt_throttled || rq->is_urgent_turn) || sched_is_rt(running)))
		return true;
	return !sched_is_rt(running) && first && first->key < running->vruntime_ns &&
	       running->exec_start_ns - running->slice_start_ns >= THREAD_SLICE_NS / 2;
}

static void sched_count_tick(struct run_queue *rq, bool is_user)
{
	enum thread_tick tick = is_user ? THREAD_TICK_USER : THREAD_TICK_KERNEL;

	rq->running->nr_ticks[tick]++;
	if (rq->running != rq->idle)
		rq->stats.nr_ticks[tick]++;
}

void scheduler_tick(bool is_user)
{
	struct run_queue *rq = this_run_queue();
	uint64_t now_ns;
	bool is_news;

	spin_lock(&rq->lock);
	rq->nr_ticks++;
	sched_count_tick(rq, is_user);
	sched_account(rq);
	now_ns = rq->running->exec_start_ns;
	is_news = sched_rt_limit_tick(rq);
	sched_urgent_tick(rq);
	sched_note_prio(rq, rq->running);
	if (rq->running != rq->idle) {
		if (sched_is_turn_over(rq, rq->running))
			set_need_resched();
		sched_balance_tick(rq);
	}
	spin_unlock(&rq->lock);
	loadavg_tick(now_ns);
	if (current_thread()->task)
		cpu_timers_tick(current_thread()->task);
	if (is_news)
		sched_rt_limit_say();
}

void upcall_reschedule(void)
{
	set_need_resched();
}

/*
 * In the idle thread, when there is no work: halt this CPU until an interrupt comes. Interrupts are
 * off before and on afterwards.
 */
static void sched_idle_wait(struct run_queue *rq)
{
	uint64_t bit = 1ull << rq->cpu;

	arch_timer_tick_stop();
	trace_tick_stop(1, 0);
	rq->idle_since_ns = local_clock_ns();
	atomic_fetch_or(&sched_idle_mask, bit);
	/* A CPU that gives us work after this also sends an interrupt, which ends the wait. */
	if (atomic_load(&rq->nr_running) == 0) {
		rq->is_halted = true;
		trace_cpu_idle(1, rq->cpu, (uintptr_t)sched_idle_wait);
		arch_idle_wait();
		arch_irq_disable();
		trace_cpu_idle(TRACE_CPU_IDLE_EXIT, rq->cpu, (uintptr_t)sched_idle_wait);
		rq->is_halted = false;
	}
	atomic_fetch_and(&sched_idle_mask, ~bit);
	rq->stats.idle_ns += local_clock_ns() - rq->idle_since_ns;
	arch_timer_tick_start();
	arch_irq_enable();
}

/* In the idle thread of a closed queue, interrupts off: its threads go to other CPUs. */
static void sched_empty(struct run_queue *rq)
{
	for (;;) {
		struct thread *thread;

		spin_lock(&rq->lock);
		thread = sched_rt_first(rq);
		if (!thread && !list_empty(&rq->waiting))
			thread = list_entry(rq->waiting.next, struct thread, run_link);
		if (thread)
			sched_dequeue(rq, thread, ON_QUEUE_MOVING);
		spin_unlock(&rq->lock);
		if (!thread)
			return;
		sched_move_switched_out(thread);
	}
}

void sched_idle_loop(void)
{
	struct run_queue *rq = this_run_queue();

	ASSERT(preempt_count() == 1);
	arch_irq_disable();
	if (rq->idle_since_ns) /* it was offline since then */
		rq->stats.idle_ns += local_clock_ns() - rq->idle_since_ns;
	arch_timer_tick_start();
	for (;;) {
		arch_irq_disable();
		if (rq->is_closed)
			break;
		if (softirq_is_pending())
			softirq_run();
		if (!need_resched() && atomic_load(&rq->nr_running) == 0)
			sched_idle_wait(rq);
		arch_irq_enable();
		sched_switch(false);
	}
	sched_empty(rq);
	rq->idle_since_ns = local_clock_ns();
	arch_irq_enable();
}

void sched_close_queue(uint32_t cpu)
{
	struct run_queue *rq = &run_queues[cpu];
	uint64_t flags = spin_lock_irqsave(&rq->lock);

	rq->is_closed = true;
	resched_cpu(rq);
	spin_unlock_irqrestore(&rq->lock, flags);
}

void sched_cpu_stats_get(uint32_t cpu, struct sched_cpu_stats *out)
{
	struct run_queue *rq = &run_queues[cpu];
	uint64_t flags = spin_lock_irqsave(&rq->lock);

	*out = rq->stats;
	out->nr_running = atomic_load(&rq->nr_running);
	spin_unlock_irqrestore(&rq->lock, flags);
}
