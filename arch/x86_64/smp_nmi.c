/*
 * Stopping CPUs that may have interrupts off, by NMI. Not traced. See <arch/smp.h>.
 */
#include "irq_stats.h"
#include "smp_priv.h"
#include <arch/apic.h>
#include <arch/cpu.h>
#include <arch/percpu.h>
#include <arch/sample.h>
#include <arch/trap.h>
#include <arch/tsc.h>
#include <kernel/upcall.h>
#include <stdatomic.h>
#include <trace/platform.h>

#define STOP_NS 5000000000ull

#define NOBODY UINT32_MAX

static struct {
	_Atomic uint32_t owner; /* CPU that stops the others */
	_Atomic uint64_t stopped;
	struct trap_frame frames[MAX_CPUS]; /* valid once the CPU's bit is set in `stopped` */
} stop = { .owner = NOBODY };

static _Atomic uint64_t nr_strays; /* NMIs without a sender */

static void stop_here(uint32_t cpu, const struct trap_frame *regs)
{
	if (!(atomic_load(&stop.stopped) & CPU_BIT(cpu))) {
		stop.frames[cpu] = *regs;
		atomic_fetch_or(&stop.stopped, CPU_BIT(cpu));
	}
	arch_halt_forever();
}

/*
 * A broken machine may send thousands of them, so it is logged only when their number has doubled.
 */
static void note_stray(uint32_t cpu)
{
	uint64_t nr = atomic_fetch_add_explicit(&nr_strays, 1, memory_order_relaxed) + 1;

	if ((nr & (nr - 1)) == 0)
		kernel_warning("NMI: CPU %u got one that nobody sent (%lu so far)\n", cpu,
			       (unsigned long)nr);
}

static void nmi_handler(struct trap_frame *regs)
{
	uint32_t cpu = cpu_local_read(id);
	uint32_t owner = atomic_load(&stop.owner);
	bool is_sample;

	upcall_nmi(true);
	is_sample = sample_nmi(regs);
	irq_stats_count(SMP_IRQ_NMI);
	if (owner == NOBODY && !is_sample)
		note_stray(cpu);
	else if (owner != NOBODY && owner != cpu)
		stop_here(cpu, regs);
	upcall_nmi(false);
}

/* Preemption or interrupts are off. */
static void send_nmi_mask(uint64_t mask)
{
	for (; mask; mask &= mask - 1)
		apic_send_nmi(cpu_local_of((uint32_t)__builtin_ctzll(mask))->apic_id);
}

void smp_stop_others_nmi(void)
{
	uint32_t cpu, expected = NOBODY;
	uint64_t others, patience, start;

	trace_plat_irq_save(); /* for good */
	cpu = cpu_local_read(id);
	if (!atomic_compare_exchange_strong(&stop.owner, &expected, cpu)) {
		if (expected == cpu)
			return; /* this CPU's panic has panicked itself */
		for (;;)
			arch_cpu_relax(); /* the owner's NMI is on its way */
	}
	others = atomic_load(&smp_online) & ~CPU_BIT(cpu);
	send_nmi_mask(others);
	patience = tsc_cycles_of_ns(STOP_NS);
	start = rdtsc();
	while ((atomic_load(&stop.stopped) & others) != others && rdtsc() - start < patience)
		arch_cpu_relax();
}

const struct trap_frame *smp_stopped_frame(uint32_t cpu)
{
	if (cpu >= MAX_CPUS || !(atomic_load(&stop.stopped) & CPU_BIT(cpu)))
		return NULL;
	return &stop.frames[cpu];
}

void smp_nmi_init(void)
{
	arch_nmi_register(nmi_handler);
}
