/* Counts of rejected events. See event_rejects.h. */
#include "event_rejects.h"

static size_t bytes(void)
{
	return sizeof(struct trace_event_rejects) +
	       trace_plat_nr_cpus() * sizeof(((struct trace_event_rejects *)0)->cpu[0]);
}

struct trace_event_rejects *trace_event_rejects_create(void)
{
	return trace_plat_alloc(bytes());
}

void trace_event_rejects_free(struct trace_event_rejects *rejects)
{
	if (rejects)
		trace_plat_free(rejects, bytes());
}

static uint64_t sum(const struct trace_event_rejects *rejects)
{
	uint64_t nr = 0;

	for (uint32_t cpu = 0; cpu < trace_plat_nr_cpus(); cpu++)
		nr += __atomic_load_n(&rejects->cpu[cpu].nr, __ATOMIC_RELAXED);
	return nr;
}

void trace_event_rejects_begin(struct trace_event_rejects *rejects, uint64_t now_ns)
{
	rejects->before = sum(rejects);
	rejects->since_ns = now_ns;
}

uint64_t trace_event_rejects_nr(const struct trace_event_rejects *rejects)
{
	return sum(rejects) - rejects->before;
}
