/*
 * Core sync: every other CPU executes a serialising instruction. Not traced, because changing call
 * sites waits for it. Also the functions that all smp*.c use. See <arch/smp.h>.
 *
 * A sync takes a ticket from `sync_ticket`, then sends the interrupt. A CPU reads the ticket, then
 * serialises, then stores the ticket into `done`: done >= t says that it serialised after ticket t
 * was taken. So it does no harm when two sync interrupts arrive as one, or several CPUs sync at
 * once.
 */
#include "irq_stats.h"
#include "smp_priv.h"
#include <arch/apic.h>
#include <arch/cpu.h>
#include <arch/per_cpu_array.h>
#include <arch/percpu.h>
#include <arch/timer.h>
#include <arch/trap.h>
#include <arch/tsc.h>
#include <stdatomic.h>
#include <trace/platform.h>

#define SILENT_NS     10000000000ull
#define GUEST_SPINS   3000
#define GUEST_HALT_NS 30000ull

struct sync_cpu {
	_Atomic uint64_t done;
} __attribute__((aligned(64)));

struct irq_stats irq_stats[MAX_CPUS];
PER_CPU_ARRAY(irq_stats);
_Atomic uint64_t smp_online = 1;
_Atomic uint64_t smp_leaving;

static _Atomic uint64_t sync_ticket;
static struct sync_cpu sync_cpus[MAX_CPUS];
PER_CPU_ARRAY(sync_cpus);
static _Atomic uint32_t hotplug_holder; /* CPU + 1; 0: none */

bool smp_cpu_online(uint32_t cpu)
{
	return cpu < MAX_CPUS && atomic_load(&smp_online) & CPU_BIT(cpu);
}

uint64_t smp_online_mask(void)
{
	return atomic_load(&smp_online);
}

bool smp_cpu_gone(uint32_t cpu)
{
	/* In this order: a CPU is leaving before it is offline. */
	return !smp_cpu_online(cpu) && !(atomic_load(&smp_leaving) & CPU_BIT(cpu));
}

uint64_t smp_running_mask(void)
{
	uint64_t online = atomic_load(&smp_online);

	return online | atomic_load(&smp_leaving);
}

bool smp_hotplug_trylock(void)
{
	uint32_t nobody = 0;

	return atomic_compare_exchange_strong_explicit(&hotplug_holder, &nobody,
						       cpu_local_read(id) + 1, memory_order_acquire,
						       memory_order_relaxed);
}

bool smp_hotplug_is_held(void)
{
	return atomic_load_explicit(&hotplug_holder, memory_order_relaxed);
}

void smp_hotplug_lock_raw(void)
{
	while (!smp_hotplug_trylock())
		arch_cpu_relax();
}

void smp_hotplug_lock(void)
{
	ASSERT(!arch_irqs_disabled() || atomic_load(&smp_online) == 1);
	smp_hotplug_lock_raw();
}

void smp_hotplug_unlock(void)
{
	atomic_store_explicit(&hotplug_holder, 0, memory_order_release);
}

void smp_forget(uint32_t cpu)
{
	uint32_t holder = cpu + 1;

	atomic_fetch_and(&smp_online, ~CPU_BIT(cpu));
	atomic_compare_exchange_strong(&hotplug_holder, &holder, 0);
}

void smp_send_mask(uint64_t mask, uint8_t vector)
{
	uint64_t others = atomic_load(&smp_online) & ~CPU_BIT(cpu_local_read(id));

	/* One command reaches them all. CPUs that were never started or have left ignore it. */
	if (mask == others && (mask & (mask - 1))) {
		apic_send_ipi_others(vector);
		return;
	}
	while (mask) {
		uint32_t cpu = (uint32_t)__builtin_ctzll(mask);

		mask &= mask - 1;
		apic_send_ipi(cpu_local_of(cpu)->apic_id, vector);
	}
}

static void name_silent(uint64_t mask, const char *what)
{
	for (uint32_t cpu = 0; cpu < MAX_CPUS; cpu++) {
		if (mask & CPU_BIT(cpu))
			kernel_warning("SMP: CPU %u does not answer (%s)\n", cpu, what);
	}
}

/*
 * In a virtual machine the CPU that is waited for may need the host's processor that this one runs
 * on. So after some spins this one halts for a moment. Interrupts are off between arming the timer
 * and halting, so that its interrupt cannot come before the halt.
 */
static void wait_a_moment(uint32_t spins)
{
	if (spins < GUEST_SPINS || !cpu_features.hypervisor || arch_irqs_disabled()) {
		arch_cpu_relax();
		return;
	}
	arch_irq_disable_raw(); /* no tracepoint: interrupts are off for some instructions only */
	arch_timer_nudge(GUEST_HALT_NS);
	arch_idle_wait();
}

void smp_wait(uint64_t (*left)(uint64_t arg), uint64_t arg, const char *what)
{
	uint64_t patience = tsc_cycles_of_ns(SILENT_NS), start = rdtsc(), mask;
	uint32_t spins = 0;

	while ((mask = left(arg)) != 0) {
		wait_a_moment(spins++);
		if (rdtsc() - start > patience) {
			name_silent(mask, what);
			start = rdtsc();
		}
	}
}

void smp_sync_self(void)
{
	uint64_t ticket = atomic_load(&sync_ticket);

	arch_sync_core();
	atomic_store(&sync_cpus[cpu_local_read(id)].done, ticket);
}

static void sync_interrupt(struct trap_frame *regs)
{
	(void)regs;
	irq_stats_count(SMP_IRQ_SYNC);
	apic_eoi(); /* before the ticket is read, so that a later sync is a new interrupt */
	smp_sync_self();
}

static uint64_t others_online(void)
{
	return atomic_load(&smp_online) & ~CPU_BIT(cpu_local_read(id));
}

/* The CPUs that have not serialised since `ticket` was taken. */
static uint64_t sync_left(uint64_t ticket)
{
	uint64_t mask = others_online(), left = 0;

	while (mask) {
		uint32_t cpu = (uint32_t)__builtin_ctzll(mask);

		mask &= mask - 1;
		if (atomic_load(&sync_cpus[cpu].done) < ticket)
			left |= CPU_BIT(cpu);
	}
	return left;
}

/*
 * A CPU that comes online sets its bit, then reads the ticket (smp_ap_come_online()). Here the
 * ticket is taken first, then the bits are read. So at least one of the two sees the other's write.
 */
void smp_sync_cores(void)
{
	uint64_t ticket, others;

	trace_plat_preempt_disable();
	ticket = atomic_fetch_add(&sync_ticket, 1) + 1;
	others = others_online();
	/* Two CPUs that wait for each other with interrupts off would wait for ever. */
	ASSERT(!others || !arch_irqs_disabled());
	smp_send_mask(others, APIC_VECTOR_SYNC);
	arch_sync_core();
	if (others)
		smp_wait(sync_left, ticket, "core sync");
	trace_plat_preempt_enable();
}

void smp_sync_init(void)
{
	arch_irq_register(APIC_VECTOR_SYNC, sync_interrupt);
}
