/*
 * The profiler's host: <trace/sample.h> by <arch/sample.h>. A CPU that is sampled by NMI gets them from
 * the next one. No call sites, because samples are probes.
 */
#include <arch/sample.h>
#include <arch/smp.h>
#include <kernel/cpu.h>
#include <kernel/thread.h>
#include <kernel/upcall.h>
#include <trace/platform.h>
#include <trace/sample.h>
#include "kernel_init.h"

void upcall_sample(const struct arch_sample *sample)
{
	const struct trace_sample_hit hit = {
		.ip = sample->ip,
		.frame = sample->frame,
		.now_ns = trace_plat_clock_ns(),
		.period_ns = sample->period_ns,
		.periods = sample->periods,
		.preempt_count = sample->preempt_count,
		.clock = sample->is_nmi ? TRACE_SAMPLE_NMI : TRACE_SAMPLE_TIMER,
		.is_user = sample->is_user,
		.irqs_off = sample->irqs_off,
	};

	trace_sample(&hit);
}

static const char *profile_lacks(enum trace_sample_clock clock)
{
	if (clock == TRACE_SAMPLE_NMI && smp_nr_online() < 2)
		return "there is no second CPU that could send NMIs";
	return NULL;
}

struct profile_call {
	uint32_t cpu;
	uint32_t period_ns;
};

static void profile_call_timer(void *arg)
{
	const struct profile_call *call = arg;

	arch_sample_set(call->period_ns);
}

static void profile_call_nmi(void *arg)
{
	const struct profile_call *call = arg;

	arch_sample_set_nmi(call->cpu, call->period_ns);
}

static uint32_t profile_sender_of(uint32_t cpu)
{
	do
		cpu = (cpu + 1) % smp_nr_cpus();
	while (!cpu_active(cpu));
	return cpu;
}

static void profile_set(uint32_t cpu, enum trace_sample_clock clock, uint32_t period_ns)
{
	struct profile_call call = { .cpu = cpu, .period_ns = period_ns };

	if (clock == TRACE_SAMPLE_TIMER)
		smp_call_function_single(cpu, profile_call_timer, &call);
	else
		smp_call_function_single(profile_sender_of(cpu), profile_call_nmi, &call);
}

/*
 * The interrupt comes as soon as the program runs, at the latest: also when this NMI has hit the program, or
 * the way back to it, which looks for work no more.
 */
static void profile_at_return(const struct trace_sample_due *due)
{
	struct thread *thread = current_thread();

	if (!thread->task)
		return;
	atomic_fetch_or(&thread->samples_due, due->bits);
	if (due->clock == TRACE_SAMPLE_NMI)
		arch_sample_interrupt();
}

static const struct trace_sample_host profile_host = {
	.at_return = profile_at_return,
	.lacks = profile_lacks,
	.set = profile_set,
};

void profile_init(void)
{
	trace_sample_host_set(&profile_host);
}
