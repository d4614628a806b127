/* Waking threads, see <kernel/thread.h> and sched.h. */
#include <arch/cpu.h>
#include <kernel/time.h>
#include <kernel/timer.h>
#include "sched.h"

/* For tracers: the return address of the function that uses this. */
#define WAKER_IP ((uintptr_t)__builtin_return_address(0))

/* For tracers: the return address of the caller of the function that uses this. */
static TRACE_ALWAYS_INLINE uintptr_t waker_parent(void)
{
	const uintptr_t *frame = (const uintptr_t *)arch_frame_pointer();

	return ((const uintptr_t *)frame[0])[1];
}

/* The thread is on the queue, and comes from that of CPU `from`. Queue lock held. */
static TRACE_ALWAYS_INLINE void sched_tell_activation(struct thread *thread, uint32_t from,
						      enum sched_activation why)
{
	if (thread->sleeps_since_ns)
		sched_tell_slept(thread);
	thread->sleeps_since_ns = 0;
	if (trace_sched_migrate_task_enabled() && why != SCHED_IS_NEW &&
	    atomic_load(&thread->cpu) != from)
		sched_tell_migrate(thread, from);
	if (trace_sched_wakeup_enabled() && why == SCHED_WAKES)
		sched_tell_wakeup(thread, WAKER_IP, waker_parent());
	if (trace_sched_wakeup_new_enabled() && why == SCHED_IS_NEW)
		sched_tell_wakeup_new(thread, WAKER_IP, waker_parent());
}

void sched_activate(struct thread *thread, enum sched_activation why)
{
	struct run_queue *from = &run_queues[atomic_load(&thread->cpu)];
	struct run_queue *rq = sched_lock_queue_for(thread);

	if (rq != from) {
		int64_t lag = (int64_t)(thread->vruntime_ns - from->min_vruntime_ns);

		thread->vruntime_ns = rq->min_vruntime_ns + (uint64_t)(lag > 0 ? lag : 0);
		rq->stats.nr_migrations++;
	}
	rq->stats.nr_wakeups++;
	sched_enqueue(rq, thread);
	sched_tell_activation(thread, from->cpu, why);
	sched_check_preempt(rq, thread);
	spin_unlock(&rq->lock);
}

/*
 * If the thread is still on a run queue, set it to THREAD_RUNNING and leave it there. True when
 * that was so. Tracers are not told when it still runs, for no switch to it follows.
 */
static TRACE_NOINLINE bool wake_on_queue(struct thread *thread)
{
	struct run_queue *rq = &run_queues[atomic_load(&thread->cpu)];
	bool is_queued;

	spin_lock(&rq->lock);
	is_queued = atomic_load(&thread->on_queue) != ON_QUEUE_NO &&
		    atomic_load(&thread->cpu) == rq->cpu;
	if (is_queued)
		atomic_store(&thread->state, THREAD_RUNNING);
	if (is_queued && thread != rq->running && trace_sched_wakeup_enabled())
		sched_tell_wakeup(thread, WAKER_IP, waker_parent());
	spin_unlock(&rq->lock);
	return is_queued;
}

/* Make `thread` runnable if it sleeps in one of `states`. */
static bool try_to_wake_up(struct thread *thread, uint32_t states)
{
	uint64_t flags = spin_lock_irqsave(&thread->wake_lock);
	bool woken = false;

	if (trace_sched_waking_enabled() && atomic_load(&thread->state) & states)
		sched_tell_waking(thread, WAKER_IP, waker_parent());
	while (atomic_load(&thread->state) & states) {
		woken = true;
		if (atomic_load(&thread->on_queue) != ON_QUEUE_NO) {
			if (wake_on_queue(thread))
				break;
			continue;
		}
		/* The thread is leaving another CPU: its registers must be saved first. */
		while (atomic_load_explicit(&thread->on_cpu, memory_order_acquire))
			arch_cpu_relax();
		atomic_store(&thread->state, THREAD_RUNNING);
		sched_activate(thread, SCHED_WAKES);
		break;
	}
	spin_unlock_irqrestore(&thread->wake_lock, flags);
	return woken;
}

bool wake_up_process(struct thread *thread)
{
	return try_to_wake_up(thread, THREAD_INTERRUPTIBLE | THREAD_UNINTERRUPTIBLE);
}

void wake_up_new_thread(struct thread *thread)
{
	uint64_t flags = spin_lock_irqsave(&thread->wake_lock);

	thread->vruntime_ns = this_run_queue()->min_vruntime_ns;
	atomic_store(&thread->cpu, cpu_local_read(id));
	atomic_store(&thread->state, THREAD_RUNNING);
	sched_activate(thread, SCHED_IS_NEW);
	spin_unlock_irqrestore(&thread->wake_lock, flags);
}

void thread_interrupt(struct thread *thread)
{
	atomic_store(&thread->interrupted, 1);
	if (thread != current_thread() || atomic_load(&thread->state) != THREAD_RUNNING)
		try_to_wake_up(thread, THREAD_INTERRUPTIBLE);
}

void thread_clear_interrupt(void)
{
	atomic_store(&current_thread()->interrupted, 0);
}

struct alarm {
	struct timer timer;
	struct thread *thread;
	_Atomic uint32_t rang;
};

static void wake_ring_alarm(struct timer *timer)
{
	struct alarm *alarm = container_of(timer, struct alarm, timer);

	atomic_store(&alarm->rang, 1);
	wake_up_process(alarm->thread);
}

bool schedule_until(uint64_t deadline_ns)
{
	struct alarm alarm = { .thread = current_thread() };

	if (deadline_ns == WAIT_FOREVER) {
		schedule();
		return false;
	}
	timer_setup(&alarm.timer, wake_ring_alarm);
	timer_start(&alarm.timer, deadline_ns);
	schedule();
	timer_cancel_sync(&alarm.timer);
	return atomic_load(&alarm.rang);
}

void thread_pause_ns(uint64_t ns)
{
	set_current_state(THREAD_UNINTERRUPTIBLE);
	schedule_until(ktime_get_ns() + ns);
	set_current_state(THREAD_RUNNING);
}

int thread_sleep_ns(uint64_t ns)
{
	uint64_t deadline_ns = ktime_after(ns);

	while (ktime_get_ns() < deadline_ns) {
		set_current_state(THREAD_INTERRUPTIBLE);
		if (thread_interrupted()) {
			set_current_state(THREAD_RUNNING);
			return -EINTR;
		}
		schedule_until(deadline_ns);
	}
	return thread_interrupted() ? -EINTR : 0;
}
