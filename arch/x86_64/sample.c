/*
 * See <arch/sample.h>.
 */
#include <stdatomic.h>

#include <arch/apic.h>
#include <arch/cpu.h>
#include <arch/cpu_local.h>
#include <arch/per_cpu_array.h>
#include <arch/percpu.h>
#include <arch/sample.h>
#include <arch/smp.h>
#include <arch/timer.h>
#include <arch/trap.h>
#include <arch/tsc.h>
#include <kernel/base.h>
#include <kernel/upcall.h>
#include <trace/arch_probe.h>
#include <trace/platform.h>

#define RFLAGS_IF   0x200ull
#define HARDIRQ_ONE 0x00010000u
#define NMI_ONE	    0x00100000u

struct sample_times {
	uint64_t due_ns;
	uint32_t period_ns; /* 0: off */
};

/* Its own CPU changes it, with interrupts off, but for the members of the target. */
struct sample_cpu {
	struct sample_times here;  /* of this CPU */
	struct sample_times there; /* of the CPU `target`, by NMI */
	/* Interrupted by an interrupt that is here for samples alone; or NULL. */
	const struct trap_frame *inside;
	uint32_t target;

	/* As a target: */
	_Atomic uint32_t nmi_period_ns;
	_Atomic uint32_t nmi_periods; /* the sender adds to it, the NMI takes all */
	_Atomic uint32_t nr_sent;     /* NMIs */
	uint32_t nr_seen;	      /* of these, known to the handler */
	uint32_t nr_coming; /* of these, still to come, unless they have become one with another */
} __attribute__((aligned(64)));

static struct sample_cpu sample_cpus[MAX_CPUS];
PER_CPU_ARRAY(sample_cpus);

/*
 * Those of the CPUs are spread over the period, like their ticks: see <arch/timer.h>. The first one is
 * between one and two periods from now.
 */
static void sample_start(struct sample_times *times, uint32_t period_ns)
{
	uint64_t place = (uint64_t)period_ns * cpu_local_read(id) / smp_nr_cpus();
	uint64_t now = tsc_clock_ns();

	times->period_ns = period_ns;
	if (period_ns)
		times->due_ns = now - now % period_ns + period_ns + place;
}

static uint64_t sample_next(const struct sample_times *times)
{
	return times->period_ns ? times->due_ns : TIMER_NONE;
}

static uint64_t sample_next_of(const struct sample_cpu *cpu)
{
	uint64_t here = sample_next(&cpu->here), there = sample_next(&cpu->there);

	return here < there ? here : there;
}

void arch_sample_set(uint32_t period_ns)
{
	struct sample_cpu *cpu = &sample_cpus[cpu_local_read(id)];

	sample_start(&cpu->here, period_ns);
	arch_timer_sample_at(sample_next_of(cpu));
}

void arch_sample_set_nmi(uint32_t target, uint32_t period_ns)
{
	struct sample_cpu *cpu = &sample_cpus[cpu_local_read(id)];

	cpu->target = target;
	atomic_store(&sample_cpus[target].nmi_period_ns, period_ns);
	sample_start(&cpu->there, period_ns);
	arch_timer_sample_at(sample_next_of(cpu));
}

/* An interrupt for calls by other CPUs, of which there are none. */
void arch_sample_interrupt(void)
{
	apic_send_ipi(cpu_local_of(cpu_local_read(id))->apic_id, APIC_VECTOR_CALL);
}

/* The number of periods that have ended by `now`. */
static uint32_t sample_take(struct sample_times *times, uint64_t now)
{
	uint64_t late, nr = 1;

	if (!times->period_ns || now < times->due_ns)
		return 0;
	late = now - times->due_ns;
	if (late >= times->period_ns)
		nr += late / times->period_ns;
	times->due_ns += nr * times->period_ns;
	return (uint32_t)nr;
}

static void sample_send(const struct sample_cpu *cpu, uint32_t periods)
{
	struct sample_cpu *target = &sample_cpus[cpu->target];

	atomic_fetch_add(&target->nmi_periods, periods);
	atomic_fetch_add(&target->nr_sent, 1);
	apic_send_nmi(cpu_local_of(cpu->target)->apic_id);
}

/* `own`: this interrupt's part of the preempt count. */
static void sample_tell(const struct trap_frame *regs, uint32_t own, struct arch_sample *sample)
{
	sample->preempt_count = trace_plat_preempt_count() - own;
	sample->is_user = trap_is_user(regs);
	sample->irqs_off = !(regs->rflags & RFLAGS_IF);
	sample->frame = (uintptr_t)regs | 1; /* as the entry of traps leaves it in rbp */
	sample->ip = sample->is_user ? regs->rip : trace_probe_original(regs->rip);
	upcall_sample(sample);
}

uint64_t sample_interrupt(const struct trap_frame *regs, uint64_t now)
{
	struct sample_cpu *cpu = &sample_cpus[cpu_local_read(id)];
	uint32_t periods = sample_take(&cpu->here, now);
	struct arch_sample sample = { .period_ns = cpu->here.period_ns, .periods = periods };

	cpu->inside = regs;
	if (periods)
		sample_tell(regs, HARDIRQ_ONE, &sample);
	periods = sample_take(&cpu->there, now);
	if (periods)
		sample_send(cpu, periods);
	return sample_next_of(cpu);
}

void sample_leave(void)
{
	sample_cpus[cpu_local_read(id)].inside = NULL;
}

/*
 * NMIs that come together become one. So one NMI may serve several that were sent, and of the others
 * each may still come, with nothing left to do, or not.
 */
bool sample_nmi(const struct trap_frame *regs)
{
	struct sample_cpu *cpu = &sample_cpus[cpu_local_read(id)];
	uint32_t nr_new = atomic_load(&cpu->nr_sent) - cpu->nr_seen;
	uint32_t own = NMI_ONE + HARDIRQ_ONE;
	struct arch_sample sample = { .is_nmi = true };

	cpu->nr_seen += nr_new;
	cpu->nr_coming += nr_new;
	if (!cpu->nr_coming)
		return false;
	cpu->nr_coming--;
	sample.periods = atomic_exchange(&cpu->nmi_periods, 0);
	sample.period_ns = atomic_load(&cpu->nmi_period_ns);
	if (cpu->inside) {
		regs = cpu->inside;
		own += HARDIRQ_ONE;
	}
	if (sample.periods && sample.period_ns)
		sample_tell(regs, own, &sample);
	return true;
}
