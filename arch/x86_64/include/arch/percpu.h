/*
 * Set-up of a CPU's own tables: GDT, TSS, trap stacks, struct cpu_local.
 *
 * Context:   cpu_prepare(): thread, or boot. cpu_load(): the CPU itself, interrupts off.
 * Locking:   none: one CPU is prepared at a time.
 * Ownership: everything is kept for ever.
 */
#ifndef ARCH_PERCPU_H
#define ARCH_PERCPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <arch/cpu_local.h>

/*
 * Selectors of the GDT, in the order that SYSCALL and SYSRET need. Those of programs are Linux's, which
 * debuggers know; the entry in front of them would be for code of 32 bits, and is empty.
 */
#define KERNEL_CS     0x08
#define KERNEL_DS     0x10
#define USER_CS_EMPTY 0x20
#define USER_DS	      0x2b
#define USER_CS	      0x33

/*
 * Make struct cpu_local, trap stacks (with guard pages), GDT and TSS of logical CPU `cpu` ready.
 * Returns 0 or -ENOMEM. Pages taken by a try that failed are kept, and used by the next one.
 */
int cpu_prepare(uint32_t cpu, uint32_t apic_id);

/*
 * Load control registers, GDT, TSS, IDT and GS base of CPU `cpu`, which is the running one, in long
 * mode and on the kernel's root. Afterwards traps and traced functions work. Not traced.
 */
void cpu_load(uint32_t cpu);

/* Is any of the `len` bytes at `addr` in struct cpu_local of a CPU? In its GDT or TSS? Any context. */
bool cpu_local_overlaps(uintptr_t addr, size_t len);
bool cpu_tables_overlap(uintptr_t addr, size_t len);

/* Let traps from programs on this CPU use the stack that ends there. Preemption is off. */
void cpu_set_kernel_stack(uintptr_t top);

/* struct cpu_local of a CPU; filled in by cpu_prepare(). Any context. */
struct cpu_local *cpu_local_of(uint32_t cpu);

/*
 * The name ("NMI", "#DF", "#MC", "#DB") of the trap stack that has `addr` on it or in its guard page, and
 * its bounds, without the guard page; NULL for none. Any context. `addr` need not be mapped.
 */
const char *cpu_trap_stack_of(uintptr_t addr, uintptr_t *out_lo, uintptr_t *out_hi);
/* The thread that runs on the CPU whose trap stacks `addr` is among; NULL for none. Any context. */
const struct trace_thread *cpu_trap_stack_thread(uintptr_t addr);

#endif
