/*
 * Commands about CPUs: cpus, irqs.
 */
#include <arch/apic.h>
#include <arch/percpu.h>
#include <arch/smp.h>
#include <arch/timer.h>
#include <arch/tsc.h>
#include <kernel/softirq.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include "command_tables.h"

static void cmd_print_cpu(struct command_env *env, uint32_t cpu)
{
	const struct cpu_local *local;
	struct sched_cpu_stats stats;

	if (!smp_cpu_online(cpu)) {
		command_printf(env, "%3u offline\n", cpu);
		return;
	}
	local = cpu_local_of(cpu);
	sched_cpu_stats_get(cpu, &stats);
	command_printf(env, "%3u %7u %11ld %10lu %10lu %7u %8llu.%03llu\n", cpu, local->apic_id,
		       tsc_skew_ns(cpu), local->tick_count, stats.nr_switches, stats.nr_running,
		       stats.idle_ns / NSEC_PER_SEC, stats.idle_ns / NSEC_PER_MSEC % 1000);
}

static int cmd_cpus(struct command_env *env, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	command_printf(env, "%u of %u CPUs online, %s, tsc %lu kHz by %s, timer %s\n",
		       smp_nr_online(), smp_nr_cpus(), apic_is_x2apic() ? "x2apic" : "xapic",
		       tsc_hz() / 1000, tsc_reference(), arch_timer_name());
	command_puts(env, "CPU APIC-ID TSC-SKEW-NS      TICKS   SWITCHES RUNNING       IDLE-S\n");
	for (uint32_t cpu = 0; cpu < smp_nr_cpus() && !command_stopped(env); cpu++)
		cmd_print_cpu(env, cpu);
	return 0;
}

static void cmd_print_row(struct command_env *env, const char *name,
			  uint64_t (*count)(uint32_t cpu, uint32_t kind), uint32_t kind)
{
	command_printf(env, "%-12s", name);
	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++) {
		if (smp_cpu_online(cpu))
			command_printf(env, " %10lu", count(cpu, kind));
	}
	command_putc(env, '\n');
}

static uint64_t cmd_count_irq(uint32_t cpu, uint32_t kind)
{
	return smp_irq_count(cpu, (enum smp_irq_kind)kind);
}

static uint64_t cmd_count_softirq(uint32_t cpu, uint32_t kind)
{
	return softirq_count(cpu, (enum softirq)kind);
}

static int cmd_irqs(struct command_env *env, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	command_printf(env, "%-12s", "");
	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++) {
		if (smp_cpu_online(cpu))
			command_printf(env, "  %s%-*u", cpu < 10 ? "     CPU" : "    CPU",
				       cpu < 10 ? 1 : 2, cpu);
	}
	command_putc(env, '\n');
	for (uint32_t kind = 0; kind < SMP_IRQ_NR_KINDS; kind++)
		cmd_print_row(env, smp_irq_name((enum smp_irq_kind)kind), cmd_count_irq, kind);
	command_puts(env, "softirqs:\n");
	for (uint32_t kind = 0; kind < SOFTIRQ_NR; kind++)
		cmd_print_row(env, softirq_name((enum softirq)kind), cmd_count_softirq, kind);
	return 0;
}

const struct command cpu_commands[] = {
	{ "cpus", "", "list the CPUs", cmd_cpus, 0 },
	{ "irqs", "", "count interrupts for each CPU", cmd_irqs, 0 },
	{ 0 },
};
