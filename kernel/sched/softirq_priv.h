/*
 * What the idle loop and interrupt exit ask of softirq.c.
 *
 * Context: interrupts off.
 */
#ifndef KERNEL_SOFTIRQ_PRIV_H
#define KERNEL_SOFTIRQ_PRIV_H

#include <kernel/base.h>

/* On this CPU. */
bool softirq_is_pending(void);
/* Run what is pending; interrupts are on meanwhile. Not from a softirq or interrupt. */
void softirq_run(void);
/* A ksoftirqd for each CPU that is online. Thread context. */
void softirq_start_threads(void);

#endif
