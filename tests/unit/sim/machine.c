/*
 * The simulated machine: what include/ asks for, and the parts of arch/ that sources under test
 * call. A test that links the real ones gets those.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <arch/apic.h>
#include <arch/cpu.h>
#include <arch/percpu.h>
#include <arch/timer.h>
#include <arch/trap.h>
#include <arch/tsc.h>
#include <kernel/base.h>
#include <trace/arch_host.h>
#include <trace/arch_watch.h>
#include <trace/platform.h>

#include "sim.h"
#include "sim_priv.h"

#define FIRST_VECTOR 192u
#define NR_VECTORS   64u
#define WEAK	     __attribute__((weak))

struct cpu_features cpu_features;

static trap_fn irq_fn[NR_VECTORS];
static trap_fn nmi_fn;
static uint64_t nr_printed, nr_naps;
static char last_printed[256];

static struct sim_cpu *this_cpu(void)
{
	return &sim.cpus[sim.now_runs];
}

/* <trace/arch_host.h> */
void trace_arch_broken(const char *what)
{
	panic("%s", what);
}

/* ---- Interrupts ---- */

void sim_run_nmi(struct sim_cpu *cpu, void (*fn)(struct trap_frame *regs))
{
	struct trap_frame regs = { .vector = TRAP_NMI, .rip = 0x1000 + cpu->local.id };
	bool irqs_off = cpu->irqs_off;

	cpu->irqs_off = cpu->in_nmi = true;
	fn(&regs);
	cpu->in_nmi = false;
	cpu->irqs_off = irqs_off;
}

static void run_hit(struct trap_frame *regs)
{
	struct sim_cpu *cpu = this_cpu();
	uint32_t site = cpu->hit;

	(void)regs;
	cpu->hit = UINT32_MAX;
	sim_text_trap(cpu->local.id, site);
}

static void run_irq(struct sim_cpu *cpu)
{
	uint32_t n = 63 - (uint32_t)__builtin_clzll(cpu->pending);
	struct trap_frame regs = { .vector = FIRST_VECTOR + n };

	cpu->pending &= ~(1ull << n);
	cpu->in_service = cpu->irqs_off = true;
	sim_note("CPU %u: interrupt %u", cpu->local.id, FIRST_VECTOR + n);
	irq_fn[n](&regs);
	cpu->irqs_off = false;
}

void sim_deliver(struct sim_cpu *cpu)
{
	while (!cpu->in_nmi && cpu->hit != UINT32_MAX)
		sim_run_nmi(cpu, run_hit);
	while (!cpu->in_nmi && cpu->nmi_pending && !cpu->is_deaf) {
		cpu->nmi_pending = false;
		sim_note("CPU %u: NMI", cpu->local.id, 0);
		sim_run_nmi(cpu, nmi_fn);
	}
	while (cpu->pending && !cpu->irqs_off && !cpu->in_service && !cpu->is_deaf)
		run_irq(cpu);
}

WEAK int arch_irq_register(uint8_t vector, trap_fn fn)
{
	irq_fn[vector - FIRST_VECTOR] = fn;
	return 0;
}

WEAK trap_fn arch_nmi_register(trap_fn fn)
{
	trap_fn before = nmi_fn;

	nmi_fn = fn;
	return before;
}

void apic_eoi(void)
{
	this_cpu()->in_service = false;
}

static struct sim_cpu *by_apic_id(uint32_t apic_id)
{
	if (apic_id % 2 == 0 || apic_id / 2 >= SIM_CPUS)
		sim_fail("no CPU has the APIC id %u", apic_id);
	return &sim.cpus[apic_id / 2];
}

void apic_send_ipi(uint32_t apic_id, uint8_t vector)
{
	by_apic_id(apic_id)->pending |= 1ull << (vector - FIRST_VECTOR);
	sim.nr_sent++;
	sim.version++;
}

void apic_send_ipi_others(uint8_t vector)
{
	for (uint32_t i = 0; i < SIM_CPUS; i++)
		if (i != sim.now_runs)
			sim.cpus[i].pending |= 1ull << (vector - FIRST_VECTOR);
	sim.nr_sent++;
	sim.version++;
}

void apic_send_nmi(uint32_t apic_id)
{
	by_apic_id(apic_id)->nmi_pending = true;
	sim.nr_sent++;
	sim.version++;
}

void apic_init_cpu(void)
{
}

/* ---- The CPU ---- */

uint64_t sim_irq_save(void)
{
	bool irqs_off = this_cpu()->irqs_off;

	this_cpu()->irqs_off = true;
	return irqs_off ? 0 : RFLAGS_IF;
}

void sim_irq_restore(uint64_t flags)
{
	if (!(flags & RFLAGS_IF))
		return;
	this_cpu()->irqs_off = false;
	sim_step();
}

