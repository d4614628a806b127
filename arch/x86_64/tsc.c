/*
 * Calibration of the TSC, and time from it. See <arch/tsc.h>.
 */
#include "ref_clock.h"
#include <arch/cpu.h>
#include <arch/cpu_local.h>
#include <arch/percpu.h>
#include <arch/tsc.h>
#include <kernel/base.h>

#define NS_PER_S     1000000000ull
#define GOOD_ENOUGH  20000	   /* an error of one part in so many will do */
#define UNKNOWN_HZ   4000000000ull /* assumed at first; few CPUs are faster, so delays are longer */
#define CYCLES_SHIFT 28

#define CPUID_TSC	0x15
#define CPUID_FREQUENCY 0x16

/* Written by tsc_init(), before other CPUs run. */
static struct tsc_state {
	uint64_t hz;
	uint64_t cycles_mult; /* cycles = (ns * cycles_mult) >> CYCLES_SHIFT */
	const char *reference;
} tsc = {
	.hz = UNKNOWN_HZ,
	.cycles_mult = (UNKNOWN_HZ << CYCLES_SHIFT) / NS_PER_S,
	.reference = "none",
};

uint64_t tsc_hz(void)
{
	return tsc.hz;
}

const char *tsc_reference(void)
{
	return tsc.reference;
}

static uint64_t mul_shift(uint64_t a, uint64_t b, unsigned int shift)
{
	return (uint64_t)(((unsigned __int128)a * b) >> shift);
}

/* Turns interrupts off without calling tracepoints, because their probes read this clock. */
uint64_t tsc_clock_ns(void)
{
	uint64_t ns, flags = arch_irq_flags();

	arch_irq_disable_raw(); /* counter and fields have to be of the same CPU */
	ns = mul_shift(rdtsc() - cpu_local_read(tsc_base), cpu_local_read(tsc_mult), 32);
	if (flags & RFLAGS_IF)
		arch_irq_enable_raw();
	return ns;
}

uint64_t tsc_cycles_of_ns(uint64_t ns)
{
	return mul_shift(ns, tsc.cycles_mult, CYCLES_SHIFT) + 1;
}

void tsc_delay_ns(uint64_t ns)
{
	uint64_t start = rdtsc(), cycles = tsc_cycles_of_ns(ns);

	while (rdtsc() - start < cycles)
		arch_cpu_relax();
}

/* Measure the TSC's rate in Hz, for `us` microseconds. `out_error`: the largest error, in Hz. */
static uint64_t measure(const struct ref_clock *ref, uint32_t us, uint64_t *out_error)
{
	uint32_t needed = (uint32_t)(ref->hz * us / 1000000);
	struct ref_sample start = ref_clock_sample(ref->read), end;
	uint64_t ticks, cycles, tick_cycles;

	while (((ref->read() - start.count) & ref->mask) < needed)
		arch_cpu_relax();
	end = ref_clock_sample(ref->read);
	ticks = (end.count - start.count) & ref->mask;
	cycles = end.tsc - start.tsc;
	tick_cycles = cycles / ticks;
	*out_error = ((start.width + end.width) / 2 + tick_cycles) * ref->hz / ticks;
	return cycles * ref->hz / ticks;
}

/*
 * Where clocks are read quickly the first, short measurement is good enough. Otherwise longer ones
 * are made, and the best is taken.
 */
static uint64_t best_measure(void)
{
	static const uint32_t runs_us[] = { 500, 2000, 5000, 10000, 10000 };
	const struct ref_clock *ref = ref_clock_find();
	uint64_t hz = 0, best_error = UINT64_MAX;
	size_t run;

	tsc.reference = ref->name;
	for (run = 0; run < ARRAY_SIZE(runs_us); run++) {
		uint64_t error, run_hz = measure(ref, runs_us[run], &error);

		if (error < best_error) {
			best_error = error;
			hz = run_hz;
		}
		if (best_error < hz / GOOD_ENOUGH)
			break;
	}
	return hz;
}

/* The TSC's rate from CPUID; 0 when CPUID does not have it. */
static uint64_t hz_by_cpuid(void)
{
	struct cpuid_result ratio, base;
	uint64_t crystal_hz;

	if (cpu_features.max_leaf < CPUID_TSC)
		return 0;
	ratio = cpuid(CPUID_TSC, 0);
	if (ratio.eax == 0 || ratio.ebx == 0)
		return 0;
	crystal_hz = ratio.ecx;
	if (crystal_hz == 0 && cpu_features.max_leaf >= CPUID_FREQUENCY) {
		base = cpuid(CPUID_FREQUENCY, 0);
		crystal_hz = (base.eax & 0xffff) * 1000000ull * ratio.eax / ratio.ebx;
	}
	return crystal_hz * ratio.ebx / ratio.eax;
}

void tsc_init(void)
{
	struct cpu_local *local = cpu_local_of(cpu_local_read(id));
	uint64_t start = rdtsc(), measured_hz = best_measure(), said_hz = hz_by_cpuid();
	uint64_t difference = said_hz > measured_hz ? said_hz - measured_hz : measured_hz - said_hz;

	tsc.hz = measured_hz;
	if (said_hz && difference < measured_hz / 100) {
		tsc.hz = said_hz; /* exact, and the measurement agrees with it */
		tsc.reference = "CPUID";
	}
	tsc.cycles_mult = (tsc.hz << CYCLES_SHIFT) / NS_PER_S;
	local->tsc_base = start;
	local->tsc_mult = (NS_PER_S << 32) / tsc.hz;
	pr_info("TSC: %llu.%03llu MHz, measured with %s\n", (unsigned long long)(tsc.hz / 1000000),
		(unsigned long long)(tsc.hz / 1000 % 1000), tsc.reference);
}

void tsc_prepare_cpu(uint32_t cpu)
{
	const struct cpu_local *boot = cpu_local_of(0);
	struct cpu_local *local = cpu_local_of(cpu);

	local->tsc_base = boot->tsc_base;
	local->tsc_mult = boot->tsc_mult;
}
