/*
 * Functions of softirq.c for the idle loop, the end of an interrupt, and CPUs that come and go.
 *
 * Context: interrupts off, unless said.
 */
#ifndef KERNEL_SOFTIRQ_PRIV_H
#define KERNEL_SOFTIRQ_PRIV_H

#include <kernel/base.h>

/* Is a softirq of this CPU to run? */
bool softirq_is_pending(void);
/* Run the pending softirqs; interrupts are on meanwhile. Not from a softirq or interrupt. */
void softirq_run(void);
/* Start a thread ksoftirqd/N for each CPU N that is online and has none. 0 or -ENOMEM. Thread context. */
int softirq_start_threads(void);
/* Softirqs that are pending on a CPU that is offline run on this one. Thread context. */
void softirq_take_from(uint32_t cpu);

#endif
