/*
 * Two threads play boot CPU and AP; the AP's counter is off by a known amount.
 * links: trace/text/glob.c trace/text/str.c
 */
#include "unit.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <arch/cpu_local.h>
#include <kernel/base.h>

/* The machine that tsc_sync.c needs, instead of raw_lock.h, <arch/cpu.h>, <arch/percpu.h>. */
#define RAW_LOCK_H
#define ARCH_CPU_H
#define ARCH_PERCPU_H
#include <stdatomic.h>

#define HZ 1000000000 /* the host's nanoseconds are the cycles */

static __thread int64_t skew_of_this_cpu;
static struct cpu_local locals[MAX_CPUS];
static long relax_ns = 1;
static uint32_t nr_rounds; /* interrupts are off in each */

static uint64_t rdtsc_ordered(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * HZ + (uint64_t)now.tv_nsec + (uint64_t)skew_of_this_cpu;
}

static uint64_t rdtsc(void)
{
	return rdtsc_ordered();
}

static uint64_t arch_irq_save(void)
{
	nr_rounds++;
	return 0;
}

static void arch_irq_restore(uint64_t flags)
{
	(void)flags;
}

static void arch_cpu_relax(void)
{
	struct timespec moment = { .tv_nsec = relax_ns };

	nanosleep(&moment, NULL); /* the other thread may need this core */
}

static struct cpu_local *cpu_local_of(uint32_t cpu)
{
	return &locals[cpu];
}

#include "../../../arch/x86_64/tsc_sync.c"

uint64_t tsc_hz(void)
{
	return HZ;
}

/* Long times, which are the patience, are cut short. */
uint64_t tsc_cycles_of_ns(uint64_t ns)
{
	return ns < HZ ? ns : ns / 5;
}

struct ap {
	pthread_t thread;
	uint32_t cpu;
	int64_t skew;
};

static void *run_ap(void *arg)
{
	struct ap *ap = arg;

	skew_of_this_cpu = ap->skew;
	tsc_sync_ap(ap->cpu);
	return NULL;
}

/* The skew that was measured, in cycles. */
static int64_t measure(uint32_t cpu, int64_t skew)
{
	struct ap ap = { .cpu = cpu, .skew = skew };
	const uint64_t base = 5000000000000ull;

	locals[cpu].tsc_base = base;
	assert_int_equal(pthread_create(&ap.thread, NULL, run_ap, &ap), 0);
	assert_true(tsc_sync_boot_cpu(cpu));
	pthread_join(ap.thread, NULL);
	assert_int_equal(tsc_skew_ns(cpu), locals[cpu].tsc_base - base);
	return (int64_t)(locals[cpu].tsc_base - base);
}

/* The AP's readings lie between those of the boot CPU: there is nothing to correct, ever. */
static void test_no_skew_is_no_correction(void **state)
{
	(void)state;
	for (uint32_t cpu = 1; cpu < 20; cpu++)
		assert_int_equal(measure(cpu, 0), 0);
}

static void test_skew_is_measured_with_its_sign(void **state)
{
	static const int64_t skews_to_try[] = { 1000000000,   -1000000000,	 60000000000,
						-60000000000, 20000000000000000, -3000000000000,
						400000000000 };

	(void)state;
	for (uint32_t i = 0; i < ARRAY_SIZE(skews_to_try); i++) {
		int64_t error = measure(21 + i, skews_to_try[i]) - skews_to_try[i];

		assert_true(error < HZ / 10 && error > -HZ / 10);
	}
}

/* A boot CPU left alone gives up, and the next AP is measured as if nothing had been. */
static void test_silent_ap(void **state)
{
	(void)state;
	assert_false(tsc_sync_boot_cpu(40));
	assert_int_equal(tsc_skew_ns(40), 0);
	assert_int_equal(measure(41, 0), 0);
}

/* A host that runs the two by turns makes all rounds long: it is not asked for ten of them. */
static void test_long_rounds_are_few(void **state)
{
	(void)state;
	relax_ns = 2 * (long)LONG_NS;
	nr_rounds = 0;
	assert_int_equal(measure(42, 0), 0);
	assert_int_equal(nr_rounds, FEW_ROUNDS);
	relax_ns = 1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_skew_is_no_correction),
		cmocka_unit_test(test_skew_is_measured_with_its_sign),
		cmocka_unit_test(test_silent_ap),
		cmocka_unit_test(test_long_rounds_are_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
