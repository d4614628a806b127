/*
 * What stands on the stacks of all threads, while none of them moves: see trace_plat_each_stack().
 *
 * A thread that does not run is held by its wake_lock and the lock of its queue. One that runs is
 * looked at by its own CPU, in an interrupt.
 */
#include <arch/cpu.h>
#include <arch/smp.h>
#include <arch/unwind.h>
#include <kernel/preempt.h>
#include <kernel/upcall.h>
#include "sched.h"
#include "thread_list.h"

#define EXACT_MAX 64

struct each_stack {
	void (*fn)(struct trace_thread *thread, const uintptr_t *words, size_t nr, void *arg);
	void *arg;
};

/* All words from `from` to the end of the stack that it lies on. */
static void show_words(const struct each_stack *each, struct thread *thread, uintptr_t from)
{
	uintptr_t lo, hi;

	from &= ~(sizeof(uintptr_t) - 1);
	if (upcall_stack_range(from, &lo, &hi))
		each->fn(&thread->trace, (const uintptr_t *)from, (hi - from) / sizeof(uintptr_t),
			 each->arg);
}

/* False: not all of them. */
static bool show_addresses(const struct each_stack *each, struct thread *thread,
			   const uintptr_t *ips, size_t nr)
{
	if (!nr || nr == EXACT_MAX)
		return false;
	each->fn(&thread->trace, ips, nr, each->arg);
	return true;
}

/*
 * A thread that sleeps left its CPU by calling the scheduler: every function on its stack has its
 * frame, so the return addresses are known. They say more than all words would: those hold what
 * earlier calls left behind.
 */
static bool show_exact(const struct each_stack *each, struct thread *thread)
{
	uintptr_t ips[EXACT_MAX];

	return show_addresses(each, thread, ips,
			      arch_backtrace_context(&thread->context, ips, EXACT_MAX));
}

static void show_stopped(struct thread *thread, void *arg)
{
	const struct each_stack *each = arg;
	struct run_queue *rq;

	if (thread == current_thread())
		return;
	spin_lock(&thread->wake_lock);
	rq = sched_lock_queue_of(thread);
	if (!atomic_load(&thread->on_cpu) &&
	    (atomic_load(&thread->on_queue) != ON_QUEUE_NO || !show_exact(each, thread)))
		show_words(each, thread, thread->context.rsp);
	spin_unlock(&rq->lock);
	spin_unlock(&thread->wake_lock);
}

/*
 * The same holds for the thread that asks, and for an idle thread in its wait. Registers that it
 * was interrupted with may be left from whoever ran before it, for as long as it waits.
 */
static bool is_at_a_call(void)
{
	const struct run_queue *rq = this_run_queue();
	uint32_t inside = preempt_count() & (PREEMPT_DEPTH_MASK | PREEMPT_SOFTIRQ_MASK);

	return !in_interrupt() || (rq->running == rq->idle && rq->is_halted && inside == 1);
}

/* On each CPU, in an interrupt on the stack of the thread that it interrupted. */
static void show_running(void *arg)
{
	struct thread *thread = current_thread();
	uintptr_t ips[EXACT_MAX];

	if (!is_at_a_call() ||
	    !show_addresses(arg, thread, ips, arch_backtrace_here(ips, EXACT_MAX)))
		show_words(arg, thread, arch_frame_pointer());
}

void thread_each_stack(void (*fn)(struct trace_thread *thread, const uintptr_t *words, size_t nr,
				  void *arg),
		       void *arg)
{
	struct each_stack each = { .fn = fn, .arg = arg };

	thread_each(show_stopped, &each);
	smp_call_all(show_running, &each, true);
}
