/*
 * irqsoff, preemptoff, preemptirqsoff: the longest time that a CPU had interrupts off, preemption
 * off, or either. See latency.h.
 *
 * A probe runs with interrupts or preemption off, so only an interrupt can come between its steps.
 * If preemption is off and being timed, the interrupt is part of that time, and that it disables
 * interrupts changes nothing: see counts_preempt().
 */
#include "latency.h"
#include "text/str.h"

#define WATCHES_IRQS	1u
#define WATCHES_PREEMPT 2u

struct critical_cpu {
	bool is_timing;
	bool is_busy; /* a probe runs; calls of probes caused by itself are ignored */
	uint64_t start_ts;
	uintptr_t started_at;
} __attribute__((aligned(64)));

/*
 * `cpus` is made at the first start and stays: a thread that was preempted on its way to the
 * callback, or inside of a function whose return is hooked, looks at it after the tracer has gone.
 */
static struct {
	uint32_t watches;
	struct critical_cpu *cpus;
} critical;

static bool critical_records(const struct trace_latency *lat, uint32_t cpu, uint32_t preempt_count)
{
	(void)lat;
	return critical.cpus[cpu].is_timing && !critical.cpus[cpu].is_busy &&
	       (preempt_count || trace_plat_irqs_disabled());
}

static uint64_t critical_start_ts(uint32_t cpu)
{
	return critical.cpus[cpu].start_ts;
}

static struct trace_latency critical_latency;

static void critical_begin(struct trace_array *tr, struct critical_cpu *cpu, uintptr_t ip,
			   uintptr_t parent)
{
	if (cpu->is_timing)
		return;
	cpu->start_ts = trace_latency_now(tr);
	cpu->started_at = parent ? parent : ip;
	trace_latency_point(&critical_latency, ip, parent);
	cpu->is_timing = true;
}

/* trace_max_lock() is held. */
static void critical_keep(struct trace_array *tr, const struct critical_cpu *cpu, uint64_t latency,
			  uintptr_t ended_at)
{
	struct trace_sched_thread current;
	struct trace_max max = { .latency_ns = latency,
				 .start_ts = cpu->start_ts,
				 .started_at = cpu->started_at,
				 .ended_at = ended_at,
				 .cpu = trace_plat_cpu_id(),
				 .is_one_cpu = true };

	trace_plat_current_sched(&current);
	trace_latency_name(&max, &current);
	trace_latency_keep(tr, &max);
}

static TRACE_NOINLINE void critical_report(struct trace_array *tr, const struct critical_cpu *cpu,
					   uintptr_t ip, uintptr_t ended_at)
{
	uint64_t latency = trace_latency_now(tr) - cpu->start_ts, flags;

	/* As on Linux, the last call in the trace is that of this function. */
	trace_latency_point(&critical_latency, (uintptr_t)critical_report, ended_at);
	trace_latency_stack(tr, ip, false);
	flags = trace_max_lock();
	if (trace_latency_is_news(tr, latency))
		critical_keep(tr, cpu, latency, ended_at);
	trace_max_unlock(flags);
}

static void critical_end(struct trace_array *tr, struct critical_cpu *cpu, uintptr_t ip,
			 uintptr_t parent)
{
	if (!cpu->is_timing)
		return;
	cpu->is_timing = false;
	trace_latency_point(&critical_latency, ip, parent);
	if (trace_latency_is_news(tr, trace_latency_now(tr) - cpu->start_ts))
		critical_report(tr, cpu, ip, parent ? parent : ip);
}

static void critical_change(bool is_off, uintptr_t ip, uintptr_t parent)
{
	struct critical_cpu *cpu = &critical.cpus[trace_plat_cpu_id()];
	struct trace_array *tr = critical_latency.tr;

	if (cpu->is_busy)
		return;
	if (!trace_latency_is_recording(&critical_latency)) {
		cpu->is_timing = false;
		return;
	}
	cpu->is_busy = true;
	if (is_off)
		critical_begin(tr, cpu, ip, parent);
	else
		critical_end(tr, cpu, ip, parent);
	cpu->is_busy = false;
}

/* Is preemption off, and is that being timed? Then switching interrupts changes nothing. */
static bool counts_preempt(void)
{
	return (critical.watches & WATCHES_PREEMPT) && trace_plat_preempt_count();
}

static bool counts_irqs(void)
{
	return (critical.watches & WATCHES_IRQS) && trace_plat_irqs_disabled();
}

static void critical_irqs_changed(bool is_off, uintptr_t ip, uintptr_t parent)
{
	if (!counts_preempt())
		critical_change(is_off, ip, parent);
}

