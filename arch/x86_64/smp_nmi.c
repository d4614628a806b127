/*
 * Reaching CPUs that may have interrupts off, by NMI: to stop them, or to call a function there.
 * Not traced. See <arch/smp.h>.
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

#define NOBODY	UINT32_MAX
#define CLAIMED 0x80000000u

static struct {
	_Atomic uint32_t owner; /* CPU that stops the others */
	_Atomic uint64_t stopped;
	struct trap_frame frames[MAX_CPUS]; /* valid once the CPU's bit is set in `stopped` */
} stop = { .owner = NOBODY };

/*
 * One call at a time. `target` is the CPU that is asked. It claims the call, or the caller takes
 * the call back: by a compare-exchange, so that only one of them can. The caller waits for a call
 * that is claimed until `target` is NOBODY, because its function may use the caller's stack.
 */
static struct {
	_Atomic uint32_t busy;
	_Atomic uint32_t target; /* a CPU, that CPU | CLAIMED, or NOBODY */
	void (*fn)(const struct trap_frame *regs, void *arg);
	void *arg;
} nmi_call = { .target = NOBODY };

static _Atomic uint64_t nr_strays; /* NMIs that nobody sent, or whose call was taken back */

static void stop_here(uint32_t cpu, const struct trap_frame *regs)
{
	if (!(atomic_load(&stop.stopped) & CPU_BIT(cpu))) {
		stop.frames[cpu] = *regs;
		atomic_fetch_or(&stop.stopped, CPU_BIT(cpu));
	}
	arch_halt_forever();
}

static bool answer_call(uint32_t cpu, const struct trap_frame *regs)
{
	uint32_t expected = cpu;

	if (!atomic_compare_exchange_strong(&nmi_call.target, &expected, cpu | CLAIMED))
		return false;
	nmi_call.fn(regs, nmi_call.arg);
	atomic_store_explicit(&nmi_call.target, NOBODY, memory_order_release);
	return true;
}

/*
 * A broken machine may send thousands of them, so it is logged only when their number has doubled.
 */
static void note_stray(uint32_t cpu)
{
	uint64_t nr = atomic_fetch_add_explicit(&nr_strays, 1, memory_order_relaxed) + 1;

	if ((nr & (nr - 1)) == 0)
		pr_warn("NMI: CPU %u got one that nobody sent (%lu so far)\n", cpu,
			(unsigned long)nr);
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
	if (!answer_call(cpu, regs))
		note_stray(cpu);
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

static bool take_back_call(uint32_t cpu)
{
	uint32_t expected = cpu;

	return atomic_compare_exchange_strong(&nmi_call.target, &expected, NOBODY);
}

/* True when `cpu` ran the function. Once that has begun, this waits for its end without limit. */
static bool call_one(uint32_t cpu)
{
	uint64_t patience = tsc_cycles_of_ns(CALL_NS), start = rdtsc();

	atomic_store_explicit(&nmi_call.target, cpu, memory_order_release);
	apic_send_nmi(cpu_local_of(cpu)->apic_id);
	while (atomic_load_explicit(&nmi_call.target, memory_order_acquire) != NOBODY) {
		arch_cpu_relax();
		if (rdtsc() - start > patience && take_back_call(cpu))
			return false;
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
