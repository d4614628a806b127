/*
 * Softirqs: the half of interrupt work that runs with interrupts on, at the outermost interrupt
 * exit, when bottom halves are let in again, or in ksoftirqd/N when there is too much of it.
 *
 * Context: raise: any but NMI. Handlers: preemption off, interrupts on, not nested on one CPU.
 */
#ifndef KERNEL_SOFTIRQ_H
#define KERNEL_SOFTIRQ_H

#include <kernel/base.h>

enum softirq {
	SOFTIRQ_TIMER,
	SOFTIRQ_CONSOLE,
	SOFTIRQ_SCHED,
	SOFTIRQ_TRACE,
	SOFTIRQ_NR,
};

void softirq_register(enum softirq nr, void (*fn)(void));
void raise_softirq(enum softirq nr);
/* The same from a probe, NMI included; preemption is off. */
void raise_softirq_notrace(enum softirq nr);
const char *softirq_name(enum softirq nr);
uint64_t softirq_count(uint32_t cpu, enum softirq nr);

#endif
