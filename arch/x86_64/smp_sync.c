/*
 * Core sync: every other CPU executes a serialising instruction. Not traced: this is what text
 * poking waits for. Also the pieces that all smp*.c use. See <arch/smp.h>.
 *
 * A sync takes a ticket from `sync_ticket`, then sends the interrupt. A CPU reads the ticket, then
 * serialises, then stores what it read into `done`: done >= t says that it serialised after ticket
 * t was taken. Interrupts that melt into one are thereby no harm, nor are several syncs at once.
 */
#include "irq_stats.h"
#include "smp_priv.h"
#include <arch/apic.h>
#include <arch/cpu.h>
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
_Atomic uint64_t smp_online = 1;

static _Atomic uint64_t sync_ticket;
static struct sync_cpu sync_cpus[MAX_CPUS];
static _Atomic uint32_t hotplug_holder; /* CPU + 1; 0: nobody */

bool smp_cpu_online(uint32_t cpu)
{
	return cpu < MAX_CPUS && atomic_load(&smp_online) & CPU_BIT(cpu);
}

uint64_t smp_online_mask(void)
{
	return atomic_load(&smp_online);
}

void smp_hotplug_lock_raw(void)
{
	uint32_t nobody = 0;

	while (!atomic_compare_exchange_strong_explicit(
		&hotplug_holder, &nobody, cpu_local_read(id) + 1, memory_order_acquire,
		memory_order_relaxed)) {
		nobody = 0;
		arch_cpu_relax();
	}
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

	/* One write for all; CPUs that were never started do not listen. */
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
			pr_warn("SMP: CPU %u does not answer (%s)\n", cpu, what);
	}
}

/*
 * The CPU waited for may need this very core: as a guest, halt for a moment, so that the host can
 * run it. Interrupts are off from arming to halting, so the interrupt cannot come too early.
 */
static void wait_a_moment(uint32_t spins)
{
	if (spins < GUEST_SPINS || !cpu_features.hypervisor || arch_irqs_disabled()) {
		arch_cpu_relax();
		return;
	}
	arch_irq_disable_raw(); /* nothing to measure: it ends in an idle wait */
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
	apic_eoi(); /* before the ticket is read: a later sync comes in as a new interrupt */
	smp_sync_self();
}

static uint64_t others_online(void)
{
	return atomic_load(&smp_online) & ~CPU_BIT(cpu_local_read(id));
}

/* CPUs behind `ticket`. */
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
 * A CPU that comes online sets its bit, then reads the ticket (smp_ap_entry); here the ticket is
 * taken first, then the bits are read: one of both sees the other.
 */
void smp_sync_cores(void)
{
	uint64_t ticket, others;

	trace_plat_preempt_disable();
	ticket = atomic_fetch_add(&sync_ticket, 1) + 1;
	others = others_online();
	/* Two that wait for each other with interrupts off would wait for ever. */
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
