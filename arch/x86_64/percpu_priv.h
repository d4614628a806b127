/*
 * What percpu.c shares inside arch/.
 *
 * Context: boot CPU, before its tables are loaded.
 */
#ifndef PERCPU_PRIV_H
#define PERCPU_PRIV_H

/* Give the boot CPU its struct cpu_local: the first thing C does. */
void percpu_early_init(void);

#endif