static void critical_probe_irq_disable(void *data, uintptr_t ip, uintptr_t parent)
{
	(void)data;
	critical_irqs_changed(true, ip, parent);
}

static void critical_probe_irq_enable(void *data, uintptr_t ip, uintptr_t parent)
{
	(void)data;
	critical_irqs_changed(false, ip, parent);
}

static void critical_preempt_changed(bool is_off, uintptr_t ip, uintptr_t parent)
{
	/* As on Linux: with no function on whose behalf it is done, `ip` is shown as the caller. */
	if (!counts_irqs())
		critical_change(is_off, ip, parent ? parent : ip);
}

static void critical_probe_preempt_disable(void *data, uintptr_t ip, uintptr_t parent)
{
	(void)data;
	critical_preempt_changed(true, ip, parent);
}

static void critical_probe_preempt_enable(void *data, uintptr_t ip, uintptr_t parent)
{
	(void)data;
	critical_preempt_changed(false, ip, parent);
}

/* An idle CPU that waits for an interrupt delays no thread, so idle time does not count. */
static void critical_probe_idle(void *data, uint32_t state, uint32_t cpu, uintptr_t ip)
{
	(void)data;
	(void)cpu;
	if (counts_preempt() || counts_irqs())
		critical_change(state == TRACE_CPU_IDLE_EXIT, ip, 0);
}

/*
 * Unregistering a probe that is not registered does nothing. Probes that begin a time go before
 * those that end one.
 */
static void critical_stop_listening(void)
{
	unregister_trace_irq_disable(critical_probe_irq_disable, NULL);
	unregister_trace_preempt_disable(critical_probe_preempt_disable, NULL);
	unregister_trace_cpu_idle(critical_probe_idle, NULL);
	unregister_trace_irq_enable(critical_probe_irq_enable, NULL);
	unregister_trace_preempt_enable(critical_probe_preempt_enable, NULL);
}

/* Probes that end a time are registered first, so that no time begins whose end is not seen. */
static int critical_listen(void)
{
	bool irqs = critical.watches & WATCHES_IRQS, preempt = critical.watches & WATCHES_PREEMPT;
	int err = irqs ? register_trace_irq_enable(critical_probe_irq_enable, NULL) : 0;

	if (!err && preempt)
		err = register_trace_preempt_enable(critical_probe_preempt_enable, NULL);
	if (!err)
		err = register_trace_cpu_idle(critical_probe_idle, NULL);
	if (!err && irqs)
		err = register_trace_irq_disable(critical_probe_irq_disable, NULL);
	if (!err && preempt)
		err = register_trace_preempt_disable(critical_probe_preempt_disable, NULL);
	if (err)
		critical_stop_listening();
	return err;
}

static size_t cpus_bytes(void)
{
	return trace_plat_nr_cpus() * sizeof(*critical.cpus);
}

/* No CPU is timing. */
static void forget_times(void)
{
	memset(critical.cpus, 0, cpus_bytes());
}

static int critical_start(struct trace_array *tr, uint32_t watches)
{
	if (critical_latency.tr)
		return -EBUSY;
	if (!critical.cpus)
		critical.cpus = trace_plat_alloc(cpus_bytes());
	if (!critical.cpus)
		return -ENOMEM;
	forget_times();
	critical.watches = watches;
	critical_latency.records = critical_records;
	critical_latency.start_ts = critical_start_ts;
	critical_latency.listen = critical_listen;
	critical_latency.stop_listening = critical_stop_listening;
	return trace_latency_start(&critical_latency, tr);
}

static void critical_reset(struct trace_array *tr)
{
	trace_latency_reset(tr); /* no probe runs any more */
	forget_times();
}

static int irqsoff_init(struct trace_array *tr)
{
	return critical_start(tr, WATCHES_IRQS);
}

static int preemptoff_init(struct trace_array *tr)
{
	return critical_start(tr, WATCHES_PREEMPT);
}

static int preemptirqsoff_init(struct trace_array *tr)
{
	return critical_start(tr, WATCHES_IRQS | WATCHES_PREEMPT);
}

struct tracer tracer_irqsoff = {
	.name = "irqsoff",
	.init = irqsoff_init,
	.reset = critical_reset,
	TRACE_LATENCY_MEMBERS,
};

struct tracer tracer_preemptoff = {
	.name = "preemptoff",
	.init = preemptoff_init,
	.reset = critical_reset,
	TRACE_LATENCY_MEMBERS,
};

struct tracer tracer_preemptirqsoff = {
	.name = "preemptirqsoff",
	.init = preemptirqsoff_init,
	.reset = critical_reset,
	TRACE_LATENCY_MEMBERS,
};
