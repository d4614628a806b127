/*
 * Events of the scheduler, told to tracers; see sched.h. No call sites, because this calls probes.
 */
#include <arch/cpu.h>
#include <kernel/time.h>
#include <trace/platform.h>
#include "sched.h"

static struct trace_sched_thread describe(struct thread *thread)
{
	bool is_idle = thread->flags & THREAD_IDLE;

	return (struct trace_sched_thread){ .thread = &thread->trace,
					    .comm = thread->name,
					    .pid = thread->pid,
					    .prio = is_idle ? TRACE_PRIO_NORMAL
							    : sched_prio(thread),
					    .state = is_idle ? 'R' : *thread_state_name(thread),
					    .policy = thread->policy,
					    .cpu = atomic_load(&thread->cpu) };
}

void trace_plat_current_sched(struct trace_sched_thread *out_thread)
{
	*out_thread = describe(current_thread());
}

/* Return address of the function whose frame pointer is `frame`. */
static uintptr_t caller_of(const uintptr_t *frame)
{
	return frame[1];
}

void sched_tell_switch(struct thread *prev, struct thread *next)
{
	struct trace_sched_thread from = describe(prev), to = describe(next);
	const uintptr_t *frame = (const uintptr_t *)arch_frame_pointer();

	from.ip = caller_of(frame);
	from.parent_ip = caller_of((const uintptr_t *)frame[0]);
	trace_sched_switch_call(&from, &to);
}

void sched_tell_migrate(struct thread *thread, uint32_t orig_cpu)
{
	struct trace_sched_thread info = describe(thread);

	trace_sched_migrate_task_call(&info, orig_cpu);
}

/* The thread that runs here, which wakes another one. */
static struct trace_sched_thread describe_waker(uintptr_t ip, uintptr_t parent)
{
	struct trace_sched_thread waker = describe(current_thread());

	waker.ip = ip;
	waker.parent_ip = parent;
	return waker;
}

void sched_tell_waking(struct thread *thread, uintptr_t ip, uintptr_t parent)
{
	struct trace_sched_thread wakee = describe(thread), waker = describe_waker(ip, parent);

	trace_sched_waking_call(&waker, &wakee);
}

void sched_tell_wakeup(struct thread *thread, uintptr_t ip, uintptr_t parent)
{
	struct trace_sched_thread wakee = describe(thread), waker = describe_waker(ip, parent);

	trace_sched_wakeup_call(&waker, &wakee);
}

void sched_tell_wakeup_new(struct thread *thread, uintptr_t ip, uintptr_t parent)
{
	struct trace_sched_thread wakee = describe(thread), waker = describe_waker(ip, parent);

	trace_sched_wakeup_new_call(&waker, &wakee);
}

void sched_tell_fork(struct thread *child)
{
	struct trace_sched_thread to = describe(child), from = describe(current_thread());

	trace_sched_process_fork_call(&from, &to);
}

void sched_tell_exit(struct thread *thread)
{
	struct trace_sched_thread info = describe(thread);

	trace_sched_process_exit_call(&info);
}

void sched_tell_free(struct thread *thread)
{
	struct trace_sched_thread info = describe(thread);

	trace_sched_process_free_call(&info);
}

void sched_tell_wait(const struct thread *awaited)
{
	struct trace_sched_thread info = describe(current_thread());

	trace_sched_process_wait_call(&info, awaited->pid);
}

void sched_tell_runtime(struct thread *thread, uint64_t ran_ns)
{
	struct trace_sched_thread info = describe(thread);

	trace_sched_stat_runtime_call(&info, ran_ns, thread->vruntime_ns);
}

/* The time since `since_ns`; 0 when the clocks of two CPUs say that it lies ahead. */
static uint64_t passed_since(uint64_t since_ns)
{
	uint64_t now = local_clock_ns();

	return now > since_ns ? now - since_ns : 0;
}

void sched_tell_waited(struct thread *thread)
{
	struct trace_sched_thread info = describe(thread);

	trace_sched_stat_wait_call(&info, passed_since(thread->waits_since_ns));
}

void sched_tell_slept(struct thread *thread)
{
	struct trace_sched_thread info = describe(thread);
	uint64_t delay_ns = passed_since(thread->sleeps_since_ns);

	if (thread->is_blocked && trace_sched_stat_blocked_enabled())
		trace_sched_stat_blocked_call(&info, delay_ns);
	if (!thread->is_blocked && trace_sched_stat_sleep_enabled())
		trace_sched_stat_sleep_call(&info, delay_ns);
}
