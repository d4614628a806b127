/*
 * The stacks of all threads, looked at while none of them moves: see trace_plat_each_stack().
 *
 * A thread that does not run is kept from running by its wake_lock and the lock of its queue. One
 * that runs is looked at by its own CPU, in an interrupt on its stack. First all words of the stack
 * are shown. If something is found there, it may be a remainder of an earlier call; so the stack is
 * walked, and only what the walk finds is shown again.
 */
#include <arch/cpu.h>
#include <arch/smp.h>
#include <arch/unwind.h>
#include <kernel/preempt.h>
#include <kernel/upcall.h>
#include <trace/platform.h>
#include "sched.h"
#include "thread_list.h"

struct finder {
	const struct trace_plat_look *look;
	struct trace_thread *thread;
	uint32_t found;
};

static void thread_find_in(const uintptr_t *words, size_t nr, void *arg)
{
	struct finder *finder = arg;

	finder->found |= finder->look->find(finder->thread, words, nr, finder->look->arg);
}

/* Show all words from `from` to the end of its stack to the finder, and return its findings. */
static uint32_t thread_find_in_words(const struct finder *finder, uintptr_t from)
{
	struct finder words = *finder;
	uintptr_t lo, hi;

	from &= ~(sizeof(uintptr_t) - 1);
	if (upcall_stack_range(from, &lo, &hi))
		thread_find_in((const uintptr_t *)from, (hi - from) / sizeof(uintptr_t), &words);
	return words.found;
}

static void thread_show_sleeper(const struct trace_plat_look *look, struct thread *thread)
{
	struct finder finder = { .look = look, .thread = &thread->trace };
	uint32_t found = thread_find_in_words(&finder, thread->context.rsp);

	/* If the walk breaks off, it has not seen everything: then the first findings count. */
	if (found && arch_stack_show(&thread->context, thread_find_in, &finder))
		found = finder.found;
	if (found)
		sched_urgent_let_go(thread);
	look->seen(&thread->trace, found, look->arg);
}

/* The idle thread of a CPU that is not online: it runs no traced code yet, or no more. */
static bool thread_has_no_cpu(const struct thread *thread)
{
	return thread->flags & THREAD_IDLE && smp_cpu_gone(atomic_load(&thread->cpu));
}

static void thread_show_stopped(struct thread *thread, void *arg)
{
	const struct trace_plat_look *look = arg;
	struct run_queue *rq;

	if (thread == current_thread())
		return;
	spin_lock(&thread->wake_lock);
	rq = sched_lock_queue_of(thread);
	if (thread_has_no_cpu(thread))
		look->seen(&thread->trace, 0, look->arg);
	else if (!atomic_load(&thread->on_cpu))
		thread_show_sleeper(look, thread);
	spin_unlock(&rq->lock);
	spin_unlock(&thread->wake_lock);
}

/*
 * In an interrupt: did the idle thread just wait for it? Registers that were saved by the interrupt
 * are then no sign of a function that runs. They may still hold values of an earlier thread, for as
 * long as the CPU is idle.
 */
static bool thread_is_idle_wait(void)
{
	const struct run_queue *rq = this_run_queue();
	uint32_t inside = preempt_count() & (PREEMPT_DEPTH_MASK | PREEMPT_SOFTIRQ_MASK);

	return rq->running == rq->idle && rq->is_halted && inside == 1;
}

/* Runs on each CPU: in an interrupt, or on the CPU of the thread that asks, called by it. */
static void thread_show_running(void *arg)
{
	const struct trace_plat_look *look = arg;
	struct finder finder = { .look = look, .thread = &current_thread()->trace };
	uint32_t found = thread_find_in_words(&finder, arch_frame_pointer());

	if (found && arch_stack_show_here(thread_is_idle_wait(), thread_find_in, &finder))
		found = finder.found;
	look->seen(finder.thread, found, look->arg);
}

void thread_each_stack(const struct trace_plat_look *look)
{
	thread_each(thread_show_stopped, (void *)(uintptr_t)look);
	on_each_cpu(thread_show_running, (void *)(uintptr_t)look, true);
}
