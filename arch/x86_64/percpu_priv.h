/*
 * Functions of percpu.c for other files of arch/.
 *
 * Context: boot CPU, before its tables are loaded.
 */
#ifndef PERCPU_PRIV_H
#define PERCPU_PRIV_H

/* Give the boot CPU its struct cpu_local. This comes before all other C code. */
void percpu_early_init(void);

#endif
