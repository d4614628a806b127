/*
 * The command preemptirq_delay: keeps interrupts or preemption of its CPU off for a known time, as
 * Linux's module preemptirq_delay_test does, so that latency tracers have something to measure.
 */
#include <arch/cpu.h>
#include <kernel/preempt.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include "shell/cmd/command_tables.h"

#define MAX_USECS 1000000000ul

static TRACE_NOINLINE void delay_busy(uint64_t usecs)
{
	uint64_t end_ns = local_clock_ns() + usecs * NSEC_PER_USEC;

	while (local_clock_ns() < end_ns)
		arch_cpu_relax();
}

static TRACE_NOINLINE void delay_irqs_off(uint64_t usecs)
{
	uint64_t flags = arch_irq_save();

	delay_busy(usecs);
	arch_irq_restore(flags);
}

static TRACE_NOINLINE void delay_preempt_off(uint64_t usecs)
{
	preempt_disable();
	delay_busy(usecs);
	preempt_enable();
}

/* Preemption off for three times `usecs`, and interrupts off, too, in the middle one. */
static TRACE_NOINLINE void delay_nested(uint64_t usecs)
{
	preempt_disable();
	delay_busy(usecs);
	delay_irqs_off(usecs);
	delay_busy(usecs);
	preempt_enable();
}

static void delay_alternate(uint64_t usecs)
{
	delay_irqs_off(usecs);
	delay_preempt_off(usecs);
}

static const struct {
	const char *name;
	void (*run)(uint64_t usecs);
} modes[] = {
	{ "irq", delay_irqs_off },
	{ "preempt", delay_preempt_off },
	{ "alternate", delay_alternate },
	{ "nested", delay_nested },
};

static int delay_run(struct command_env *env, int argc, char **argv)
{
	uint64_t usecs, times = 1;

	(void)env;
	if (argc < 3 || argc > 4 || !command_parse_u64(argv[2], &usecs) || usecs > MAX_USECS)
		return COMMAND_USAGE;
	if (argc == 4 && !command_parse_u64(argv[3], &times))
		return COMMAND_USAGE;
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		if (strcmp(argv[1], modes[i].name) != 0)
			continue;
		for (; times && !thread_interrupted(); times--) {
			modes[i].run(usecs);
			cond_resched();
		}
		return thread_interrupted() ? COMMAND_SIGINT : 0;
	}
	return COMMAND_USAGE;
}

const struct command preemptirq_commands[] = {
	{ "preemptirq_delay", "irq|preempt|alternate|nested USECS [TIMES]",
	  "keep interrupts or preemption off for a while", delay_run, 0 },
	{ 0 },
};
