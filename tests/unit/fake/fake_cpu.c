/*
 * CPUs, clock and interrupt state of the fake machine; see fake.h.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include "fake.h"
#include "fake_internal.h"

struct fake_cpu fake_cpus[FAKE_MAX_CPUS];
_Thread_local struct fake_cpu *fake_this = &fake_cpus[0];
static uint32_t nr_cpus = 1;

_Atomic uint64_t fake_clock = 1000000000;
uint64_t fake_clock_step = 10;
void (*fake_clock_irq)(void);
uint64_t fake_ticks;
static _Thread_local bool in_clock_irq;

_Atomic uint64_t fake_nr_sync_preempt;
void (*fake_on_sync)(void);
void (*fake_on_preempt)(void);

void fake_cpu_reset(void)
{
	for (uint32_t cpu = 0; cpu < FAKE_MAX_CPUS; cpu++)
		fake_cpus[cpu] = (struct fake_cpu){ .id = cpu };
	nr_cpus = 1;
	fake_this = &fake_cpus[0];
	fake_clock = 1000000000;
	fake_clock_step = 10;
	fake_clock_irq = NULL;
	fake_ticks = 0;
	fake_nr_sync_preempt = 0;
	fake_on_sync = NULL;
	fake_on_preempt = NULL;
}

void fake_set_nr_cpus(uint32_t nr)
{
	nr_cpus = nr;
}

void fake_bind(uint32_t cpu)
{
	fake_this = &fake_cpus[cpu];
}

uint64_t fake_clock_read(void)
{
	if (fake_clock_irq && !in_clock_irq) {
		in_clock_irq = true;
		fake_clock_irq();
		in_clock_irq = false;
	}
	if (!fake_clock_step)
		return atomic_load(&fake_clock);
	return atomic_fetch_add(&fake_clock, fake_clock_step) + fake_clock_step;
}

void fake_check_preempt_enable(uint32_t count)
{
	if ((count & TRACE_PREEMPT_MASK) == 0) {
		fprintf(stderr, "fake: preemption enabled once too often\n");
		abort();
	}
}

uint32_t trace_plat_nr_cpus(void)
{
	return nr_cpus;
}

bool trace_plat_cpu_online(uint32_t cpu)
{
	return cpu < nr_cpus && !fake_cpus[cpu].is_offline;
}

int trace_plat_on_cpu(uint32_t cpu, void (*fn)(void *arg), void *arg)
{
	struct fake_cpu *self = fake_this;
	uint64_t flags;

	if (!trace_plat_cpu_online(cpu) || fake_host_fails())
		return -ENODEV;
	fake_this = &fake_cpus[cpu];
	flags = trace_plat_irq_save();
	fn(arg);
	trace_plat_irq_restore(flags);
	fake_this = self;
	return 0;
}

uint64_t trace_plat_clock_mono_ns(void)
{
	return fake_clock_read();
}

uint64_t trace_plat_uptime_ticks(void)
{
	return fake_ticks;
}

static void wait_for(struct fake_cpu *cpu)
{
	uint64_t before = atomic_load(&cpu->nr_quiescent);

	while (atomic_load(&cpu->preempt_count) != 0 && atomic_load(&cpu->nr_quiescent) == before)
		sched_yield();
}

void trace_plat_synchronize_preempt(void)
{
	if (trace_plat_preempt_count() || trace_plat_irqs_disabled()) {
		fprintf(stderr, "fake: waiting with preemption or interrupts off\n");
		abort();
	}
	atomic_fetch_add(&fake_nr_sync_preempt, 1);
	if (fake_on_sync)
		fake_on_sync();
	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++)
		if (&fake_cpus[cpu] != fake_this)
			wait_for(&fake_cpus[cpu]);
}
