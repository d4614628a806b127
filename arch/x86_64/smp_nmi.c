/*
 * Reaching CPUs that have interrupts off: stop them, or see where they are. Not traced.
 * See <arch/smp.h>.
 */
#include "irq_stats.h"
#include "smp_priv.h"
#include <arch/apic.h>
#include <arch/cpu.h>
#include <arch/percpu.h>
#include <arch/trap.h>
#include <arch/tsc.h>
#include <stdatomic.h>
#include <trace/platform.h>

#define STOP_NS 5000000000ull
#define CALL_NS 2000000000ull

#define NOBODY UINT32_MAX

static struct {
	_Atomic uint32_t owner; /* CPU that stops the others */
	_Atomic uint64_t stopped;
	struct trap_frame frames[MAX_CPUS]; /* valid with the bit in `stopped` */
} stop = { .owner = NOBODY };

/* One call at a time: `target` goes to the CPU (release), and back to NOBODY from it. */
static struct {
	_Atomic uint32_t busy;
	_Atomic uint32_t target;
	void (*fn)(const struct trap_frame *regs, void *arg);
	void *arg;
} nmi_call = { .target = NOBODY };

static void stop_here(uint32_t cpu, const struct trap_frame *regs)
{
	if (!(atomic_load(&stop.stopped) & CPU_BIT(cpu))) {
		stop.frames[cpu] = *regs;
		atomic_fetch_or(&stop.stopped, CPU_BIT(cpu));
	}
	arch_halt_forever();
}

static void nmi_handler(struct trap_frame *regs)
{
	uint32_t cpu = cpu_local_read(id);
	uint32_t owner = atomic_load(&stop.owner);

	irq_stats_count(SMP_IRQ_NMI);
	if (owner != NOBODY) {
		if (owner != cpu)
			stop_here(cpu, regs);
		return;
	}
	if (atomic_load_explicit(&nmi_call.target, memory_order_acquire) == cpu) {
		nmi_call.fn(regs, nmi_call.arg);
		atomic_store_explicit(&nmi_call.target, NOBODY, memory_order_release);
		return;
	}
	pr_warn("NMI: CPU %u got one that nobody sent\n", cpu);
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
			return; /* a panic inside the panic */
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

/* True when `cpu` ran the function. One that is too late must not find the call any more. */
static bool call_one(uint32_t cpu)
{
	uint64_t patience = tsc_cycles_of_ns(CALL_NS), start = rdtsc();
	uint32_t expected = cpu;

	atomic_store_explicit(&nmi_call.target, cpu, memory_order_release);
	apic_send_nmi(cpu_local_of(cpu)->apic_id);
	while (atomic_load_explicit(&nmi_call.target, memory_order_acquire) == cpu) {
		arch_cpu_relax();
		if (rdtsc() - start > patience)
			return !atomic_compare_exchange_strong(&nmi_call.target, &expected, NOBODY);
	}
	return true;
}

uint32_t smp_nmi_call_others(void (*fn)(const struct trap_frame *regs, void *arg), void *arg)
{
	uint32_t nr = 0;
	uint64_t mask;

	trace_plat_preempt_disable();
	while (atomic_exchange_explicit(&nmi_call.busy, 1, memory_order_acquire))
		arch_cpu_relax();
	nmi_call.fn = fn;
	nmi_call.arg = arg;
	mask = atomic_load(&smp_online) & ~CPU_BIT(cpu_local_read(id));
	for (; mask; mask &= mask - 1)
		nr += call_one((uint32_t)__builtin_ctzll(mask));
	atomic_store_explicit(&nmi_call.busy, 0, memory_order_release);
	trace_plat_preempt_enable();
	return nr;
}

void smp_nmi_init(void)
{
	arch_nmi_register(nmi_handler);
}
