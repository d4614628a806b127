/*
 * One hardware timer per CPU (the local APIC's) for three things: the tick, 250 times a second while
 * kernel/ wants it; one deadline, the kernel's next timer; and samples of the profiler. The hardware is
 * set to whichever is earliest.
 *
 *   sample due -> sample_interrupt()     tick due -> scheduler_tick()     deadline due -> upcall_timer()
 *
 * All come from the timer interrupt, interrupts off; of those that are due, the left comes first.
 * A CPU without any gets no timer interrupt at all.
 *
 * The ticks of the CPUs are spread evenly over the period, also after a tick that came late. So they
 * do not meet at the same locks, and an emulator that runs one CPU after the other, each until some
 * CPU's timer is due (`qemu -icount`), gives all of them the same time.
 *
 * Context: interrupts off; all of it is about the running CPU. Exceptions are said at the function.
 * Times are those of tsc_clock_ns().
 */
#ifndef ARCH_TIMER_H
#define ARCH_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#define TIMER_TICK_HZ 250
#define TIMER_TICK_NS (1000000000ull / TIMER_TICK_HZ)
#define TIMER_NONE    UINT64_MAX

/*
 * Choose the timer's mode and measure its rate, then arch_timer_init_cpu(). Boot CPU, once, after
 * tsc_init() and apic_init().
 */
void arch_timer_init(void);
/* Prepare this CPU's timer: nothing armed. Called for each AP by its start-up. */
void arch_timer_init_cpu(void);
/* Start or stop the tick. No effect when it is started, or stopped, already. */
void arch_timer_tick_start(void);
void arch_timer_tick_stop(void);
/*
 * Set the one deadline: upcall_timer() is called at `deadline_ns`, or as soon as interrupts are on
 * if that has passed. TIMER_NONE: not at all. It is called once; then there is no deadline.
 */
void arch_timer_arm_ns(uint64_t deadline_ns);
/* Call sample_interrupt() at that time; TIMER_NONE: not at all. For <arch/sample.h>. */
void arch_timer_sample_at(uint64_t ns);
/*
 * Let the timer interrupt come after `ns` (at most some seconds) even if nothing is due, to end a
 * halt. That interrupt sets the hardware to the tick or deadline again; until then these wait. Any
 * context but NMI. Not traced.
 */
void arch_timer_nudge(uint64_t ns);
/* "tsc-deadline" or "lapic". */
const char *arch_timer_name(void);

#endif
