/*
 * Counts of interrupts per CPU and kind, the results of smp_irq_count().
 *
 * Context: any. Counting is one instruction, so an interrupt or NMI cannot come in between.
 */
#ifndef IRQ_STATS_H
#define IRQ_STATS_H

#include <arch/cpu_local.h>
#include <arch/smp.h>
#include <kernel/base.h>

struct irq_stats {
	uint64_t counts[SMP_IRQ_NR_KINDS];
} __attribute__((aligned(64)));

extern struct irq_stats irq_stats[MAX_CPUS];

static TRACE_ALWAYS_INLINE void irq_stats_count(enum smp_irq_kind kind)
{
	uint64_t *count = &irq_stats[cpu_local_read(id)].counts[kind];

	__asm__ volatile("incq %0" : "+m"(*count) : : "cc");
}

#endif
