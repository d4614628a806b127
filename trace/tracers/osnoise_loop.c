/*
 * The tracer osnoise: its thread reads the clock. See osnoise.h.
 *
 *   | period                              | period
 *   | runtime: reads the clock  | sleeps  | runtime: reads ...
 *
 * With runtime and period the same, as at first, the thread never sleeps. Linux does the same.
 */
#include <trace/events/osnoise.h>
#include <trace/tracer.h>
#include "instance/max.h"
#include "osnoise.h"

/* The findings of one runtime, in nanoseconds. */
struct osnoise_found {
	uint64_t runtime_ns;
	uint64_t noise_ns;
	uint64_t max_ns;
	uint32_t nr_hw; /* times of noise without any interruption */
};

/* Two readings of the clock lay `ns` apart, and `nr` interruptions began in between. */
static TRACE_NOINLINE void osnoise_find(struct osnoise_found *found, uint64_t start_ns, uint64_t ns,
					uint32_t nr)
{
	uint64_t stop_us = trace_osnoise_settings.stop_us;

	found->noise_ns += ns;
	if (ns > found->max_ns)
		found->max_ns = ns;
	if (!nr)
		found->nr_hw++;
	trace_sample_threshold(start_ns, ns, nr);
	if (stop_us && ns / OSNOISE_US_NS >= stop_us)
		trace_osnoise_stop();
}

static void osnoise_read_clock(struct osnoise_cpu *cpu, struct osnoise_found *found)
{
	uint64_t runtime_ns = trace_osnoise_settings.runtime_us * OSNOISE_US_NS;
	uint64_t limit_ns = tracing_thresh_ns() ? tracing_thresh_ns() : OSNOISE_THRESH_NS;
	uint64_t start_ns = trace_plat_clock_ns(), last_ns = start_ns, now_ns;
	uint32_t nr, last_nr = atomic_load_explicit(&cpu->nr, memory_order_relaxed);

	do {
		/* All interruptions before the reading are in `nr`, and none after it. */
		do {
			nr = atomic_load_explicit(&cpu->nr, memory_order_relaxed);
			now_ns = trace_plat_clock_ns();
		} while (
			TRACE_UNLIKELY(nr != atomic_load_explicit(&cpu->nr, memory_order_relaxed)));
		if (TRACE_UNLIKELY(now_ns - last_ns >= limit_ns))
			osnoise_find(found, last_ns, now_ns - last_ns, nr - last_nr);
		last_ns = now_ns;
		last_nr = nr;
	} while (now_ns - start_ns < runtime_ns && !trace_osnoise_is_ending(NULL));
	found->runtime_ns = now_ns - start_ns;
}

static void osnoise_measure(struct osnoise_cpu *cpu, struct osnoise_found *found)
{
	bool no_irqs = trace_osnoise_has(OSNOISE_IRQ_DISABLE);
	bool no_preempt = trace_osnoise_has(OSNOISE_PREEMPT_DISABLE);
	uint64_t flags = 0;

	if (no_irqs)
		flags = trace_plat_irq_save();
	if (no_preempt)
		trace_plat_preempt_disable();
	osnoise_read_clock(cpu, found);
	if (no_preempt)
		trace_plat_preempt_enable();
	if (no_irqs)
		trace_plat_irq_restore(flags);
}

static void osnoise_report(const struct osnoise_cpu *cpu, const struct osnoise_found *found)
{
	const struct osnoise_entry entry = {
		.noise = found->noise_ns / OSNOISE_US_NS,
		.runtime = found->runtime_ns / OSNOISE_US_NS,
		.max_sample = found->max_ns / OSNOISE_US_NS,
		.hw_count = found->nr_hw,
		.nmi_count = cpu->levels[OSNOISE_NMI].count,
		.irq_count = cpu->levels[OSNOISE_IRQ].count,
		.softirq_count = cpu->levels[OSNOISE_SOFTIRQ].count,
		.thread_count = cpu->levels[OSNOISE_THREAD].count,
	};
	uint64_t stop_us = trace_osnoise_settings.stop_total_us;

	trace_osnoise_write(&entry, found->max_ns);
	if (stop_us && entry.noise >= stop_us)
		trace_osnoise_stop();
}

static void osnoise_run_once(struct osnoise_cpu *cpu)
{
	struct osnoise_found found = { 0 };

	trace_osnoise_sample(cpu, true);
	osnoise_measure(cpu, &found);
	osnoise_report(cpu, &found);
	trace_osnoise_sample(cpu, false);
}

/* While nothing is recorded, look again soon: a period may be long. */
#define OSNOISE_OFF_NS 10000000u

static void osnoise_sleep(bool has_run)
{
	uint64_t period_us = trace_osnoise_settings.period_us,
		 runtime_us = has_run ? trace_osnoise_settings.runtime_us : 0;
	uint64_t ns = period_us > runtime_us ? (period_us - runtime_us) * OSNOISE_US_NS : 0;

	if (!has_run && ns > OSNOISE_OFF_NS)
		ns = OSNOISE_OFF_NS;
	if (ns)
		trace_noise_host->sleep(ns, trace_osnoise_is_ending, NULL);
}

static void osnoise_run(struct osnoise_cpu *cpu)
{
	while (!trace_osnoise_is_ending(NULL)) {
		bool runs = trace_osnoise_is_recording();

		if (runs)
			osnoise_run_once(cpu);
		osnoise_sleep(runs);
	}
}

static const struct osnoise_kind osnoise_kind = { .tracer = &trace_osnoise, .run = osnoise_run };

static int osnoise_init(struct trace_array *tr)
{
	trace_max_of(tr)->latency_ns = 0;
	return trace_osnoise_begin(&osnoise_kind, tr);
}

static void osnoise_switch_on(struct trace_array *tr)
{
	if (trace_osnoise_begin(&osnoise_kind, tr))
		trace_plat_log("trace: osnoise cannot begin anew");
}

static void osnoise_print_header(struct trace_iter *iter, struct trace_seq *seq)
{
	trace_osnoise_print_header(iter, seq,
				   "#                              |||| /                          "
				   "                     MAX\n"
				   "#                              |||||               RUNTIME     "
				   " NOISE  % OF CPU  SINGLE  Interference counters:\n"
				   "#                              |||||                 IN US     "
				   " IN US AVAILABLE   NOISE  +-------------------------------+\n"
				   "#           TASK-PID     CPU#  |||||  TIMESTAMP       |        "
				   "   |      |        IN US     HW    NMI    IRQ   SIRQ THREAD\n"
				   "#              | |         |   |||||     |            |        "
				   "   |      |          |        |      |      |      |      |\n");
}

struct tracer trace_osnoise = {
	.name = "osnoise",
	.init = osnoise_init,
	.reset = trace_osnoise_end,
	.start = osnoise_switch_on,
	.stop = trace_osnoise_end,
	.print_header = osnoise_print_header,
	.instance_bytes = sizeof(struct osnoise_array),
};
