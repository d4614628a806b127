/*
 * The per-CPU timer. See <arch/timer.h>.
 */
#include "irq_stats.h"
#include "ref_clock.h"
#include <arch/apic.h>
#include <arch/cpu.h>
#include <arch/per_cpu_array.h>
#include <arch/sample.h>
#include <arch/sections.h>
#include <arch/smp.h>
#include <arch/timer.h>
#include <arch/trap.h>
#include <arch/tsc.h>
#include <kernel/upcall.h>
#include <trace/events/irq_vectors.h>

#define CALIBRATE_NS 500000ull
#define MIN_DELTA_NS 1000ull

/* Times of tsc_clock_ns(), TIMER_NONE for none. Used by its own CPU only, with interrupts off. */
struct timer_cpu {
	uint64_t tick_ns;
	uint64_t place_ns; /* of its ticks in the period: 0 to TIMER_TICK_NS - 1 */
	uint64_t deadline_ns;
	uint64_t sample_ns;
	uint64_t armed_ns; /* the time that the hardware is set to; 0 after arch_timer_nudge() */
} __attribute__((aligned(64)));

static struct timer_cpu timer_cpus[MAX_CPUS];
PER_CPU_ARRAY(timer_cpus);
static bool has_deadline;     /* TSC-deadline mode; else one-shot by counter */
static uint64_t counter_mult; /* counts = (ns * counter_mult) >> 32 */

const char *arch_timer_name(void)
{
	return has_deadline ? "tsc-deadline" : "lapic";
}

static TRACE_NOTRACE void set_hardware(uint64_t delta_ns)
{
	uint64_t count;

	if (has_deadline) {
		wrmsr(MSR_TSC_DEADLINE, rdtsc() + tsc_cycles_of_ns(delta_ns));
		return;
	}
	/* If that is too far away for the counter, it fires early and is armed again. */
	if (delta_ns > UINT32_MAX)
		delta_ns = UINT32_MAX;
	count = (delta_ns * counter_mult >> 32) + 1;
	apic_timer_start(count > UINT32_MAX ? UINT32_MAX : (uint32_t)count);
}

static void timer_clear_hardware(void)
{
	if (has_deadline)
		wrmsr(MSR_TSC_DEADLINE, 0);
	else
		apic_timer_start(0);
}

/* Set the hardware to the tick, the deadline or the sample, whichever is earliest. */
static void timer_program(struct timer_cpu *timer)
{
	uint64_t next = timer->tick_ns < timer->deadline_ns ? timer->tick_ns : timer->deadline_ns;
	uint64_t now;

	if (timer->sample_ns < next)
		next = timer->sample_ns;
	if (next == timer->armed_ns)
		return;
	timer->armed_ns = next;
	if (next == TIMER_NONE) {
		timer_clear_hardware();
		return;
	}
	now = tsc_clock_ns();
	set_hardware(next > now + MIN_DELTA_NS ? next - now : MIN_DELTA_NS);
}

/* The first time behind `now` that has the place of this CPU's ticks in the period. */
static uint64_t timer_next_tick(const struct timer_cpu *timer, uint64_t now)
{
	uint64_t since = (now + TIMER_TICK_NS - timer->place_ns) % TIMER_TICK_NS;

	return now + TIMER_TICK_NS - since;
}

static IRQ_ENTRY void timer_interrupt(struct trap_frame *regs)
{
	struct timer_cpu *timer = &timer_cpus[cpu_local_read(id)];
	uint64_t now = tsc_clock_ns();

	irq_stats_count(SMP_IRQ_TIMER);
	apic_eoi();
	trace_local_timer_entry(APIC_VECTOR_TIMER);
	/* It has fired. If that was too early, the end of this function arms it again. */
	timer->armed_ns = TIMER_NONE;
	if (timer->sample_ns <= now)
		timer->sample_ns = sample_interrupt(regs, now);
	if (timer->tick_ns <= now || timer->deadline_ns <= now)
		sample_leave();
	if (timer->tick_ns <= now) {
		timer->tick_ns = timer_next_tick(timer, now); /* ticks that were missed are lost */
		cpu_local_read(self)->tick_count++;
		scheduler_tick(trap_is_user(regs));
	}
	if (timer->deadline_ns <= now) {
		timer->deadline_ns = TIMER_NONE;
		upcall_timer();
	}
	timer_program(timer);
	sample_leave();
	trace_local_timer_exit(APIC_VECTOR_TIMER);
}

TRACE_NOTRACE void arch_timer_nudge(uint64_t ns)
{
	struct timer_cpu *timer = &timer_cpus[cpu_local_read(id)];
	uint64_t flags = arch_irq_save();

	timer->armed_ns = 0; /* differs from every deadline, so the next one is armed in any case */
	set_hardware(ns);
	arch_irq_restore(flags);
}

void arch_timer_tick_start(void)
{
	struct timer_cpu *timer = &timer_cpus[cpu_local_read(id)];

	if (timer->tick_ns != TIMER_NONE)
		return;
	timer->tick_ns = timer_next_tick(timer, tsc_clock_ns());
	timer_program(timer);
}

void arch_timer_tick_stop(void)
{
	struct timer_cpu *timer = &timer_cpus[cpu_local_read(id)];

	timer->tick_ns = TIMER_NONE;
	timer_program(timer);
}

void arch_timer_arm_ns(uint64_t deadline_ns)
{
	struct timer_cpu *timer = &timer_cpus[cpu_local_read(id)];

	timer->deadline_ns = deadline_ns;
	timer_program(timer);
}

void arch_timer_sample_at(uint64_t ns)
{
	struct timer_cpu *timer = &timer_cpus[cpu_local_read(id)];

	timer->sample_ns = ns;
	timer_program(timer);
}

/* The APIC's counter counts down, and ref_clock_sample() takes counters that count up. */
static uint32_t timer_read_counter(void)
{
	return UINT32_MAX - apic_timer_count();
}

static void timer_calibrate(void)
{
	struct ref_sample start, end;
	uint64_t ns;

	apic_timer_setup_oneshot();
	apic_timer_start(UINT32_MAX);
	start = ref_clock_sample(timer_read_counter);
	tsc_delay_ns(CALIBRATE_NS);
	end = ref_clock_sample(timer_read_counter);
	apic_timer_start(0);
	ns = (end.tsc - start.tsc) * 1000000 / (tsc_hz() / 1000);
	counter_mult = ((uint64_t)(end.count - start.count) << 32) / ns;
}

void arch_timer_init_cpu(void)
{
	uint32_t cpu = cpu_local_read(id);
	struct timer_cpu *timer = &timer_cpus[cpu];

	timer->place_ns = TIMER_TICK_NS * cpu / smp_nr_cpus();
	timer->tick_ns = TIMER_NONE;
	timer->deadline_ns = TIMER_NONE;
	timer->sample_ns = TIMER_NONE;
	timer->armed_ns = TIMER_NONE;
	if (has_deadline)
		apic_timer_setup_deadline();
	else
		apic_timer_setup_oneshot();
}

void arch_timer_init(void)
{
	has_deadline = cpu_features.tsc_deadline && cpu_features.invariant_tsc;
	if (!has_deadline)
		timer_calibrate();
	arch_timer_init_cpu();
	arch_irq_register(APIC_VECTOR_TIMER, timer_interrupt);
	pr_info("timer: %s, %u ticks a second\n", arch_timer_name(), TIMER_TICK_HZ);
}
