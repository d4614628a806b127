/* What the scheduler tells tracers, see sched.h. No call sites, for probes are called from here. */
#include <arch/cpu.h>
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

void sched_tell_migrate(struct thread *thread)
{
	struct trace_sched_thread info = describe(thread);

	trace_sched_migrate_task_call(&info);
}

void sched_tell_wakeup(struct thread *thread, uintptr_t ip, uintptr_t parent)
{
	struct trace_sched_thread wakee = describe(thread), waker = describe(current_thread());

	waker.ip = ip;
	waker.parent_ip = parent;
	trace_sched_wakeup_call(&waker, &wakee);
}
