/*
 * Work that probes leave for a thread: trace_plat_defer() of <trace/platform_full.h>. A probe
 * cannot wake a thread, because the code that it interrupts may hold any lock. So it puts the work
 * on a list and raises a softirq, whose handler wakes a worker thread.
 */
#include <stdatomic.h>
#include <kernel/softirq.h>
#include <kernel/work.h>
#include <trace/platform.h>
#include "kernel_init.h"

static struct trace_plat_deferred *_Atomic deferred_list; /* newest first */
static struct work run_work;

void trace_plat_defer(struct trace_plat_deferred *deferred)
{
	struct trace_plat_deferred *first = atomic_load(&deferred_list);

	trace_plat_preempt_disable();
	do
		deferred->next = first;
	while (!atomic_compare_exchange_weak(&deferred_list, &first, deferred));
	raise_softirq_notrace(SOFTIRQ_TRACE);
	trace_plat_preempt_enable();
}

static void run_deferred(struct work *work)
{
	struct trace_plat_deferred *deferred = atomic_exchange(&deferred_list, NULL);

	(void)work;
	while (deferred) {
		struct trace_plat_deferred *next = deferred->next; /* fn may defer it again */

		deferred->fn(deferred);
		deferred = next;
	}
}

static void trace_softirq(void)
{
	queue_work(&run_work);
}

void trace_defer_init(void)
{
	work_init(&run_work, run_deferred);
	open_softirq(SOFTIRQ_TRACE, trace_softirq);
	if (atomic_load(&deferred_list)) /* by probes that ran while booting */
		raise_softirq(SOFTIRQ_TRACE);
}
