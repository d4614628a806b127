/*
 * <arch/cpu.h> of a user process: as much as text_poke.c needs. There are no interrupts to mask: a
 * breakpoint is a signal, and the kernel's core sync does not wait for its handler.
 */
#ifndef ARCH_CPU_H
#define ARCH_CPU_H

#include <stdbool.h>
#include <stdint.h>

struct cpu_features {
	bool hypervisor;
};
extern struct cpu_features cpu_features;

static inline uint64_t arch_irq_save(void)
{
	return 0;
}

static inline void arch_irq_restore(uint64_t flags)
{
	(void)flags;
}

static inline void arch_cpu_relax(void)
{
	__asm__ volatile("pause" : : : "memory");
}

void arch_sync_core(void);

#endif
