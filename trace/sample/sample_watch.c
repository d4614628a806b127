/* Watches of the profiler: see sample_watch.h. */
#include <stdatomic.h>
#include <trace/platform.h>
#include "sample.h"
#include "sample_watch.h"

static struct trace_sample_watch *_Atomic sample_watches;

int trace_sample_watch_add(struct trace_sample_watch *watch)
{
	if (!trace_sample_host)
		return -ENODEV;
	watch->passed_ns = trace_plat_alloc(trace_plat_nr_cpus() * sizeof(*watch->passed_ns));
	if (!watch->passed_ns)
		return -ENOMEM;
	watch->next = sample_watches;
	atomic_store_explicit(&sample_watches, watch, memory_order_release);
	trace_sample_apply();
	return 0;
}

void trace_sample_watch_remove(struct trace_sample_watch *watch)
{
	struct trace_sample_watch *_Atomic *at = &sample_watches;

	while (*at && *at != watch)
		at = &(*at)->next;
	if (!*at)
		return;
	atomic_store_explicit(at, watch->next, memory_order_release);
	trace_sample_apply();
}

void trace_sample_watch_free(struct trace_sample_watch *watch)
{
	if (watch->passed_ns)
		trace_plat_free(watch->passed_ns, trace_plat_nr_cpus() * sizeof(*watch->passed_ns));
	watch->passed_ns = NULL;
}

/* One call, however many of its periods have passed. */
static void sample_watch_pass(struct trace_sample_watch *watch, const struct trace_sample_hit *hit)
{
	uint64_t *passed = &watch->passed_ns[trace_plat_cpu_id()];

	*passed += (uint64_t)hit->period_ns * hit->periods;
	if (*passed < watch->period_ns)
		return;
	*passed %= watch->period_ns;
	watch->func(watch, hit);
}

void trace_sample_watches_call(const struct trace_sample_hit *hit)
{
	struct trace_sample_watch *watch = trace_atomic_load_acquire(&sample_watches);

	for (; watch; watch = trace_atomic_load_acquire(&watch->next)) {
		if (hit->clock == TRACE_SAMPLE_TIMER)
			sample_watch_pass(watch, hit);
	}
}

uint32_t trace_sample_watches_ns(uint32_t period_ns)
{
	for (const struct trace_sample_watch *watch = sample_watches; watch; watch = watch->next) {
		uint64_t wanted = watch->period_ns < SAMPLE_NS ? watch->period_ns : SAMPLE_NS;

		if (!period_ns || wanted < period_ns)
			period_ns = (uint32_t)wanted;
	}
	return period_ns;
}
