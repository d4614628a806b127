/*
 * Local APICs (xAPIC by memory, x2APIC by MSR) and IO APICs. The 8259 pair is masked.
 *
 * Vectors, of which a higher one has the higher priority:
 *   0xff spurious   0xf4 sync   0xf3 call   0xf2 reschedule   0xec timer   0xeb error
 *   0x50 a PCI device   0x30 + n ISA interrupt n, by ioapic_route_isa()
 *
 * A handler that is registered for one of these calls apic_eoi() itself, before it does anything
 * that takes long. Only the spurious interrupt needs none.
 *
 * Context:   sending - any, NMI included. Setting up - interrupts off.
 * Locking:   IO APIC registers are guarded by a spin lock. A local APIC is used by its own CPU
 *            only.
 */
#ifndef ARCH_APIC_H
#define ARCH_APIC_H

#include <stdbool.h>
#include <stdint.h>

#define APIC_VECTOR_ISA_BASE   0x30
#define APIC_VECTOR_ERROR      0xeb
#define APIC_VECTOR_TIMER      0xec
#define APIC_VECTOR_RESCHEDULE 0xf2
#define APIC_VECTOR_CALL       0xf3
#define APIC_VECTOR_SYNC       0xf4
#define APIC_VECTOR_SPURIOUS   0xff

/*
 * Bring up this machine's controllers and the boot CPU's local APIC; acpi_init() has run.
 * x2APIC is used when the CPU has it and `allow_x2apic`. A machine without a local or an IO APIC
 * is refused with a message, and the CPU halts.
 */
void apic_init(bool allow_x2apic);
/* Set up the running CPU's local APIC in the way that apic_init() has chosen. Not traced. */
void apic_init_cpu(void);
bool apic_is_x2apic(void);
/* Id of the running CPU's APIC. */
uint32_t apic_read_id(void);
void apic_eoi(void);

/* Send interrupt `vector` to the CPU with this APIC id. */
void apic_send_ipi(uint32_t apic_id, uint8_t vector);
/* Send it to every CPU but this one. CPUs that were never started get it too, and ignore it. */
void apic_send_ipi_others(uint8_t vector);
void apic_send_nmi(uint32_t apic_id);
/* Reset a CPU. It then waits for a startup message. */
void apic_send_init(uint32_t apic_id);
/* Startup message: a CPU that was reset begins to run at the physical address `page` << 12. */
void apic_send_startup(uint32_t apic_id, uint8_t page);

/*
 * Let this CPU's timer count down from `count`, in its one-shot mode; 0 stops it. Its rate is not
 * known, but constant: arch_timer_init() measures it.
 */
void apic_timer_start(uint32_t count);
uint32_t apic_timer_count(void);
/* Make this CPU's timer a one-shot counter, or fire at a value of the TSC; nothing armed yet. */
void apic_timer_setup_oneshot(void);
void apic_timer_setup_deadline(void);

/*
 * Send ISA interrupt `isa_irq` (0..15) to the CPU `apic_id` as vector APIC_VECTOR_ISA_BASE +
 * isa_irq, from now on. Follows the firmware's overrides. -ENODEV when no IO APIC has its input.
 */
int ioapic_route_isa(uint8_t isa_irq, uint32_t apic_id);

#endif
