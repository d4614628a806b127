/*
 * The time-stamp counter (TSC) as the machine's clock. At boot its rate is measured with the best
 * clock there is: HPET, ACPI PM timer or PIT. If CPUID tells nearly the same rate, that is taken.
 * On every CPU that starts it is compared with the boot CPU's.
 *
 *   ns = ((tsc - tsc_base) * tsc_mult) >> 32        fields of struct cpu_local
 *
 * The product is 128 bits wide. tsc_base of a CPU differs from the boot CPU's by the difference of
 * their counters (the skew), so that all CPUs read the same time. Before tsc_init() the clock reads
 * 0.
 *
 * Context: tsc_init - boot CPU, interrupts off. Reading - any.
 */
#ifndef ARCH_TSC_H
#define ARCH_TSC_H

#include <stdbool.h>
#include <stdint.h>

/* Measure the rate and start the clock at 0. Takes 2 to 50 ms. Uses the PIT before acpi_init(). */
void tsc_init(void);
uint64_t tsc_hz(void);
/* The source of the rate: "CPUID", "HPET", "PM timer", "PIT", or "none" before tsc_init(). */
const char *tsc_reference(void);
/* Time in ns since tsc_init(), by the running CPU's counter. Any context. */
uint64_t tsc_clock_ns(void);
/* Wait without sleeping. Before tsc_init() a rate of 4 GHz is assumed. Any context. */
void tsc_delay_ns(uint64_t ns);
/* TSC cycles in `ns` nanoseconds, rounded up. Any context. */
uint64_t tsc_cycles_of_ns(uint64_t ns);
/* TSC of `cpu` minus TSC of the boot CPU, in ns, as measured when it started. */
int64_t tsc_skew_ns(uint32_t cpu);

/* Copy the boot CPU's clock to a CPU that is prepared and not started yet. */
void tsc_prepare_cpu(uint32_t cpu);
/* Called before that CPU is started. */
void tsc_sync_prepare(void);
/*
 * Called by both while an AP starts: measure the skew, then set the AP's tsc_base. Each waits for
 * the other, the AP for ever; tsc_sync_boot_cpu() returns false when the AP does not answer. Not
 * traced.
 */
bool tsc_sync_boot_cpu(uint32_t cpu);
void tsc_sync_ap(uint32_t cpu);

#endif
