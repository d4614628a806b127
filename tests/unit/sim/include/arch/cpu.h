/*
 * <arch/cpu.h> of the simulated machine: the kernel's, with the instructions that a process may not
 * execute, or that say something about time and order, done by the simulation (sim.h).
 */
#ifndef SIM_ARCH_CPU_H
#define SIM_ARCH_CPU_H

#include_next <arch/cpu.h>
#include <stdatomic.h>

uint64_t sim_irq_save(void);
void sim_irq_restore(uint64_t flags);
bool sim_irqs_disabled(void);
void sim_irq_disable(void);
void sim_idle_wait(void);
void sim_halt_forever(void) __attribute__((noreturn));
/* Nothing to do until memory changes or an interrupt comes. */
void sim_relax(void);
/* The CPU forgets what it has fetched. */
void sim_serialise(void);
uint64_t sim_rdtsc(void);
uint64_t sim_read_cr2(void);
void sim_write_cr2(uint64_t value);
uint64_t sim_read_cr3(void);
void sim_write_cr3(uint64_t value);

#define arch_irq_save	     sim_irq_save
#define arch_irq_restore     sim_irq_restore
#define arch_irqs_disabled   sim_irqs_disabled
#define arch_irq_disable     sim_irq_disable
#define arch_irq_disable_raw sim_irq_disable
#define arch_idle_wait	     sim_idle_wait
#define arch_halt_forever    sim_halt_forever
#define arch_cpu_relax	     sim_relax
#define arch_sync_core	     sim_serialise
#define rdtsc		     sim_rdtsc
#define read_cr2	     sim_read_cr2
#define write_cr2	     sim_write_cr2
#define read_cr3	     sim_read_cr3
#define write_cr3	     sim_write_cr3

#endif
