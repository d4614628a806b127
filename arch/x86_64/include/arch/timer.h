/*
 * One hardware timer per CPU (the local APIC's), used for two things at once: the tick, 250 a
 * second while a CPU is busy, and one deadline for the kernel's next timer. The earlier one is
 * armed.
 *
 *   tick due -> upcall_tick()        deadline due -> upcall_timer()
 *
 * Both come from the timer interrupt, interrupts off; if both are due the tick comes first.
 * A CPU without tick and deadline gets no timer interrupt at all.
 *
 * Context: interrupts off, this CPU only, but for arch_timer_init() and arch_timer_nudge().
 */
#ifndef ARCH_TIMER_H
#define ARCH_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#define TIMER_TICK_HZ 250
#define TIMER_TICK_NS (1000000000ull / TIMER_TICK_HZ)
#define TIMER_NONE    UINT64_MAX

/* Choose and measure the hardware. Boot CPU, once, after tsc_init() and apic_init(). */
void arch_timer_init(void);
/* Prepare this CPU's timer: nothing armed. Called for each AP by its start-up. */
void arch_timer_init_cpu(void);
/* The tick of this CPU. Starting a running tick or stopping a stopped one does nothing. */
void arch_timer_tick_start(void);
void arch_timer_tick_stop(void);
/*
 * upcall_timer() at clock time `deadline_ns`, or at once if it has passed; replaces the deadline
 * before. TIMER_NONE: none. One-shot: forgotten when it fires.
 */
void arch_timer_arm_ns(uint64_t deadline_ns);
/*
 * One interrupt on this CPU after `ns`, for nothing; afterwards things go on as they were. Any
 * context but NMI. Not traced.
 */
void arch_timer_nudge(uint64_t ns);
/* "tsc-deadline" or "lapic". */
const char *arch_timer_name(void);

#endif
