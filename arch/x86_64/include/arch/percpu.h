/*
 * Set-up of a CPU's own tables: GDT, TSS, trap stacks, struct cpu_local.
 *
 * Context:   cpu_prepare(): thread, or boot. cpu_load(): the CPU itself, interrupts off.
 * Locking:   none: one CPU is prepared at a time.
 * Ownership: everything is kept for ever.
 */
#ifndef ARCH_PERCPU_H
#define ARCH_PERCPU_H

#include <stdint.h>
#include <arch/cpu_local.h>

/* Selectors. The order of code and data allows SYSRET later. */
#define KERNEL_CS 0x08
#define KERNEL_DS 0x10

/*
 * Make the area, trap stacks (with guard pages) and tables of logical CPU `cpu` ready.
 * Returns -ENOMEM; nothing is kept then that a second try would not use.
 */
int cpu_prepare(uint32_t cpu, uint32_t apic_id);

/*
 * On the CPU itself, running on the kernel's root, long mode: control registers, GDT, TSS, IDT,
 * GS base. Afterwards traps and traced functions work. Not traced.
 */
void cpu_load(uint32_t cpu);

/* Area of a CPU that is prepared. Any context. */
struct cpu_local *cpu_local_of(uint32_t cpu);

/*
 * The trap stack that `addr` lies on: name ("NMI", "#DF", "#MC"), bounds and CPU; NULL for none.
 * Any context, also for addresses that are not mapped.
 */
const char *cpu_trap_stack_of(uintptr_t addr, uintptr_t *out_lo, uintptr_t *out_hi);
/* The thread that runs on the CPU whose trap stacks `addr` is among; NULL for none. Any context. */
const struct trace_thread *cpu_trap_stack_thread(uintptr_t addr);

#endif
