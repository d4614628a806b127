/*
 * Interruptions of each CPU, counted and timed: see osnoise.h.
 *
 * An interruption that ends adds its net time to the start of all that it came into, so that theirs is net,
 * too. No lock: a CPU changes its own data, and a deeper level finds it as whole words.
 */
#include <trace/events/osnoise.h>
#include "osnoise.h"

struct osnoise_cpu *_Atomic trace_osnoise_cpus;

static TRACE_ALWAYS_INLINE uint64_t osnoise_get(const _Atomic uint64_t *value)
{
	return atomic_load_explicit(value, memory_order_relaxed);
}

static TRACE_ALWAYS_INLINE void osnoise_set(_Atomic uint64_t *value, uint64_t to)
{
	atomic_store_explicit(value, to, memory_order_relaxed);
}

/* This CPU, if its interruptions are counted; else NULL. */
static TRACE_ALWAYS_INLINE struct osnoise_cpu *osnoise_sampled(void)
{
	struct osnoise_cpu *cpu = &trace_osnoise_cpus[trace_plat_cpu_id()];

	return atomic_load_explicit(&cpu->is_sampling, memory_order_relaxed) ? cpu : NULL;
}

static void osnoise_enter(struct osnoise_cpu *cpu, enum osnoise_level level)
{
	struct osnoise_interruption *at = &cpu->levels[level];
	uint64_t now_ns;
	uint32_t nr;

	/* A deeper one that came before `arrival_ns` was set has not been taken off. */
	do {
		nr = atomic_load_explicit(&cpu->nr, memory_order_relaxed);
		now_ns = trace_plat_clock_ns();
		osnoise_set(&at->start_ns, now_ns);
		osnoise_set(&at->arrival_ns, now_ns);
	} while (nr != atomic_load_explicit(&cpu->nr, memory_order_relaxed));
	atomic_fetch_add_explicit(&at->count, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&cpu->nr, 1, memory_order_relaxed);
}

/* The net time of an interruption that ends now. A deeper one in between makes it look again. */
static uint64_t osnoise_net_ns(struct osnoise_cpu *cpu, enum osnoise_level level)
{
	uint64_t net_ns;
	uint32_t nr;

	do {
		nr = atomic_load_explicit(&cpu->nr, memory_order_relaxed);
		net_ns = trace_plat_clock_ns() - osnoise_get(&cpu->levels[level].start_ns);
	} while (nr != atomic_load_explicit(&cpu->nr, memory_order_relaxed));
	return net_ns;
}

/* Returns when it began, and its net time; 0: its beginning was not seen. */
static uint64_t osnoise_leave(struct osnoise_cpu *cpu, enum osnoise_level level, uint64_t *out_ns)
{
	uint64_t arrival_ns = osnoise_get(&cpu->levels[level].arrival_ns);

	if (!arrival_ns)
		return 0;
	*out_ns = osnoise_net_ns(cpu, level);
	osnoise_set(&cpu->levels[level].arrival_ns, 0);
	for (uint32_t below = 0; below < (uint32_t)level; below++) {
		if (osnoise_get(&cpu->levels[below].arrival_ns))
			atomic_fetch_add_explicit(&cpu->levels[below].start_ns, *out_ns,
						  memory_order_relaxed);
	}
	return arrival_ns;
}

/* ---- Sources ---- */

/* This CPU, and the interruption's beginning and net time, if one ends now that was seen to begin. */
static TRACE_ALWAYS_INLINE struct osnoise_cpu *
osnoise_ended(bool enters, enum osnoise_level level, uint64_t *out_start_ns, uint64_t *out_ns)
{
	struct osnoise_cpu *cpu = osnoise_sampled();

	if (!cpu)
		return NULL;
	if (enters) {
		osnoise_enter(cpu, level);
		return NULL;
	}
	*out_start_ns = osnoise_leave(cpu, level, out_ns);
	return *out_start_ns ? cpu : NULL;
}

static void osnoise_nmi(bool enters)
{
	uint64_t start_ns, ns;

	if (osnoise_ended(enters, OSNOISE_NMI, &start_ns, &ns))
		trace_nmi_noise(start_ns, ns);
}

void trace_noise_irq(bool enters, int vector, const char *name)
{
	uint64_t start_ns, ns;

	if (osnoise_ended(enters, OSNOISE_IRQ, &start_ns, &ns))
		trace_irq_noise(vector, name, start_ns, ns);
}

void trace_noise_softirq(bool enters, int vector, const char *name)
{
	uint64_t start_ns, ns;

	if (osnoise_ended(enters, OSNOISE_SOFTIRQ, &start_ns, &ns))
		trace_softirq_noise(vector, name, start_ns, ns);
}

static bool osnoise_is_workload(const struct osnoise_cpu *cpu,
				const struct trace_sched_thread *thread)
{
	return thread->thread == atomic_load_explicit(&cpu->workload, memory_order_relaxed);
}

static void osnoise_probe_switch(void *data, const struct trace_sched_thread *prev,
				 const struct trace_sched_thread *next)
{
	struct osnoise_cpu *cpu = osnoise_sampled();
	uint64_t start_ns, ns;

	(void)data;
	if (!cpu)
		return;
	if (!osnoise_is_workload(cpu, prev)) {
		start_ns = osnoise_leave(cpu, OSNOISE_THREAD, &ns);
		if (start_ns)
			trace_thread_noise(prev, start_ns, ns);
	}
	if (!osnoise_is_workload(cpu, next))
		osnoise_enter(cpu, OSNOISE_THREAD);
}

void trace_noise_timer(void)
{
	struct osnoise_cpu *cpu = &trace_osnoise_cpus[trace_plat_cpu_id()];

	if (atomic_load_explicit(&cpu->deadline_ns, memory_order_relaxed))
		trace_timerlat_fired(cpu);
}

/* ---- Begin, end ---- */

void trace_osnoise_sample(struct osnoise_cpu *cpu, bool on)
{
	cpu->is_sampling = false;
	for (uint32_t level = 0; level < OSNOISE_NR_LEVELS; level++) {
		cpu->levels[level].arrival_ns = 0;
		cpu->levels[level].count = 0;
	}
	cpu->is_sampling = on;
}

int trace_osnoise_listen(void)
{
	int err = register_trace_sched_switch(osnoise_probe_switch, NULL);

	if (err)
		return err;
	err = trace_noise_host->listen();
	if (err)
		unregister_trace_sched_switch(osnoise_probe_switch, NULL);
	else
		trace_noise_nmi_next = osnoise_nmi;
	return err;
}

void trace_osnoise_unlisten(void)
{
	trace_noise_nmi_next = NULL;
	trace_noise_host->unlisten();
	unregister_trace_sched_switch(osnoise_probe_switch, NULL);
	for (uint32_t cpu = 0; cpu < trace_plat_nr_cpus(); cpu++)
		trace_osnoise_sample(&trace_osnoise_cpus[cpu], false);
}
