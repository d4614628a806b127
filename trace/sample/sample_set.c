/*
 * The periods that the host is asked for: of each CPU and clock, the shortest that an instance wants. See
 * sample.h.
 */
#include <trace/platform.h>
#include "events/event_file.h"
#include "sample.h"
#include "sample_watch.h"
#include "text/str.h"

/* Asked for now, TRACE_SAMPLE_NR_CLOCKS for each CPU; config lock. */
static uint32_t *sample_asked_ns;

int trace_sample_set_init(void)
{
	size_t nr = (size_t)trace_plat_nr_cpus() * TRACE_SAMPLE_NR_CLOCKS;

	sample_asked_ns = trace_plat_alloc(nr * sizeof(*sample_asked_ns));
	return sample_asked_ns ? 0 : -ENOMEM;
}

void trace_sample_set_rate(struct sample_array *sample, uint32_t hz, uint32_t percent)
{
	uint32_t period_ns = SAMPLE_NS / hz;

	sample->hz = hz;
	sample->percent = percent;
	sample->period_ns = period_ns;
	sample->allowed_ns = (uint32_t)((uint64_t)period_ns * percent / 100);
	sample->is_noted = false;
}

/* The shortest period that an instance wants of this CPU; 0: none wants one. */
static uint32_t sample_wanted_ns(uint32_t cpu, enum trace_sample_clock clock)
{
	const struct trace_event_file *file = trace_sample_call.files;
	uint32_t shortest = 0;

	for (; file; file = file->next_of_call) {
		const struct sample_array *sample = trace_sample_of(file->tr);

		if (!file->is_registered || sample->clock != clock || sample->cpus[cpu].is_out)
			continue;
		if (!shortest || sample->period_ns < shortest)
			shortest = sample->period_ns;
	}
	return clock == TRACE_SAMPLE_TIMER ? trace_sample_watches_ns(shortest) : shortest;
}

void trace_sample_pause(void)
{
	for (uint32_t i = 0; i < trace_plat_nr_cpus() * TRACE_SAMPLE_NR_CLOCKS; i++) {
		uint32_t cpu = i / TRACE_SAMPLE_NR_CLOCKS;

		if (sample_asked_ns[i] && trace_plat_cpu_online(cpu))
			trace_sample_host->set(cpu, i % TRACE_SAMPLE_NR_CLOCKS, 0);
		sample_asked_ns[i] = 0;
	}
}

void trace_sample_apply(void)
{
	for (uint32_t i = 0; i < trace_plat_nr_cpus() * TRACE_SAMPLE_NR_CLOCKS; i++) {
		uint32_t cpu = i / TRACE_SAMPLE_NR_CLOCKS;
		enum trace_sample_clock clock = i % TRACE_SAMPLE_NR_CLOCKS;
		uint32_t period_ns = sample_wanted_ns(cpu, clock);

		if (period_ns == sample_asked_ns[i] || !trace_plat_cpu_online(cpu))
			continue;
		sample_asked_ns[i] = period_ns;
		trace_sample_host->set(cpu, clock, period_ns);
	}
}