void sim_irq_disable(void)
{
	this_cpu()->irqs_off = true;
}

bool sim_irqs_disabled(void)
{
	return this_cpu()->irqs_off;
}

void sim_preempt_add(uint32_t delta)
{
	this_cpu()->local.preempt_count += delta;
}

void sim_relax(void)
{
	sim_wait_as(SIM_SPINS);
}

void sim_idle_wait(void)
{
	if (!this_cpu()->irqs_off || !this_cpu()->is_nudged)
		sim_fail("CPU %u sleeps and nothing will wake it", sim.now_runs);
	this_cpu()->irqs_off = this_cpu()->is_nudged = false;
	nr_naps++;
	sim_relax();
}

void sim_halt_forever(void)
{
	this_cpu()->irqs_off = true;
	for (;;)
		sim_wait_as(SIM_HALTED);
}

void sim_serialise(void)
{
	sim_step();
	this_cpu()->nr_serialised++;
	sim_text_serialise(sim.now_runs);
	sim_note("CPU %u serialises", sim.now_runs, 0);
}

void sim_wrote(bool is_new)
{
	sim.version += is_new;
}

uint64_t sim_rdtsc(void)
{
	return sim.now_ns++;
}

uint64_t sim_read_cr2(void)
{
	return this_cpu()->cr2;
}

void sim_write_cr2(uint64_t value)
{
	this_cpu()->cr2 = value;
}

uint64_t sim_read_cr3(void)
{
	return this_cpu()->cr3;
}

void sim_write_cr3(uint64_t value)
{
	this_cpu()->cr3 = value;
}

struct cpu_local *sim_local(void)
{
	return &this_cpu()->local;
}

WEAK struct cpu_local *cpu_local_of(uint32_t cpu)
{
	return &sim.cpus[cpu].local;
}

void cpu_load(uint32_t cpu)
{
	this_cpu()->irqs_off = true;
	SIM_CHECK(cpu == sim.now_runs);
}

WEAK bool sim_tracepoint_wanted(const char *name)
{
	(void)name;
	return false;
}

WEAK void sim_tracepoint_call(const char *name, unsigned long parent)
{
	(void)name;
	(void)parent;
}

/* ---- Time and messages ---- */

uint64_t tsc_cycles_of_ns(uint64_t ns)
{
	return ns;
}

void tsc_sync_ap(uint32_t cpu)
{
	(void)cpu;
}

void arch_timer_nudge(uint64_t ns)
{
	(void)ns;
	this_cpu()->is_nudged = true;
}

void arch_timer_init_cpu(void)
{
}

WEAK void printk(enum log_level level, const char *fmt, ...)
{
	va_list args;

	(void)level;
	va_start(args, fmt);
	vsnprintf(last_printed, sizeof(last_printed), fmt, args);
	va_end(args);
	nr_printed++;
	last_printed[strcspn(last_printed, "\n")] = 0;
	sim_note_printed(last_printed);
}

WEAK void kernel_warn(const char *fmt, ...)
{
	char text[sizeof(last_printed)];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	printk(LOG_WARN, "%s", text);
}

/* ---- For tests ---- */

void sim_idle(void)
{
	sim_wait_as(SIM_IDLES);
}

uint32_t sim_cpu(void)
{
	return sim.now_runs;
}

struct cpu_local *sim_local_of(uint32_t cpu)
{
	return &sim.cpus[cpu].local;
}

uint64_t sim_nr_printed(void)
{
	return nr_printed;
}

const char *sim_last_printed(void)
{
	return last_printed;
}

uint64_t sim_nr_serialised(uint32_t cpu)
{
	return sim.cpus[cpu].nr_serialised;
}

uint64_t sim_nr_sent(void)
{
	return sim.nr_sent;
}

bool sim_in_nmi(uint32_t cpu)
{
	return sim.cpus[cpu].in_nmi;
}

uint64_t sim_nr_naps(void)
{
	return nr_naps;
}

uint64_t sim_now(void)
{
	return sim.now_ns;
}

void sim_let_pass(uint64_t ns)
{
	sim.now_ns += ns;
}

void sim_deafen(uint32_t cpu)
{
	sim.cpus[cpu].is_deaf = true;
}

/* ---- Watchpoints, which the simulated CPUs do not have: for tests of their callers ---- */

WEAK bool trace_watch_dispatch(uintptr_t rip, void *frame)
{
	(void)rip;
	(void)frame;
	return false;
}

WEAK void trace_watch_cpu_online(void)
{
}

WEAK uint64_t trace_watch_suspend(void)
{
	return 0;
}

WEAK void trace_watch_restore(uint64_t suspended)
{
	(void)suspended;
}
