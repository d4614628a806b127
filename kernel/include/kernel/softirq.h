/*
 * Softirqs: the half of interrupt work that runs with interrupts on: at the end of the outermost
 * interrupt, in the idle loop, or in the thread ksoftirqd/N of CPU N when there is too much of it.
 *
 * Context: raise: any but NMI. Handlers: preemption off, interrupts on, not nested on one CPU.
 * Locking: none; a softirq is pending on the CPU that has raised it, and runs there.
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

/* Set the handler of a softirq, once, while booting. */
void open_softirq(enum softirq nr, void (*fn)(void));
/* Have its handler run on this CPU soon; once, if it is raised again before that. */
void raise_softirq(enum softirq nr);
/* The same from a probe, NMI included; preemption is off. */
void raise_softirq_notrace(enum softirq nr);
const char *softirq_name(enum softirq nr);
/* The number of times that its handler has run on `cpu`. */
uint64_t softirq_count(uint32_t cpu, enum softirq nr);

#endif
