/*
 * The time-stamp counter as the machine's clock. Calibrated once against the best clock there is
 * (CPUID, HPET, ACPI PM timer, PIT), compared with the boot CPU's on every CPU that starts.
 *
 *   ns = ((tsc - tsc_base) * tsc_mult) >> 32        fields of struct cpu_local
 *
 * The product is 128 bits wide. tsc_base of a CPU differs from the boot CPU's by the skew measured,
 * so that all CPUs read the same time. Before tsc_init() the clock reads 0.
 *
 * Context: tsc_init - boot CPU, interrupts off. Reading - any.
 */
#ifndef ARCH_TSC_H
#define ARCH_TSC_H

#include <stdbool.h>
#include <stdint.h>

/* Calibrate and start the clock at 0. acpi_init() has run, or PIT is used. At most 50 ms. */
void tsc_init(void);
uint64_t tsc_hz(void);
/* Name of the clock that TSC was measured with. */
const char *tsc_reference(void);
/* Time in ns on this CPU; the caller keeps preemption off if it compares with cpu_local. Any. */
uint64_t tsc_clock_ns(void);
/* Wait without sleeping. Works before tsc_init(), roughly. Any context. */
void tsc_delay_ns(uint64_t ns);
/* Cycles of `ns`, rounded up. Any context. */
uint64_t tsc_cycles_of_ns(uint64_t ns);
/* TSC of `cpu` minus TSC of the boot CPU, in ns, as measured when it started. */
int64_t tsc_skew_ns(uint32_t cpu);

/* Give a CPU that is prepared, not started, the boot CPU's clock. */
void tsc_prepare_cpu(uint32_t cpu);
/*
 * At AP start, both sides at once: measure the skew, then set the AP's tsc_base. Each waits for the
 * other; false on the boot CPU's side when the AP falls silent. Not traced.
 */
bool tsc_sync_boot_cpu(uint32_t cpu);
void tsc_sync_ap(uint32_t cpu);

#endif
