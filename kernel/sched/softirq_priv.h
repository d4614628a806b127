/*
 * Functions of softirq.c for the idle loop and the end of an interrupt.
 *
 * Context: interrupts off.
 */
#ifndef KERNEL_SOFTIRQ_PRIV_H
#define KERNEL_SOFTIRQ_PRIV_H

#include <kernel/base.h>

/* Is a softirq of this CPU to run? */
bool softirq_is_pending(void);
/* Run the pending softirqs; interrupts are on meanwhile. Not from a softirq or interrupt. */
void softirq_run(void);
/* Start a thread ksoftirqd/N for each CPU N that is online. Thread context. */
void softirq_start_threads(void);

#endif
